"""Who owes what, by the events."""

from __future__ import annotations

from structsync._core.queue.ledger import Ledger


def test_who_took_more_than_it_gave_back_is_a_debtor() -> None:
    ledger = Ledger()
    for who, units in [("a", 2), ("b", 1), ("a", -1)]:
        ledger.note(who, units)
    assert ledger.debtors() == [("a", 1), ("b", 1)]


def test_who_gave_back_more_than_it_took_is_no_debtor() -> None:
    ledger = Ledger()
    ledger.note("a", -1)
    assert ledger.debtors() == []


def test_what_is_out_is_counted_whichever_task_took_and_released_it() -> None:
    ledger = Ledger()
    ledger.note("taker", 3)
    ledger.note("giver", -2)
    assert ledger.total() == 1


def test_who_is_square_is_forgotten() -> None:
    ledger = Ledger()
    ledger.note("a", 1)
    ledger.note("a", -1)
    assert ledger._balances == {}


# ==== gate ====

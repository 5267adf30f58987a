"""Who owes what; and nothing changes while user code runs."""

from __future__ import annotations

import threading

import pytest

from structsync._core.queue.ledger import Ledger
from structsync._core.queue.user_code import ask, in_user_code, refuse_user_code, threads, user_code

# ==== ledger ====


def test_who_took_more_than_it_gave_back_is_a_debtor() -> None:
    ledger = Ledger()
    for who, units in [("a", 2), ("b", 1), ("a", -1)]:
        ledger.note(who, units)
    assert ledger.debtors() == [("a", 1), ("b", 1)]


def test_who_gave_back_more_than_it_took_is_no_debtor() -> None:
    ledger = Ledger()
    ledger.note("a", -1)
    assert ledger.debtors() == []


def test_what_is_out_is_counted_whoever_took_and_gave_it() -> None:
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


def test_while_user_code_runs_changes_are_refused() -> None:
    with user_code(), pytest.raises(RuntimeError, match="must not change a structsync primitive"):
        refuse_user_code()


def test_after_user_code_changes_are_allowed_again() -> None:
    with user_code():
        pass
    refuse_user_code()
    assert not threads


def test_user_code_that_fails_opens_the_gate_again() -> None:
    with pytest.raises(ZeroDivisionError), user_code():
        raise ZeroDivisionError
    assert not in_user_code()


def test_user_code_inside_user_code_keeps_the_gate_shut() -> None:
    with user_code():
        with user_code():
            pass
        assert in_user_code()


def test_the_gate_of_one_thread_does_not_shut_out_another() -> None:
    seen: list[bool] = []

    def elsewhere() -> None:
        refuse_user_code()
        seen.append(in_user_code())

    with user_code():
        other = threading.Thread(target=elsewhere)
        other.start()
        other.join()
        assert in_user_code()
    assert seen == [False]


def test_user_code_within_user_code_leaves_the_gate_shut() -> None:
    with user_code():
        with user_code():
            pass
        assert in_user_code()


def test_a_question_within_user_code_leaves_the_gate_shut() -> None:
    with user_code():
        assert ask(lambda: "answer") == "answer"
        assert in_user_code()
    assert not in_user_code()

"""A claimant that took more than was released owes the difference; one that owes nothing is forgotten."""

from __future__ import annotations

from structsync._core.queue.ledger import Ledger


def what_is_taken_and_not_released_is_owed(taken: int, released: int, others: int) -> None:
    assert taken >= 0
    ledger = Ledger()
    for who, units in (("one", taken), ("other", others), ("one", -released)):
        ledger.note(who, units)
    balances = (("one", taken - released), ("other", others))
    assert sorted(ledger.debtors()) == [(who, units) for who, units in balances if units > 0]
    assert ledger.total() == taken - released + others
    assert len(ledger._balances) == sum(units != 0 for _, units in balances)

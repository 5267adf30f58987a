"""A fault of what is owed, for the claim about it."""

from __future__ import annotations

from collections.abc import Hashable

from structsync._core.queue.ledger import Ledger

from ._planting import fault


@fault(Ledger, "note", refuted_by="ledger.what_is_taken_and_not_released_is_owed")
def a_task_that_owes_nothing_is_remembered(ledger: Ledger, who: Hashable, units: int) -> None:
    ledger._balances[who] = ledger._balances.get(who, 0) + units

"""A fault of what becomes of claims whose task is gone."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from structsync._core.queue.owned import OwnedArbiter

from ._planting import Ended, fault


@fault(OwnedArbiter, "owner_exited", refuted_by="owned.a_task_that_is_gone_leaves_nothing_behind")
def every_task_is_withdrawn(core: OwnedArbiter[Any], claim: Any, cause: Hashable) -> Ended:
    if core.holds(claim):
        return core.release(claim) if cause is None else core.end(cause)
    left = [*core.queue]
    for request in left:
        core.withdraw(request)
    return left


@fault(OwnedArbiter, "owner_exited", refuted_by="owned.those_behind_a_task_that_is_gone_are_let_in")
def those_behind_a_task_that_is_gone_are_not_told(
    core: OwnedArbiter[Any], claim: Any, cause: Hashable
) -> Ended:
    left = [request for request in core.queue if request.claim == claim]
    for request in left:
        core.withdraw(request)
    return left

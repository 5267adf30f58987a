"""Unblocks that are lost or used twice: each refuted by a claim about a parker."""

from __future__ import annotations

from structsync._core.primitives.parker import ParkerCore
from structsync.specs import parker_faults

from ...plants import parker  # noqa: TID252 - the one home of the faults
from ._planting import Ended, Fault, OfASpec, Shared, fault, mark_only

unblocks_are_a_flag = OfASpec(
    ParkerCore, parker_faults.UnblocksAreNotCounted, "parker.an_unblock_lets_one_block_pass"
)


@fault(ParkerCore, "admit", refuted_by="parker.a_block_uses_one_unblock_or_waits")
def a_block_uses_all_unblocks(core: ParkerCore, claim: None) -> None:
    core.unblocks = 0


@fault(ParkerCore, "release", refuted_by="parker.a_block_and_an_unblock_commute")
def an_unblock_that_finds_no_task_is_lost(core: ParkerCore, claim: None) -> Ended:
    if not core.queue:
        return []
    core.discharge(claim)
    return core.settle()


a_second_waiter_may_queue = Shared(
    parker.two_may_block, "parker.a_second_waiter_is_refused_and_the_first_keeps_waiting"
)


an_unblock_goes_to_one_that_withdrew = Fault(
    ParkerCore, "withdraw", mark_only, "parker.a_block_that_is_withdrawn_uses_no_unblock"
)

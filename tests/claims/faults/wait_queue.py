"""Wakes that reach too many, too few, or the dead: each refuted by a claim about a wait queue."""

from __future__ import annotations

from structsync._core.primitives.wait_queue import WaitQueueCore

from ...plants import wait_queue  # noqa: TID252 - the one home of the faults
from ._planting import Ended, Fault, Shared, fault, mark_only


@fault(
    WaitQueueCore,
    "wake",
    refuted_by="wait_queue.a_wake_reaches_the_oldest_and_no_more_than_it_says",
)
def one_more_is_woken(core: WaitQueueCore, count: int) -> Ended:
    core.wakes = min(count + 1, len(core.queue))
    return core.settle()


@fault(WaitQueueCore, "wake", refuted_by="wait_queue.waking_all_reaches_all")
def all_means_the_oldest(core: WaitQueueCore, count: int | None) -> Ended:
    core.wakes = min(count or 1, len(core.queue))
    return core.settle()


a_wake_is_kept_for_later = Shared(
    wait_queue.a_wake_is_kept, "wait_queue.a_wake_that_finds_too_few_is_not_kept"
)


a_wake_goes_to_one_that_withdrew = Fault(
    WaitQueueCore, "withdraw", mark_only, "wait_queue.a_waiter_that_withdraws_spends_no_wake"
)

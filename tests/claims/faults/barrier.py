"""Faults of a barrier, each for one claim."""

from __future__ import annotations

from typing import Any

from structsync._core.primitives.barrier import BarrierCore
from structsync._core.queue.request import Request
from structsync.specs import barrier_faults

from ...plants import barrier_and_latch  # noqa: TID252 - the one home of the faults
from ._planting import Ended, OfASpec, Shared, fault

a_round_waits_for_one_too_many = OfASpec(
    BarrierCore, barrier_faults.OneTooMany, "barrier.a_round_is_full_with_its_last_party"
)


@fault(
    BarrierCore, "release_round", refuted_by="barrier.a_full_round_goes_in_and_each_has_a_number"
)
def no_task_has_a_number(core: BarrierCore) -> Ended:
    core.places = core.parties
    return core.settle()


@fault(BarrierCore, "withdraw", refuted_by="barrier.a_party_that_leaves_is_not_counted")
def a_party_that_leaves_still_counts(core: BarrierCore, request: Request[Any]) -> Ended:
    return []


a_deserter_only_leaves = Shared(
    barrier_and_latch.a_deserter_only_leaves, "barrier.a_party_that_deserts_takes_the_others_along"
)


leaving_lets_no_task_in = Shared(
    barrier_and_latch.leaving_lets_no_task_in,
    "barrier.a_party_that_leaves_for_good_is_not_waited_for",
)


@fault(
    BarrierCore,
    "complete_round",
    refuted_by="barrier.a_round_is_broken_for_what_its_action_says",
)
def what_the_action_says_is_forgotten(core: BarrierCore, action: object = None) -> Ended:
    return core.release_round()


a_reset_opens_what_is_closed = Shared(
    barrier_and_latch.a_reset_opens_what_is_closed,
    "barrier.a_reset_begins_anew_unless_it_is_closed",
)

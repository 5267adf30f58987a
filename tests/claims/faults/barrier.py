"""Faults of a barrier, each for one claim."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from structsync._core.primitives.barrier import BarrierCore
from structsync._core.queue.request import Request

from ._planting import Ended, Fault, fault

a_round_waits_for_one_too_many = Fault(
    BarrierCore,
    "full",
    property(lambda core: len(core.queue) > core.parties),
    "barrier.a_round_is_full_with_its_last_party",
)


@fault(
    BarrierCore, "release_round", refuted_by="barrier.a_full_round_goes_in_and_each_has_a_number"
)
def nobody_has_a_number(core: BarrierCore) -> Ended:
    core.places = core.parties
    return core.settle()


@fault(BarrierCore, "withdraw", refuted_by="barrier.a_party_that_leaves_is_not_counted")
def who_leaves_still_counts(core: BarrierCore, request: Request[Any]) -> Ended:
    return []


@fault(
    BarrierCore, "leave_and_break", refuted_by="barrier.a_party_that_deserts_takes_the_others_along"
)
def a_deserter_only_leaves(core: BarrierCore, request: Request[Any], cause: Hashable) -> Any:
    return core.withdraw(request)


@fault(BarrierCore, "remove_party", refuted_by="barrier.who_leaves_for_good_is_not_waited_for")
def who_leaves_lets_nobody_in(core: BarrierCore, action: object = None) -> Ended:
    core.parties -= 1
    return []


@fault(
    BarrierCore,
    "complete_round",
    refuted_by="barrier.a_round_is_broken_for_what_its_action_says",
)
def what_the_action_says_is_forgotten(core: BarrierCore, action: object = None) -> Ended:
    return core.release_round()


@fault(BarrierCore, "_mend", refuted_by="barrier.a_reset_begins_anew_unless_it_is_closed")
def a_reset_opens_what_is_closed(core: BarrierCore) -> None:
    core.broken, core.cause = False, None

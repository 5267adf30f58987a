"""Faults of what takes without a request, and of whose an error is; each for one claim."""

from __future__ import annotations

from typing import Any

from structsync import Arbiter
from structsync._core.primitives.semaphore import SemaphoreCore
from structsync._core.queue import policy, state
from structsync._core.queue.policy import Fifo
from structsync._core.queue.request import Request
from tests.claims._as_written import asserts_as_written

from ._planting import fault

with asserts_as_written():
    from structsync.specs.claims import arbiter


@fault(Arbiter, "take", refuted_by="arbiter.a_newcomer_that_overtakes_makes_the_waiters_older")
def a_newcomer_that_overtakes_is_not_counted(core: Arbiter[Any], claim: Any) -> None:
    core.admit(claim)


@fault(
    Arbiter,
    "discharge_and_settle",
    refuted_by="arbiter.a_release_by_the_short_way_lets_in_the_same",
)
def the_short_way_wakes_no_task(core: Arbiter[Any], claim: Any) -> None:
    core.discharge(claim)


@fault(
    arbiter,
    "releaser_of",
    refuted_by="arbiter.where_a_writer_leaves_by_the_short_way_all_readers_enter",
)
def the_short_way_is_that_of_every_core(core: Arbiter[Any]) -> Any:
    return core.discharge_and_settle


@fault(
    Arbiter,
    "guard_error",
    refuted_by="arbiter.an_error_of_the_users_ends_one_request_and_ours_none",
)
def every_error_is_a_users(core: Arbiter[Any], error: BaseException) -> BaseException:
    return error


@fault(
    Arbiter,
    "admissible_or_error",
    refuted_by="arbiter.what_is_evaluated_now_raises_what_the_user_raised",
)
def an_error_is_a_no(core: Arbiter[Any], claim: Any, priority: int = 0) -> bool:
    try:
        return core.admissible(claim, priority)
    except Exception:  # noqa: BLE001 - that is the fault
        return False


@fault(Arbiter, "is_next", refuted_by="arbiter.a_group_is_told_whose_error_it_is")
def an_error_of_another_queue_is_raised(core: Arbiter[Any], request: Request[Any]) -> bool:
    return core.queue.head is request and core.admits(request.claim)


@fault(SemaphoreCore, "sum_of", refuted_by="arbiter.what_is_granted_alone_is_handed_nothing")
def the_largest_stands_for_all(core: SemaphoreCore, claims: list[int]) -> int:
    return max(claims, default=0)


@fault(Fifo, "join", refuted_by="arbiter.what_is_granted_alone_is_handed_nothing")
def a_request_that_joins_is_forgotten(
    order: Fifo, queue: object, request: Request[Any], priority: int
) -> None: ...


@fault(
    state,
    "make_policy",
    refuted_by="arbiter.what_is_not_said_is_first_come_first_served_or_ages_by_a_hundred",
)
def what_ages_by_a_hundred_does_not_age(name: str, ageing: int | None) -> Any:
    return intact_make(name, None if ageing == 100 else ageing)


@fault(
    Arbiter,
    "settle",
    refuted_by="arbiter.only_those_that_are_named_are_considered",
)
def all_waiters_are_considered(core: Arbiter[Any], candidates: Any = None) -> list[Request[Any]]:
    return intact_settle(core)


intact_make, intact_settle = policy.make_policy, Arbiter.settle


@fault(Arbiter, "next_ones", refuted_by="arbiter.the_next_ones_are_granted_if_there_is_room")
def all_waiters_are_next(core: Arbiter[Any]) -> list[Request[Any]]:
    return core.waiting()

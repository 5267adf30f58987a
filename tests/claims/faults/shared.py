"""Faults of what an entry of a log does, each for one claim."""

from __future__ import annotations

from typing import Any

from structsync._core.primitives.condition import ConditionCore
from structsync._core.queue.request import WITHDRAWN
from structsync._core.shared.core import SharedCore
from structsync._core.shared.operations import Key, Operation, Outcome, Result, Want
from structsync._core.shared.state import Place
from tests.claims._as_written import asserts_as_written

from ._planting import Ended, fault

with asserts_as_written():
    from structsync.specs.claims import shared


@fault(SharedCore, "_release", refuted_by="shared.what_is_held_is_released_and_nothing_else")
def what_waits_is_released(core: SharedCore, asking: Key, number: int) -> list[Outcome]:
    core.places.pop((asking[0], number), None)
    return [Outcome(asking, Result.DONE)]


@fault(SharedCore, "_owned_lock", refuted_by="shared.only_the_owner_of_the_lock_waits_and_notifies")
def any_waiter_owns_the_lock(core: SharedCore, hold: Key) -> str:
    place = core.places.get(hold)
    if place is None:
        raise RuntimeError("must hold the lock of the condition, and nothing else with it")
    return place.wants[0].name


@fault(SharedCore, "_grant", refuted_by="shared.a_waiter_is_withdrawn_and_no_other")
def what_is_granted_is_remembered_as_waiting(
    core: SharedCore, place: Place, request: Any
) -> Outcome:
    outcome = intact_grant(core, place, request)
    place.requests = [request]
    return outcome


@fault(
    SharedCore,
    "_granted",
    refuted_by="shared.a_wait_that_is_withdrawn_owns_the_lock_before_it_ends",
)
def what_was_withdrawn_is_granted(core: SharedCore, ended: Ended) -> list[Outcome]:
    return [one._replace(result=Result.GRANTED) for one in intact_granted(core, ended)]


@fault(
    SharedCore,
    "apply",
    refuted_by="shared.a_token_is_larger_than_all_before_it_and_the_stamp_if_that_is",
)
def stamps_are_not_read(core: SharedCore, entry: Operation, stamp: int = 0) -> list[Outcome]:
    return intact_apply(core, entry)


def no_task(core: SharedCore, key: Key) -> tuple[Key, ...]:
    return ()


no_waiter_is_foreseen = fault(
    shared, "preview", refuted_by="shared.those_that_a_release_lets_in_are_foreseen"
)(no_task)


@fault(SharedCore, "_end", refuted_by="shared.what_an_engine_writes_of_a_session_has_no_number")
def what_the_dead_held_is_kept(core: SharedCore, asking: Key) -> list[Outcome]:
    del core.sessions[asking[0]]
    return []


intact_apply = SharedCore.apply
intact_grant = SharedCore._grant
intact_granted = SharedCore._granted


@fault(
    SharedCore,
    "_leave",
    refuted_by="shared.a_death_in_a_wait_that_was_withdrawn_wakes_no_other",
)
def a_death_passes_its_position_on(core: SharedCore, place: Place) -> list[Any]:
    if not place.requests:
        return []
    lock = core.core_of(Want("lock", "lock"))
    if place.hold is None:
        lock.end_with(place.requests[0], WITHDRAWN)
    else:
        core._condition_at(place, lock).forget(place.requests[0])
    return [lock]


@fault(
    SharedCore,
    "_condition_at",
    refuted_by="shared.a_name_is_free_once_all_waiters_are_notified",
)
def a_condition_is_known_by_its_name_alone(core: SharedCore, place: Place, lock: Any) -> Any:
    found = core.named.get(place.wants[0].name)
    return ConditionCore(lock) if found is None else found.core

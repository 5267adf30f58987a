"""Bugs of locks and semaphores between processes, planted in ours: each must be found by the named property."""

from __future__ import annotations

from typing import Any

from structsync._core.shared.core import SharedCore
from structsync._core.shared.operations import Key, Operation, Outcome, Verb
from structsync._core.shared.state import Place
from structsync.checking import fault

from ._shared import Replica
from .shared import SharedGroupsSpec, SharedRWLockSpec, SharedSemaphoreSpec
from .shared_waits import SharedBarrierSpec, SharedLatchSpec, SharedLockSpec

Outcomes = list[Outcome]

# ==== A session dies ====


class HandsOverEarlyCore(SharedCore):
    """Grants what a dead session held before its own requests have left the queues."""

    def _end(self, asking: Key) -> Outcomes:
        gone = [place for key, place in self.places.items() if key[0] == asking[0]]
        outcomes = self._settled(
            [core for one in gone if one.token for core in self._discharge(one)]
        )
        for place in gone:
            self._leave(place)
            del self.places[place.key]
        del self.sessions[asking[0]]
        return outcomes


@fault(SharedSemaphoreSpec, "core", refuted_by="holders_are_in_the_core")
class TheDeadAreGranted(Replica):
    """A dead session releases before it has left its queues: it is granted, and the permit is lost."""

    shared = HandsOverEarlyCore


class KeepsPermitsCore(SharedCore):
    """Forgets what a session held when it dies."""

    def _end(self, asking: Key) -> Outcomes:
        for place in self.places.values():
            if place.key[0] == asking[0]:
                place.token = 0
        return super()._end(asking)


@fault(SharedSemaphoreSpec, "core", refuted_by="holders_are_in_the_core")
@fault(SharedGroupsSpec, "core", refuted_by="holders_are_in_the_core")
@fault(SharedRWLockSpec, "core", refuted_by="holders_are_in_the_core")
class WhatTheDeadHeldIsLost(Replica):
    """A process is killed, and its permit is never free again (as with POSIX semaphores)."""

    shared = KeepsPermitsCore


class KeepsPositionsCore(SharedCore):
    """Leaves the requests of a dead session in their queues."""

    def _end(self, asking: Key) -> Outcomes:
        waiting = {key: one for key, one in self.places.items() if one.requests}
        self.places = {key: one for key, one in self.places.items() if not one.requests}
        outcomes = super()._end(asking)
        self.places |= waiting
        return outcomes


@fault(SharedBarrierSpec, "core", refuted_by="waiters_are_in_a_queue")
@fault(SharedSemaphoreSpec, "core", refuted_by="waiters_are_in_a_queue")
class TheDeadStayInTheQueue(Replica):
    """A session that has died stands in the way of those behind it (kazoo #429: a zombie node deadlocks)."""

    shared = KeepsPositionsCore


class SettlesNothingCore(SharedCore):
    """Grants nothing when something is released."""

    def _settled(self, arbiters: Any) -> Outcomes:
        return []


@fault(SharedGroupsSpec, "core", refuted_by="nothing_grantable_waits")
@fault(SharedSemaphoreSpec, "core", refuted_by="nothing_grantable_waits")
class TheDeadWakeNoTask(Replica):
    """What a dead session held is free, and no task is told (redisson #5762: a missed wakeup)."""

    shared = SettlesNothingCore


class TakesAlongCore(SharedCore):
    """Drops the notification of a wait that leaves."""

    def _leave(self, place: Place) -> list[Any]:
        if place.hold is None or not place.requests:
            return super()._leave(place)
        lock = self.core_of(self.places[place.hold].wants[0])
        condition = self._condition_at(place, lock)
        for one in (lock, condition):
            one.leave(place.requests[0])
        return [lock]


@fault(SharedLockSpec, "core", refuted_by="a_notification_outlives_its_waiter")
class TheDeadTakeTheNotificationAlong(Replica):
    """The notified process dies, and those that still wait on the condition sleep on (N1)."""

    shared = TakesAlongCore


class RevivesCore(SharedCore):
    """Takes any session that sends something for one that is alive."""

    def apply(self, entry: Operation, stamp: int = 0) -> Outcomes:
        self.sessions.setdefault(entry.session, -1)
        return super().apply(entry, stamp)


@fault(SharedRWLockSpec, "core", refuted_by="the_dead_change_nothing")
class WhatComesTooLateIsCarriedOut(Replica):
    """A request arrives after its session has died, and holds forever (etcd #11456)."""

    shared = RevivesCore


# ==== Entries and tokens ====


class CountsTwiceCore(SharedCore):
    """Forgets which operations of a session it has seen."""

    def apply(self, entry: Operation, stamp: int = 0) -> Outcomes:
        if entry.verb not in (Verb.JOIN, Verb.END):
            self.sessions[entry.session] = -1
        return super().apply(entry, stamp)


@fault(SharedLatchSpec, "core", refuted_by="an_entry_that_comes_twice_counts_once")
@fault(SharedSemaphoreSpec, "core", refuted_by="an_entry_that_comes_twice_counts_once")
class ARetryCountsTwice(Replica):
    """An answer is lost, the client sends again, and two permits are gone (coredis retries by default)."""

    shared = CountsTwiceCore


class RestartsCore(SharedCore):
    """Does not look at the number that the engine gives an entry."""

    def apply(self, entry: Operation, stamp: int = 0) -> Outcomes:
        return super().apply(entry)


@fault(SharedSemaphoreSpec, "core", refuted_by="tokens_grow")
class TokensStartAgain(Replica):
    """When nothing is held any more, tokens are counted from the start."""

    shared = RestartsCore

"""Bugs of queues, names and snapshots that processes share, planted in ours: each must be found by the named property."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from structsync._core.primitives.rwlock import Access
from structsync._core.queue.policy import Eligible
from structsync._core.queue.request import Request
from structsync._core.shared.core import SharedCore
from structsync._core.shared.kinds import KINDS
from structsync._core.shared.operations import Key, Outcome, Want
from structsync._core.shared.plain import encode
from structsync._core.shared.state import Place
from structsync.checking import fault

from ._planting import NewestFirst
from ._shared import Replica
from .shared import SharedGroupsSpec, SharedRWLockSpec, SharedSemaphoreSpec
from .shared_waits import SharedBarrierSpec, SharedLatchSpec

Outcomes = list[Outcome]

# ==== Queues and names ====


class NewestFirstCore(SharedCore):
    """Serves each queue from its end."""

    def core_of(self, want: Want) -> Any:
        core = super().core_of(want)
        core.policy = NewestFirst()
        return core


@fault(SharedSemaphoreSpec, "core", refuted_by="grants_follow_the_queue")
class TheQueueIsServedFromItsEnd(Replica):
    """A session that came last goes first (peers overtake up to 164 times)."""

    shared = NewestFirstCore


class SmallFirstCore(SharedCore):
    """Serves whatever fits, in each queue."""

    def core_of(self, want: Want) -> Any:
        core = super().core_of(want)
        core.policy = Eligible()
        return core


@fault(SharedSemaphoreSpec, "core", refuted_by="a_queued_request_is_served")
class SmallRequestsPassTheLarge(Replica):
    """A session that wants both permits starves behind those that want one."""

    shared = SmallFirstCore


class AnyDefinitionCore(SharedCore):
    """Takes what has a name as it is, whatever a request says of it."""

    def core_of(self, want: Want) -> Any:
        found = self.named.get(want.name)
        return super().core_of(want) if found is None else found.core


@fault(SharedSemaphoreSpec, "core", refuted_by="one_name_is_one_semaphore")
class TheFirstDefinitionWins(Replica):
    """Two processes disagree about the number of permits, and neither is told."""

    shared = AnyDefinitionCore


class RemembersCore(SharedCore):
    """Keeps each name forever."""

    def forget_unused(self) -> None:
        pass


@fault(SharedRWLockSpec, "core", refuted_by="what_no_session_uses_is_forgotten")
class NamesAreKept(Replica):
    """Every name that was ever used takes memory, in every process."""

    shared = RemembersCore


class ForgetsCore(SharedCore):
    """Forgets each name at which no task waits or holds, also one that has something to remember."""

    def forget_unused(self) -> None:
        for name in [name for name, one in self.named.items() if one.core.is_idle]:
            del self.named[name]
        super().forget_unused()


@fault(SharedLatchSpec, "core", refuted_by="it_is_open_when_all_is_counted")
class ALatchForgetsItsCount(Replica):
    """What was counted down while no task waited has not happened."""

    shared = ForgetsCore


class AnyGroupCore(SharedCore):
    """Takes of a group what can be held, each thing once."""

    def _acquire(self, key: Key, wants: Any) -> Outcomes:
        last = {want[0]: want for want in wants if KINDS[want[1]].holds}
        return super()._acquire(key, tuple(last.values()))


@fault(SharedGroupsSpec, "core", refuted_by="what_a_group_cannot_be_is_refused")
class AGroupTakesWhatItCan(Replica):
    """What cannot be taken together is dropped from the group."""

    shared = AnyGroupCore


class NumbersLostCore(SharedCore):
    """Gives each party of a round the number 0."""

    def _grant(self, place: Place, request: Request[Any]) -> Outcome:
        return super()._grant(place, request)._replace(value=0)


@fault(SharedBarrierSpec, "core", refuted_by="a_round_is_let_in_as_a_whole")
class TwoPartiesHaveOneNumber(Replica):
    """Each party of a round believes to be the first."""

    shared = NumbersLostCore


# ==== Snapshots and previews ====


class ForgetfulCore(SharedCore):
    """Begins to count tokens anew after a snapshot."""

    def restore(self, snapshot: Any) -> None:
        super().restore(snapshot)
        self.token = 0


@fault(SharedSemaphoreSpec, "core", refuted_by="a_snapshot_is_everything")
class ANewReplicaStartsItsTokensAgain(Replica):
    """A replica that begins with a snapshot comes to other tokens than those that were there."""

    shared = ForgetfulCore


class LonelyCore(SharedCore):
    """Links each request of a group alone after a snapshot."""

    def _link(self) -> None:
        for one in self.named.values():
            for request in one.core.queue:
                if request.waiter in self.places:
                    self.places[request.waiter].requests = [request]


@fault(SharedGroupsSpec, "core", refuted_by="holders_are_in_the_core")
class ASnapshotTakesGroupsApart(Replica):
    """A replica that begins with a snapshot grants one thing of several."""

    shared = LonelyCore


def without_sets(value: Any) -> Any:
    """Return a value in which each set is empty."""
    if isinstance(value, frozenset):
        return frozenset()
    if isinstance(value, tuple) and not isinstance(value, Access):
        return tuple([without_sets(one) for one in value])
    return value


@fault(SharedRWLockSpec, "core", refuted_by="holders_are_in_the_core")
class ASnapshotForgetsTheReaders(Replica):
    """What an encoder does not know is left out, without a word."""

    encode = staticmethod(lambda value: encode(without_sets(value)))


def whole_queue(shared: SharedCore, key: Key) -> Sequence[Key] | None:
    """Foretell that all waiters are let in."""
    (want, *_) = shared.places[key].wants
    return [request.waiter for request in shared.core_of(want).queue]


@fault(SharedSemaphoreSpec, "core", refuted_by="a_preview_names_what_is_granted")
class AllAreForeseen(Replica):
    """All waiters are woken, of which one is let in: a thundering herd."""

    preview = staticmethod(whole_queue)

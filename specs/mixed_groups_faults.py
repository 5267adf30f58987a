"""Bugs of groups where a member is resized, broken, or read by several: each must be found by the named property."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from structsync import Arbiter, Status
from structsync._core.primitives.lock import LockCore
from structsync._core.primitives.rwlock import READ, RWLockCore
from structsync._core.primitives.semaphore import SemaphoreCore
from structsync._core.queue.group import Claims, Member
from structsync._core.queue.policy import Fifo
from structsync._core.queue.request import Request
from structsync.checking import fault

from ._queues import Ended, Queues
from .mixed_groups import FULL, LOCK, PERMITS, RWLOCK, MixedGroupsSpec

Make = Callable[[], Sequence[Arbiter[Any]]]


def replaced(arbiters: Sequence[Any], at: int, another: Any) -> Sequence[Any]:
    return [another if number == at else one for number, one in enumerate(arbiters)]


def with_members(ended: Ended) -> Ended:
    """Return these and the others of their groups, and settle nothing."""
    members = [each for one in ended if isinstance(one, Member) for each in one.group.members]
    return [*ended, *(one for one in members if one not in ended)]


# ==== The size of a semaphore ====


@fault(MixedGroupsSpec, "core", refuted_by="nothing_grantable_waits")
class GrowingIsOfOneQueue(Queues):
    """A group is granted since a semaphore grew, and those behind it in another queue sleep on (H1)."""

    def resize(self, at: int, size: int) -> Ended:
        ended: Ended = self.arbiters[at].resize(size)
        return with_members(ended)


class ShrinksItsQueueCore(SemaphoreCore):
    def resize(self, max_value: int) -> Any:
        ended = super().resize(max_value)
        for request in list(self.queue):
            if request.claim > max_value:
                ended.append(self.end_with(request, Status.BROKEN, "too large"))
        return ended


@fault(MixedGroupsSpec, "core", refuted_by="nothing_grantable_waits")
class ShrinkingEndsWhatDoesNotFit(Queues):
    """A shrink ends the claims that do not fit any more, and those behind them are not looked at (H2)."""

    def __init__(self, make: Make) -> None:
        super().__init__(
            lambda: replaced(make(), PERMITS, ShrinksItsQueueCore(FULL, max_value=FULL))
        )


class NeverNegativeCore(SemaphoreCore):
    def resize(self, max_value: int) -> Any:
        ended = super().resize(max_value)
        self.value = max(self.value, 0)
        return ended


@fault(MixedGroupsSpec, "core", refuted_by="permits_are_conserved")
class ShrinkingForgetsWhatIsOut(Queues):
    """Shrunk below what is out its value is 0, and then it grows by what is in use (O4: anyio PR 1223)."""

    def __init__(self, make: Make) -> None:
        super().__init__(lambda: replaced(make(), PERMITS, NeverNegativeCore(FULL, max_value=FULL)))


# ==== Tasks that exit ====


@fault(MixedGroupsSpec, "core", refuted_by="nothing_grantable_waits")
class AnExitIsOfOneQueue(Queues):
    """A lock breaks, groups leave the other queues, and those behind them there sleep on (C4: trio#3035)."""

    def task_exits(self, who: str, owned: Iterable[int]) -> Ended:
        ended: Ended = []
        for at in owned:
            ended += self.arbiters[at].owner_exited(who, "broken")
        return with_members(ended)


class StaysElsewhereClaims(Claims):
    def ended_with(self, request: Request[Any]) -> None:
        if request.status is not Status.BROKEN:
            super().ended_with(request)


@fault(MixedGroupsSpec, "core", refuted_by="a_position_in_every_queue_or_in_none")
class ABrokenGroupStaysInOtherQueues(Queues):
    """One member breaks, and the group keeps its positions at the others, where it blocks those behind it."""

    claims = StaysElsewhereClaims


class LeavesOneQueueCore(LockCore):
    def owner_exited(self, claimant: Any, cause: Any) -> Any:
        request = self.pending.get(claimant)
        if request is None or self.held_by(claimant) is not None:
            return super().owner_exited(claimant, cause)
        self.leave(request)
        request.status = Status.WITHDRAWN
        return [request, *self.settle()]


@fault(MixedGroupsSpec, "core", refuted_by="a_position_in_every_queue_or_in_none")
class ATaskThatExitsLeavesOneQueue(Queues):
    """A task exits while its group waits, and the lock takes it out of its own queue alone."""

    def __init__(self, make: Make) -> None:
        super().__init__(lambda: replaced(make(), LOCK, LeavesOneQueueCore()))


class NotIndexedCore(RWLockCore):
    def entered(self, request: Request[Any]) -> None:
        if request.group is None:
            super().entered(request)

    def left(self, request: Request[Any]) -> None:
        self.pending.pop(request.claim.claimant, None)


@fault(MixedGroupsSpec, "core", refuted_by="a_task_that_exits_leaves_every_queue")
class ATaskThatExitsStaysInAGroup(Queues):
    """The read-write lock does not know which tasks wait in groups: when one exits, its group waits on."""

    def __init__(self, make: Make) -> None:
        super().__init__(lambda: replaced(make(), RWLOCK, NotIndexedCore()))


@fault(MixedGroupsSpec, "core", refuted_by="what_a_holder_left_is_broken_and_nothing_else")
class AnExitBreaksTheWholeGroup(Queues):
    """A task that exits with the lock breaks the semaphore, too."""

    def task_exits(self, who: str, owned: Iterable[int]) -> Ended:
        ended = super().task_exits(who, owned)
        if self.arbiters[LOCK].cause is not None:
            ended += self.end(PERMITS, "broken")
        return ended


class BreaksItsHeadCore(RWLockCore):
    def end(self, cause: Any) -> Any:
        self.cause = cause
        return [self.end_with(one, Status.BROKEN, cause) for one in self.waiting()[:1]]


@fault(MixedGroupsSpec, "core", refuted_by="nothing_waits_when_closed_or_broken")
class OnlyTheHeadHearsOfTheExit(Queues):
    """The read-write lock breaks, and only the head of its queue is ended (C4: trio#3035)."""

    def __init__(self, make: Make) -> None:
        super().__init__(lambda: replaced(make(), RWLOCK, BreaksItsHeadCore()))


class TheFirstRefusesClaims(Claims):
    def refuse(self) -> None:
        self.members[0].arbiter.refuse(self.members[0].claim)

    def admissible(self) -> Any:
        return ()


@fault(MixedGroupsSpec, "core", refuted_by="a_group_with_a_broken_member_is_refused")
class ABrokenLastMemberIsNotSeen(Queues):
    """A group whose last member is broken joins the queues, and blocks them forever."""

    claims = TheFirstRefusesClaims


# ==== Readers, writers and owners ====


class OneGrantCore(RWLockCore):
    def admit(self, claim: Any) -> Any:
        super().admit(claim)
        return True


@fault(MixedGroupsSpec, "core", refuted_by="nothing_grantable_waits")
class AReaderEndsThePass(Queues):
    """One reader enters, and the readers behind it wait until it has left (O10: async-lock#18)."""

    def __init__(self, make: Make) -> None:
        super().__init__(lambda: replaced(make(), RWLOCK, OneGrantCore()))


class ReadersBargeIn(Fifo):
    __slots__ = ()

    def candidates(self, queue: Any) -> Any:
        return sorted(queue, key=lambda one: one.claim.mode is not READ)

    def may_pass(self, queue: Any, ticket: int, priority: int) -> bool:
        return True


@fault(MixedGroupsSpec, "core", refuted_by="grants_follow_each_queue")
class ReadersPassAGroupThatWrites(Queues):
    """A reader enters past a group that waits to write (O1)."""

    def __init__(self, make: Make) -> None:
        super().__init__(make)
        self.arbiters[RWLOCK].policy = ReadersBargeIn()


@fault(MixedGroupsSpec, "core", refuted_by="a_queued_request_is_served")
class GroupsThatWriteStarve(Queues):
    """Readers that come and go keep a group from writing forever."""

    def __init__(self, make: Make) -> None:
        super().__init__(make)
        self.arbiters[RWLOCK].policy = ReadersBargeIn()


class AllReadersCore(RWLockCore):
    def admit(self, claim: Any) -> Any:
        self.readers[claim.claimant] = None


@fault(MixedGroupsSpec, "core", refuted_by="the_read_write_lock_is_held_as_it_was_granted")
class AWriterIsTakenForAReader(Queues):
    """A task that is granted it counts as a reader, whatever it claimed: others read while it writes."""

    def __init__(self, make: Make) -> None:
        super().__init__(lambda: replaced(make(), RWLOCK, AllReadersCore()))


class KeepsItsOwnerCore(LockCore):
    def discharge(self, claim: Any) -> None:
        super().discharge(claim)
        if self.queue:
            self.owner = claim


@fault(MixedGroupsSpec, "core", refuted_by="the_lock_has_the_owner_that_was_granted_it")
class AReleaseWithAQueueKeepsTheOwner(Queues):
    """A release while tasks wait leaves the lock to its owner until the next can take it, which a group may never."""

    def __init__(self, make: Make) -> None:
        super().__init__(lambda: replaced(make(), LOCK, KeepsItsOwnerCore()))

"""Bugs of programs that take several things, planted in our groups: each must be found by the named property."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from structsync import Arbiter, Status
from structsync._core.primitives.semaphore import SemaphoreCore
from structsync._core.queue.arbiter import EndedForGood
from structsync._core.queue.group import Claims, Member
from structsync._core.queue.policy import Fifo
from structsync._core.queue.request import Request
from structsync.checking import fault

from ._planting import NewestFirst, break_only, move_to_the_end
from ._queues import Ended, Queues
from .groups import SIZES, GroupsSpec


class GreedyClaims(Claims):
    def grant(self, request: Request[Any]) -> None:
        every, self.every = self.every, True
        super().grant(request)
        self.every = every


@fault(GroupsSpec, "core", refuted_by="everything_or_one_thing_is_held")
class AChoiceGetsEverything(Queues):
    """A group that wants any of several is granted all of them: two commits for one choice (Go's select)."""

    claims = GreedyClaims


class PositionsKeptClaims(Claims):
    def _withdraw_pending(self) -> None:
        if self.every:
            super()._withdraw_pending()


@fault(GroupsSpec, "core", refuted_by="a_position_in_every_queue_or_in_none")
class AChoiceKeepsItsOtherPositions(Queues):
    """A group that was granted one of several stays in the queues of the others, and will be granted them."""

    claims = PositionsKeptClaims


@fault(GroupsSpec, "core", refuted_by="nothing_grantable_waits")
class OtherQueuesAreNotSettled(Queues):
    """A group leaves a queue, and those behind it sleep on (H1: golang/go#37852, in another queue)."""

    def with_other_queues_settled(self, ended: Ended) -> Ended:
        return ended + [
            other
            for one in ended
            if isinstance(one, Member)
            for other in one.group.members
            if other is not one
        ]


class ImpatientClaims(Claims):
    def consents(self, request: Request[Any]) -> bool:
        return not self.every or all(one.arbiter.admits(one.claim) for one in self.members)


@fault(GroupsSpec, "core", refuted_by="grants_follow_each_queue")
class OnlyOneQueueIsKept(Queues):
    """A group at the head of one queue takes what is free elsewhere, past tasks that came earlier (O1)."""

    claims = ImpatientClaims


@fault(GroupsSpec, "core", refuted_by="positions_are_kept_in_each_queue")
class PositionsAreNotKept(Queues):
    """When a task withdraws, the head of that queue goes to its end (O2: gh-76915)."""

    def withdraw(self, who: str, at: int) -> Ended:
        ended = super().withdraw(who, at)
        for request in list(self.arbiters[at].queue)[:1]:
            move_to_the_end(self.arbiters[at], request)
        return ended


@fault(GroupsSpec, "core", refuted_by="a_group_ends_once_and_as_a_whole")
class OneMemberIsReported(Queues):
    """A group that is granted everything is told of one grant: the others look like leaks."""

    def with_other_queues_settled(self, ended: Ended) -> Ended:
        told: Ended = []
        for one in super().with_other_queues_settled(ended):
            group = one.group
            if group is None or not any(each.group is group for each in told):
                told.append(one)
        return told


class TakesFromTheFirst(Claims):
    def ended_with(self, request: Request[Any]) -> None:
        super().ended_with(request)
        if self.every and request.status is Status.BROKEN:
            self.members[0].arbiter.admit(self.members[0].claim)


@fault(GroupsSpec, "core", refuted_by="permits_are_conserved")
class AClosedMemberLeaksTheFirst(Queues):
    """When one of several is closed, what was taken of the first is not released (P18: fs2#3595)."""

    claims = TakesFromTheFirst


class ClosesForOneCore(SemaphoreCore):
    def end(self, cause: Any) -> Any:
        return break_only(self, self.waiting()[:1], cause)


@fault(GroupsSpec, "core", refuted_by="nothing_waits_when_closed_or_broken")
class ClosingTellsTheHead(Queues):
    """Closing reaches the head of the queue, and groups behind it wait forever (C2: gh-117531)."""

    def __init__(self, make: Callable[[], Sequence[Arbiter[Any]]]) -> None:
        super().__init__(lambda: [ClosesForOneCore(size, max_value=size) for size in SIZES])


class TakesNothing(Claims):
    def take(self, members: Sequence[Member]) -> None:
        pass


@fault(GroupsSpec, "core", refuted_by="every_request_waits_or_is_granted")
class WhatIsFreeIsNotTaken(Queues):
    """A group that could have all at once gets nothing and no position: its task sleeps forever."""

    claims = TakesNothing


class OnlyTheFirstRefuses(Claims):
    def refuse(self) -> None:
        self.members[0].arbiter.refuse(self.members[0].claim)


@fault(GroupsSpec, "core", refuted_by="a_group_with_a_closed_member_is_refused")
class OnlyTheFirstClaimIsRefused(Queues):
    """A group waits for what is closed, and blocks those behind it (D8: zio#11187)."""

    claims = OnlyTheFirstRefuses


class RefusesWhatIsClosed(Claims):
    def refuse(self) -> None:
        for member in self.members:
            if member.arbiter.cause is not None:
                raise EndedForGood(member.arbiter.cause)


@fault(GroupsSpec, "core", refuted_by="a_group_with_an_impossible_claim_is_refused")
class TooLargeClaimsWait(Queues):
    """A group waits for more than there ever was, and blocks those behind it (D8: zio#11187)."""

    claims = RefusesWhatIsClosed


class SmallFirst(Fifo):
    __slots__ = ()

    def candidates(self, queue: Any) -> Any:
        return sorted(queue, key=lambda one: one.group is not None)

    def may_pass(self, queue: Any, ticket: int, priority: int) -> bool:
        return all(one.group is not None for one in queue)


@fault(GroupsSpec, "core", refuted_by="a_queued_request_is_served")
class GroupsStarve(Queues):
    """Single claims pass a group where it cannot be granted yet, again and again (O12, the fix)."""

    def __init__(self, make: Callable[[], Sequence[Arbiter[Any]]]) -> None:
        super().__init__(make)
        for arbiter in self.arbiters:
            arbiter.policy = SmallFirst()


@fault(GroupsSpec, "core", refuted_by="grants_follow_each_queue")
class TheNewestIsServed(Queues):
    """Each queue is served from its end."""

    def __init__(self, make: Callable[[], Sequence[Arbiter[Any]]]) -> None:
        super().__init__(make)
        for arbiter in self.arbiters:
            arbiter.policy = NewestFirst()

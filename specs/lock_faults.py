"""Bugs that locks of others had, planted in ours: each must be found by the named property."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from structsync._core.primitives.lock import LockCore
from structsync._core.queue.request import Request
from structsync.checking import fault

from ._planting import NewestFirst, break_only, grant, withdraw_only
from .lock import LockSpec

Ended = list[Request[Any]]


@fault(LockSpec, "core", refuted_by="nothing_grantable_waits")
class ReleaseSkipsACancelledWaiter(LockCore):
    """A release that meets a cancelled waiter wakes no task: no owner, and a queue (P5: anyio PR 1145)."""

    skip: bool  # the head was cancelled since the last release

    def __init__(self) -> None:
        super().__init__()
        self.skip = False

    def withdraw(self, request: Request[Any]) -> Ended | None:
        self.skip = self.waiting()[:1] == [request]
        return super().withdraw(request)

    def release(self, claim: Hashable) -> Ended:
        self.discharge(claim)
        skip, self.skip = self.skip, False
        return [] if skip else self.settle()


@fault(LockSpec, "core", refuted_by="a_queued_request_is_served")
class ReleaserComesFirst(LockCore):
    """The lock is free while the next task wakes up; the one that released it takes it again (O1: gh-90155)."""

    def release(self, claim: Hashable) -> Ended:
        self.discharge(claim)
        return []

    def admissible(self, claim: Hashable, priority: int = 0) -> bool:
        return self.cause is None and self.admits(claim)


@fault(LockSpec, "core", refuted_by="grants_follow_the_queue")
class HandsOverToTheNewest(LockCore):
    """The queue is served from its end."""

    def __init__(self) -> None:
        super().__init__()
        self.policy = NewestFirst()


@fault(LockSpec, "core", refuted_by="one_owner_at_a_time")
class WithdrawalHandsOver(LockCore):
    """A task that withdraws hands the lock to the next one, although it is owned (O2: gh-76915)."""

    def withdraw(self, request: Request[Any]) -> Ended | None:
        if withdraw_only(self, request) is None:
            return None
        return [grant(self, one) for one in self.waiting()[:1]]


@fault(LockSpec, "core", refuted_by="nothing_waits_when_closed_or_broken")
class OwnerDisappearsUnnoticed(LockCore):
    """The owner is gone, and the tasks in the queue are not told (C4: trio#3035)."""

    def end(self, cause: Hashable) -> Ended:
        ended: Ended = break_only(self, (), str(cause))
        return ended


@fault(LockSpec, "core", refuted_by="a_task_that_exits_leaves_the_queue")
class ADisappearedTaskStaysInTheQueue(LockCore):
    """A task with a position in the queue is gone, and the lock will be handed to it (D4: tokio#6450)."""

    def owner_exited(self, claimant: Hashable, cause: Hashable) -> Ended:
        return self.end(cause) if self.owner == claimant else []


@fault(LockSpec, "core", refuted_by="it_is_broken_exactly_if_its_owner_disappeared")
class TheDisappearedOwnerKeepsIt(LockCore):
    """The owner is gone and owns the lock still: no task can release it (C4: trio#3035)."""

    def owner_exited(self, claimant: Hashable, cause: Hashable) -> Ended:
        return [] if self.owner == claimant else super().owner_exited(claimant, cause)


@fault(LockSpec, "core", refuted_by="it_is_broken_exactly_if_its_owner_disappeared")
class AnyExitBreaksIt(LockCore):
    """A task that only waited is gone, and the lock of another owner is broken."""

    def owner_exited(self, claimant: Hashable, cause: Hashable) -> Ended:
        return self.end(cause)


@fault(LockSpec, "core", refuted_by="no_task_has_two_claims")
class TakenTwice(LockCore):
    """A task that owns the lock may queue for it, and waits for itself (D3: tokio#2849)."""

    def refuse_impossible(self, claim: Hashable) -> None:
        pass

    def left(self, request: Request[Any]) -> None:
        self.pending.pop(request.claim, None)


@fault(LockSpec, "core", refuted_by="only_the_owner_releases")
class AnyTaskReleases(LockCore):
    """A task that calls release frees the lock, owner or not (P10: vs-threading PR 520)."""

    def discharge(self, claim: Hashable) -> None:
        self.owner = None


@fault(LockSpec, "core", refuted_by="no_hidden_history")
@fault(LockSpec, "core", refuted_by="a_task_that_left_may_come_back")
class CancelledClaimantsAreRemembered(LockCore):
    """A task that has withdrawn counts as waiting, and is refused forever after (A4: trio#548)."""

    def left(self, request: Request[Any]) -> None:
        pass

    def restore(self, snapshot: Any) -> None:
        self.pending.clear()  # or it would be remembered what never happened
        super().restore(snapshot)


@fault(LockSpec, "core", refuted_by="the_lock_knows_its_owner")
class ReleasedToNoTask(LockCore):
    """A task that releases the lock while no task waits still owns it."""

    def discharge(self, claim: Hashable) -> None:
        if self.queue:
            super().discharge(claim)


@fault(LockSpec, "core", refuted_by="nowait_agrees_with_the_queue")
class NowaitPassesTheNext(LockCore):
    """The lock is free while the next task wakes up, and a nowait gets it (O3: anyio#1170)."""

    def release(self, claim: Hashable) -> Ended:
        self.discharge(claim)
        return []

    def admissible(self, claim: Hashable, priority: int = 0) -> bool:
        return self.cause is None and self.admits(claim)

"""Bugs that read-write locks of others had, planted in ours: each must be found by the named property."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from structsync._core.primitives.rwlock import (
    READ,
    WRITE,
    Access,
    PhaseFairCore,
    RWLockCore,
    make_core,
)
from structsync._core.queue.request import Request
from structsync.checking import fault

from ._planting import NewestFirst, break_only, grant, withdraw_only
from .rwlock import RWLockSpec
from .rwlock_policies import PhaseSpec, ReadersFirstSpec, WritersFirstSpec

Ended = list[Request[Any]]


@fault(RWLockSpec, "core", refuted_by="nothing_grantable_waits")
class CancelledWriterWakesNoTask(RWLockCore):
    """Readers behind a cancelled writer sleep on (H4: AsyncEx#134; H8: tricycle; H9: aiorwlock)."""

    def withdraw(self, request: Request[Any]) -> Ended | None:
        return withdraw_only(self, request)


@fault(RWLockSpec, "core", refuted_by="grants_follow_the_queue")
class CancelledWriterLetsReadersIn(RWLockCore):
    """One of two writers is cancelled, and readers pass the other one (H5: vs-threading PR 259)."""

    def withdraw(self, request: Request[Any]) -> Ended | None:
        ended = super().withdraw(request)
        if ended is not None and request.claim.mode is WRITE and self.readers:
            ended += [grant(self, one) for one in self.waiting() if one.claim.mode is READ]
        return ended


@fault(RWLockSpec, "core", refuted_by="nowait_agrees_with_the_queue")
class NewcomersReadAtOnce(RWLockCore):
    """A newcomer reads beside readers although a writer waits (H8: tricycle)."""

    def admissible(self, claim: Access, priority: int = 0) -> bool:
        return self.cause is None and self.admits(claim)


@fault(RWLockSpec, "core", refuted_by="a_queued_request_is_served")
class ReadersPassForever(NewcomersReadAtOnce):
    """Readers come and go, and a writer starves."""


@fault(RWLockSpec, "core", refuted_by="a_writer_is_alone")
class ReadersAreNotCounted(RWLockCore):
    """The first reader that leaves lets a writer in."""

    def admits(self, claim: Access) -> bool:
        if claim.mode is WRITE and len(self.readers) == 1:
            return self.writer is None
        return super().admits(claim)


@fault(RWLockSpec, "core", refuted_by="the_lock_knows_its_holders")
class DowngradeReleases(RWLockCore):
    """A writer that becomes a reader lets go of the lock."""

    def downgrade(self, claimant: Hashable) -> Ended:
        super().downgrade(claimant)
        return self.release(Access(READ, claimant))


@fault(RWLockSpec, "core", refuted_by="nothing_grantable_waits")
class DowngradeTellsNoTask(RWLockCore):
    """A writer becomes a reader, and those that could read beside it sleep on."""

    def writing_ended(self) -> Ended:
        return []


@fault(RWLockSpec, "core", refuted_by="no_task_has_two_claims")
class Upgrades(RWLockCore):
    """A task that reads may queue to write: two that do wait for each other (D5: dotNext#275)."""

    def refuse_impossible(self, claim: Access) -> None:
        if claim.claimant not in self.readers:
            super().refuse_impossible(claim)

    def left(self, request: Request[Any]) -> None:
        self.pending.pop(request.claim.claimant, None)


@fault(RWLockSpec, "core", refuted_by="only_what_is_held_is_released")
class AnyTaskReleases(RWLockCore):
    """Any task that calls release ends the writing, writer or not."""

    def discharge(self, claim: Access) -> None:
        if claim.mode is WRITE:
            self.writer = None
        else:
            super().discharge(claim)


@fault(RWLockSpec, "core", refuted_by="nothing_waits_when_closed_or_broken")
class HolderDisappearsUnnoticed(RWLockCore):
    """A holder has disappeared, and those in the queue wait for it (C4: trio#3035; tricycle)."""

    def end(self, cause: Hashable) -> Ended:
        ended: Ended = break_only(self, (), str(cause))
        return ended


@fault(RWLockSpec, "core", refuted_by="a_task_that_exits_leaves_the_queue")
class ADisappearedTaskStaysInTheQueue(RWLockCore):
    """A task in the queue has disappeared, and the lock will be handed to it (D4: tokio#6450)."""

    def owner_exited(self, claimant: Hashable, cause: Hashable) -> Ended:
        return self.end(cause) if self.held_by(claimant) else []


@fault(RWLockSpec, "core", refuted_by="it_is_broken_exactly_if_a_holder_disappeared")
class ReadersDisappearUnnoticed(RWLockCore):
    """Only a writer that disappears is noticed; a reader holds it forever, and no writer enters."""

    def owner_exited(self, claimant: Hashable, cause: Hashable) -> Ended:
        return [] if claimant in self.readers else super().owner_exited(claimant, cause)


@fault(RWLockSpec, "core", refuted_by="it_is_broken_exactly_if_a_holder_disappeared")
class AnyExitBreaksIt(RWLockCore):
    """A task that only waited has disappeared, and a lock that another holds is broken."""

    def owner_exited(self, claimant: Hashable, cause: Hashable) -> Ended:
        return self.end(cause)


@fault(RWLockSpec, "core", refuted_by="a_task_that_left_may_come_back")
class CancelledClaimantsAreRemembered(RWLockCore):
    """A task that withdraws stays in the index of waiters, and is kept out (H10: rustfs#2795)."""

    def left(self, request: Request[Any]) -> None:
        pass

    def restore(self, snapshot: Any) -> None:
        self.pending.clear()  # or it would be remembered what never happened
        super().restore(snapshot)


@fault(RWLockSpec, "core", refuted_by="grants_follow_the_queue")
class TheNewestIsServed(RWLockCore):
    """The queue is served from its end."""

    def __init__(self) -> None:
        super().__init__()
        self.policy = NewestFirst()


# ==== The other policies ====


@fault(PhaseSpec, "core", refuted_by="where_a_writer_leaves_readers_enter")
class OneReaderEnters(PhaseFairCore):
    """Where a writer leaves one reader enters; the others see the next writer first."""

    def __init__(self, policy: str) -> None:
        super().__init__()

    def writing_ended(self) -> Ended:
        readers = [one for one in self.waiting() if one.claim.mode is READ]
        return [grant(self, one) for one in readers[:1]] or self.settle()


@fault(PhaseSpec, "core", refuted_by="a_reader_sees_one_writer_pass")
def phases_of_writers(policy: str) -> RWLockCore:
    """Writers follow on writers."""
    return make_core("writers")


@fault(PhaseSpec, "core", refuted_by="the_next_writer_sees_readers_enter_once")
class LateReadersJoinThePhase(PhaseFairCore):
    """While some read, others that come read too, although a task waits to write."""

    def __init__(self, policy: str) -> None:
        super().__init__()

    def admissible(self, claim: Access, priority: int = 0) -> bool:
        joins = claim.mode is READ and self.readers and self.cause is None
        return bool(joins) or super().admissible(claim, priority)


@fault(PhaseSpec, "core", refuted_by="a_queued_request_is_served")
def phases_of_readers(policy: str) -> RWLockCore:
    """Readers join readers, and a writer starves."""
    return make_core("readers")


@fault(PhaseSpec, "core", refuted_by="each_mode_is_served_in_queue")
class NewestReaderFirst(PhaseFairCore):
    """Where a writer leaves, the readers enter in the wrong order."""

    def __init__(self, policy: str) -> None:
        super().__init__()

    def writing_ended(self) -> Ended:
        return super().writing_ended()[::-1]


@fault(ReadersFirstSpec, "core", refuted_by="a_reader_waits_for_a_writer_inside")
def first_come_first_served(policy: str) -> RWLockCore:
    """A reader waits behind a waiting writer."""
    return make_core("fifo")


@fault(ReadersFirstSpec, "core", refuted_by="readers_are_served")
def writers_come_first(policy: str) -> RWLockCore:
    """Writers pass readers, which starve."""
    return make_core("writers")


@fault(WritersFirstSpec, "core", refuted_by="a_writer_waits_for_no_later_reader")
def in_turn(policy: str) -> RWLockCore:
    """Where a writer leaves, readers pass the next writer."""
    return make_core("phase")


@fault(WritersFirstSpec, "core", refuted_by="writers_are_served")
def readers_come_first(policy: str) -> RWLockCore:
    """Readers join readers, and writers starve."""
    return make_core("readers")

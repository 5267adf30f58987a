"""A thread holds from the answer "you hold" until it leaves, and else it holds nothing.

A thread asks its deputy, a task of the run, to enter a block, and waits. The deputy queues for the one
permit, which somebody else has now and then. The wait can be interrupted at any moment: before the deputy
has begun, while it queues, after the grant but before the deputy has run again, and when all is over. Then
the thread leaves, and that can be interrupted too. Messages from the thread reach the run in their order;
the one to leave may be sent twice, because a thread that is interrupted does not know whether it was sent.

What ships and is checked here is `ErrandCore`, which says who ends an errand; that a cancelled wait for a
permit ends without one is the matter of the other specifications. One thread and one permit are enough:
threads share nothing but the permit.
"""

from __future__ import annotations

from structsync._core.primitives.errand import ErrandCore
from structsync.checking import Spec, action, invariant, leads_to, start

# ==== Where the deputy and the thread are ====

UNASKED, QUEUES, GRANTED, STOPPED, INSIDE, GONE = (
    "unasked",
    "queues",
    "granted",
    "stopped",
    "inside",
    "gone",
)
WAITS, HOLDS, NOTHING, LEAVES, LEFT = "waits", "holds", "told: nothing", "leaves", "left"


class ThreadHoldSpec(Spec):
    """One block of one thread; the deputy's side and the thread's."""

    entering: ErrandCore = start(ErrandCore)
    leaving: ErrandCore = start(ErrandCore, must=True)
    deputy: str = start(str, UNASKED)
    thread: str = start(str, WAITS)
    taken_by: tuple[str, ...] = start(lambda: ("somebody",))
    given_back: int = start(int)  # by the deputy

    # ==== Entering ====

    @action(when=lambda spec: spec.deputy == UNASKED, fair=True)
    def begin(self) -> None:
        self.deputy = QUEUES if self.entering.begin() else GONE

    @action(when=lambda spec: spec.deputy == QUEUES and not spec.taken_by, fair=True)
    def grant(self) -> None:
        self.taken_by = ("deputy",)
        self.deputy = GRANTED

    @action(when=lambda spec: spec.deputy == GRANTED, fair=True)
    def run_after_the_grant(self) -> None:
        self.deputy = INSIDE
        if self.entering.end():
            self.thread = HOLDS

    @action(when=lambda spec: spec.deputy == STOPPED, fair=True)
    def run_after_the_interrupt(self) -> None:
        self.deputy = GONE
        if self.entering.end():
            self.thread = NOTHING

    @action(when=lambda spec: not spec.entering.interrupted)
    def interrupt_entering(self) -> None:
        if self.entering.interrupt():
            self.thread = NOTHING
        elif self.deputy == QUEUES:  # trio aborts the wait; after the grant it does not
            self.deputy = STOPPED

    # ==== Leaving ====

    @action(when=lambda spec: spec.thread == HOLDS, fair=True)
    def leave(self) -> None:
        self.thread = LEAVES

    @action(when=lambda spec: spec.thread == LEAVES and not spec.leaving.interrupted)
    def interrupt_leaving(self) -> None:
        self.leaving.interrupt()

    @action(when=lambda spec: spec.thread in (LEAVES, LEFT) and spec.given_back < 2, fair=True)
    def give_back(self) -> None:
        """Take up the errand to leave, the first time or once more."""
        if self.leaving.begin():
            self.taken_by = self.taken_by[1:]
            self.given_back += 1
            self.deputy = GONE
            self.leaving.end()
            self.thread = LEFT

    # ==== Somebody else ====

    @action(when=lambda spec: not spec.taken_by and spec.deputy != QUEUES)
    def somebody_acquires(self) -> None:
        self.taken_by = ("somebody",)

    @action(when=lambda spec: spec.taken_by == ("somebody",), fair=True)
    def somebody_releases(self) -> None:
        self.taken_by = ()

    # ==== Invariants ====

    @invariant
    def who_is_told_nothing_holds_nothing(self) -> bool:
        """A thread that was told that nothing happened has neither the permit nor a place in the queue."""
        return self.thread != NOTHING or self.deputy in (UNASKED, GONE)

    @invariant
    def what_was_granted_is_given_back_once(self) -> bool:
        """However often the errand to leave arrives, the permit of the deputy alone is given back."""
        return self.given_back <= 1

    # ==== Temporal properties ====

    @leads_to
    def a_thread_that_waits_is_answered(self) -> tuple[bool, bool]:
        """If somebody releases, a thread that waits to enter holds eventually, or is told that it does not."""
        return self.thread == WAITS, self.thread != WAITS

    @leads_to
    def what_a_thread_leaves_is_given_back(self) -> tuple[bool, bool]:
        """Whatever interrupts it, a block that a thread leaves is left."""
        return self.thread == LEAVES, self.thread == LEFT and "deputy" not in self.taken_by

"""A thread holds from the answer "you hold" until it leaves, and otherwise it holds nothing.

A thread asks its deputy, a task of the run, to enter a block, and waits. The deputy queues for the one
permit, which *another* task has now and then. The wait can be interrupted at any moment: before the deputy
has begun, while it queues, after the grant but before the deputy has run again, and when all is over. Then
the thread leaves, and that can be interrupted too. Messages from the thread reach the run in their order;
the one to leave may be sent twice, because a thread that is interrupted does not know whether it was sent.

What ships and is checked here is `ErrandCore`, which decides what ends an errand, the deputy or the interrupt; that a
cancelled wait for a permit ends without one is the matter of the other specifications. Around it the state says where
the deputy and the thread are, and which task has the permit. The deputy and the thread go on eventually, and so does
the task that has the permit (*fair* actions); interrupts need not happen. One thread and one permit are
enough: threads share nothing but the permit.
"""

from __future__ import annotations

from structsync._core.primitives.errand import ErrandCore
from structsync.checking import Spec, action, implies, invariant, leads_to, start

# ==== Where the deputy and the thread are ====

# The deputy has not begun; is in the queue; was granted the permit, or interrupted, and has not run since; ...
UNASKED, QUEUES, GRANTED, STOPPED = "unasked", "queues", "granted", "stopped"
INSIDE, GONE = "inside", "gone"  # ... holds for its thread; is through.

# The thread waits to enter; was told that it holds, or that it holds nothing; waits to leave; has left.
WAITS, HOLDS, NOTHING, LEAVES, LEFT = "waits", "holds", "told: nothing", "leaves", "left"


class ThreadHoldSpec(Spec):
    """One block of one thread: its errands to enter and to leave, where both sides are, which task has the permit."""

    entering: ErrandCore = start(ErrandCore)
    leaving: ErrandCore = start(ErrandCore, must=True)
    deputy: str = start(str, UNASKED)
    thread: str = start(str, WAITS)
    taken_by: tuple[str, ...] = start(lambda: ("another",))  # the task that has the permit
    releases: int = start(int)  # how often the deputy has released

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

    @action(when=lambda spec: spec.thread in (LEAVES, LEFT) and spec.releases < 2, fair=True)
    def take_up_leaving(self) -> None:
        """Take up the errand to leave, which may arrive a second time."""
        if self.leaving.begin():
            self.taken_by = self.taken_by[1:]
            self.releases += 1
            self.deputy = GONE
            self.leaving.end()
            self.thread = LEFT

    # ==== The other task ====

    @action(when=lambda spec: not spec.taken_by and spec.deputy != QUEUES)
    def another_task_acquires(self) -> None:
        self.taken_by = ("another",)

    @action(when=lambda spec: spec.taken_by == ("another",), fair=True)
    def another_task_releases(self) -> None:
        self.taken_by = ()

    # ==== Invariants ====

    @invariant
    def a_thread_without_an_answer_holds_nothing(self) -> bool:
        """A thread that was told that nothing happened has neither the permit nor a position in the queue."""
        return implies(self.thread == NOTHING, self.deputy in (UNASKED, GONE))

    @invariant
    def what_was_granted_is_released_once(self) -> bool:
        """However often the errand to leave arrives, the deputy releases at most once."""
        return self.releases <= 1

    # ==== Temporal properties ====

    @leads_to
    def a_thread_that_waits_is_answered(self) -> tuple[bool, bool]:
        """If the permit is released, a thread that waits to enter holds eventually, or learns that it does not."""
        return self.thread == WAITS, self.thread != WAITS

    @leads_to
    def what_a_thread_leaves_is_released(self) -> tuple[bool, bool]:
        """Whatever interrupts it, a thread that leaves has left eventually, and its permit is released."""
        return self.thread == LEAVES, self.thread == LEFT and "deputy" not in self.taken_by

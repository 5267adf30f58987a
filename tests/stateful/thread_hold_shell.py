"""The machine of threads that hold: each is told once, and what it was told is so."""

from __future__ import annotations

from typing import Any

import outcome
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import structsync
from structsync._runtime.thread_blocks import Block, Enter, Leave
from tests.thread_runs import answered_to

from .stepper import Stepper

NUMBER = st.integers(0, 9)


class Thread:
    """What a thread asks of the run, and what it is told."""

    def __init__(self, semaphore: structsync.Semaphore, timeout: float | None) -> None:
        self.block = Block(semaphore, None)
        self.enter, self.leave = Enter(self.block, timeout), Leave(self.block, None)
        deputies: dict[Any, Any] = {}
        self.entered = answered_to(self.enter, deputies)
        self.left = answered_to(self.leave, deputies)
        self.deputies = deputies

    def told(self) -> str:
        """Return the last that it was told."""
        if self.left.told:
            return "left" if isinstance(self.left.told[0], outcome.Value) else "left twice"
        if not self.entered.told:
            return "waits"
        first = self.entered.told[0]
        return type(first.error).__name__ if isinstance(first, outcome.Error) else "holds"


class ThreadHoldShellMachine(RuleBasedStateMachine):
    """The model is who waits, in the order of arrival, and how many permits are free."""

    def __init__(self) -> None:
        super().__init__()
        self.stepper = Stepper()
        self.threads: list[Thread] = []
        self.expected: list[str] = []  # of each thread
        self.deadlines: dict[int, float] = {}
        self.line: list[int] = []

    def teardown(self) -> None:
        self.stepper.end()
        if hasattr(self, "semaphore"):  # what the end of the run has left
            assert self.semaphore.value == self.free + self.expected.count("holds")
            assert all(thread.told() != "waits" for thread in self.threads)

    @initialize(permits=st.integers(0, 2))
    def create(self, permits: int) -> None:
        self.semaphore, self.free = structsync.Semaphore(permits), permits

    # ==== what threads ask ====

    @precondition(lambda self: len(self.line) < 5)
    @rule(
        timeout=st.none() | st.integers(1, 3), interrupt=st.sampled_from(["no", "after", "before"])
    )
    def ask(self, timeout: int | None, interrupt: str) -> None:
        """In one step with its interrupt it does not even begin."""
        who, thread = len(self.threads), Thread(self.semaphore, timeout)
        self.threads.append(thread)

        def start() -> None:
            if interrupt == "before":
                thread.enter._interrupt_from_thread()
            thread.enter.accept()
            if interrupt == "after":
                thread.enter._interrupt_from_thread()

        self.stepper.step(start)
        if interrupt != "no":
            self.expected.append("Interrupted")
            return
        self.expected.append("waits")
        self.line.append(who)
        if timeout is not None:
            self.deadlines[who] = self.stepper.clock.current_time() + timeout
        self.settle()

    def holders(self) -> list[int]:
        return [who for who, told in enumerate(self.expected) if told == "holds"]

    @precondition(lambda self: self.holders())
    @rule(number=NUMBER, times=st.integers(1, 2))
    def leave(self, number: int, times: int) -> None:
        """One that is interrupted meanwhile asks twice."""
        who = self.holders()[number % len(self.holders())]

        def ask() -> None:
            self.threads[who].leave.accept()
            if times == 2:
                self.threads[who].leave._interrupt_from_thread()

        self.stepper.step(ask)
        self.expected[who] = "left"
        self.free += 1
        self.settle()

    # ==== what ends a wait ====

    @precondition(lambda self: self.threads)
    @rule(number=NUMBER, release=st.sampled_from(["no", "before", "after"]))
    def interrupt(self, number: int, release: str) -> None:
        """And a release in one step with it: which of them is first decides."""
        waiting = self.line or range(len(self.threads))
        who = waiting[number % len(waiting)]

        def both() -> None:
            if release == "before":
                self.semaphore.release()
            self.threads[who].enter._interrupt_from_thread()
            if release == "after":
                self.semaphore.release()

        self.stepper.step(both)
        if release == "before":
            self.free += 1
            self.settle()
        self.stop(who, "Interrupted")
        if release == "after":
            self.free += 1
        self.settle()

    @rule(seconds=st.integers(1, 3))
    def time_passes(self, seconds: int) -> None:
        self.stepper.step(lambda: self.stepper.clock.jump(seconds))
        now = self.stepper.clock.current_time()
        for who in [one for one, deadline in self.deadlines.items() if deadline <= now]:
            self.stop(who, "TimeoutError")

    def stop(self, who: int, told: str) -> None:
        """The wait of a thread ends without a grant, if it waits."""
        if who in self.line:
            self.line.remove(who)
            self.expected[who] = told
        self.deadlines.pop(who, None)

    def settle(self) -> None:
        while self.free and self.line:
            self.free -= 1
            self.expected[self.line.pop(0)] = "holds"

    # ==== what holds while all sleep ====

    @invariant()
    def each_was_told_what_the_model_says(self) -> None:
        assert [thread.told() for thread in self.threads] == self.expected
        assert all(len(thread.entered.told) <= 1 for thread in self.threads)

    @invariant()
    def a_deputy_lives_as_long_as_its_block(self) -> None:
        for thread, told in zip(self.threads, self.expected, strict=True):
            assert len(thread.deputies) == (told in ("waits", "holds"))

    @invariant()
    def the_permits_are_those_of_the_model(self) -> None:
        if hasattr(self, "semaphore"):
            assert self.semaphore.value == self.free
            assert self.semaphore.statistics().tasks_waiting == len(self.line)

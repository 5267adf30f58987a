"""Machines over semaphores, locks and conditions, each with a naive model to judge it."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import trio
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

import structsync
from structsync.testing import ScheduledStateMachine


class PermitsMachine(ScheduledStateMachine):
    """Visitors of a semaphore: never too many inside, and all permits are back at the end."""

    make: ClassVar[Callable[[int], Any]] = structsync.Semaphore

    @initialize(permits=st.integers(1, 2))
    def open(self, permits: int) -> None:
        self.permits = permits
        self.semaphore = type(self).make(permits)
        self.inside = 0

    @rule()
    async def visit(self) -> None:
        await self.semaphore.acquire()
        self.inside += 1
        try:
            await trio.lowlevel.checkpoint()
        finally:
            self.inside -= 1
            self.semaphore.release()

    @invariant()
    def never_too_many(self) -> None:
        assert self.inside <= self.permits

    async def teardown(self) -> None:
        await self.settle()
        assert self.semaphore.value == self.permits


class LineMachine(ScheduledStateMachine):
    """What a semaphore tells of itself, compared with a list after each step."""

    def __init__(self) -> None:
        super().__init__()
        self.queue: list[tuple[object, int]] = []
        self.free = 0
        self.events: list[structsync.PrimitiveEvent] = []
        self.observing = contextlib.ExitStack()
        self.observing.enter_context(structsync.observe(self.events.append))

    @initialize(permits=st.integers(1, 3))
    def open(self, permits: int) -> None:
        self.semaphore = structsync.Semaphore(permits)
        self.free = permits

    @rule(permits=st.integers(1, 3))
    async def visit(self, permits: int) -> None:
        await self.semaphore.acquire(permits)
        try:
            await trio.lowlevel.checkpoint()
        finally:
            self.semaphore.release(permits)

    @precondition(lambda self: self.semaphore.value == 0)  # or there are always enough
    @rule()
    def add_a_permit(self) -> None:
        self.semaphore.release()

    @invariant()
    def everything_is_as_in_the_list(self) -> None:
        for event in self.events:
            self.follow(event)
        self.events.clear()
        assert self.semaphore.value == self.free
        assert not self.queue or self.queue[0][1] > self.free, "the head could be served"

    def follow(self, event: structsync.PrimitiveEvent) -> None:
        entry = (event.task, event.claim)
        if event.kind == "requested":
            self.queue.append(entry)
        elif event.kind == "withdrawn":
            self.queue.remove(entry)
        elif event.kind == "granted":
            assert self.queue.pop(0) == entry, "a task has passed"
            self.free -= event.claim
        elif event.kind == "released":
            self.free += event.claim

    async def teardown(self) -> None:
        self.observing.close()
        self.semaphore.release(3)
        await self.settle()


class LockMachine(ScheduledStateMachine):
    """Owners of a lock: one at a time, in the order in which they asked, except the cancelled."""

    make: ClassVar[Callable[[], Any]] = structsync.Lock

    @initialize()
    def open(self) -> None:
        self.lock = type(self).make()
        self.asked: list[int] = []
        self.inside: list[int] = []
        self.number = 0

    @rule(rounds=st.integers(0, 2))
    async def own(self, rounds: int) -> None:
        await trio.lowlevel.checkpoint_if_cancelled()
        number = self.number = self.number + 1
        self.asked.append(number)
        try:
            async with self.lock:
                assert self.asked[0] == number, "a task was passed"
                self.inside.append(number)
                try:
                    for _ in range(rounds):
                        await trio.lowlevel.checkpoint()
                finally:
                    self.inside.remove(number)
                    self.asked.remove(number)
        except trio.Cancelled:
            if number in self.asked:
                self.asked.remove(number)
            raise

    @invariant()
    def one_at_a_time(self) -> None:
        assert len(getattr(self, "inside", ())) <= 1

    async def teardown(self) -> None:
        await self.settle()
        assert not self.lock.locked()


class BufferMachine(ScheduledStateMachine):
    """Items go through a list that a condition guards: none is lost, no task sleeps beside one."""

    make: ClassVar[Callable[[], Any]] = structsync.Condition

    @initialize()
    def open(self) -> None:
        self.condition = type(self).make()
        self.items: list[int] = []
        self.put_in = self.taken_out = 0

    # Bounds, or before long there are always items, or always takers. No preconditions: with an earlier
    # rule left out, a later one would be forbidden, and the program could not be made smaller.
    @rule()
    async def take(self) -> None:
        if self.condition.statistics().tasks_waiting == 3:
            return
        async with self.condition:
            while not self.items:
                await self.condition.wait()
            self.items.pop()
            self.taken_out += 1

    @rule()
    async def put(self) -> None:
        if self.items:
            return
        async with self.condition:
            self.items.append(0)
            self.put_in += 1
            self.condition.notify()
            await trio.lowlevel.checkpoint()

    @invariant()
    def none_is_lost(self) -> None:
        assert self.put_in - self.taken_out == len(self.items)

    @invariant()
    def no_task_sleeps_beside_an_item(self) -> None:
        if self.is_quiescent and self.items:
            assert not self.condition.statistics().tasks_waiting


class LockOrderMachine(ScheduledStateMachine):
    """Two locks, which some take in one order and some in the other."""

    @initialize()
    def open(self) -> None:
        self.first, self.second = trio.Lock(), trio.Lock()

    @rule()
    async def one_way(self) -> None:
        async with self.first:
            async with self.second:
                pass

    @rule()
    async def other_way(self) -> None:
        async with self.second:
            async with self.first:
                pass

    async def teardown(self) -> None:
        await self.settle()


@dataclass(frozen=True)
class Shrunk:
    """What Hypothesis shows of a failure."""

    error: BaseException
    text: str

    def calls(self, name: str) -> int:
        """How often a rule is called."""
        return len(re.findall(rf"^(?:\w+ = )?state\.{name}\(", self.text, re.MULTILINE))

    @property
    def steps(self) -> int:
        return len(re.findall(r"^# +\d+[ *]", self.text, re.MULTILINE))

    @property
    def deviations(self) -> int:
        return len(re.findall(r"^# +\d+\*", self.text, re.MULTILINE))

    @property
    def cancels(self) -> int:
        return len(re.findall(r"^# +cancel ", self.text, re.MULTILINE))


def quick(examples: int, **others: Any) -> settings:
    """Settings with which the same machine gets the same examples, whatever the profile is."""
    # Explaining costs more than finding and shrinking.
    phases = [Phase.generate, Phase.shrink]
    given: dict[str, Any] = {"database": None, "deadline": None, "phases": phases}
    given |= {"derandomize": True, "print_blob": False, "suppress_health_check": ()}
    return settings(max_examples=examples, report_multiple_bugs=False, **(given | others))


def failure(
    machine: type[RuleBasedStateMachine], examples: int = 100, **others: Any
) -> Shrunk | None:
    """Run a machine; return its failure, if it has one."""
    try:
        run_state_machine_as_test(machine, settings=quick(examples, **others))
    except Exception as error:  # noqa: BLE001 - whatever a machine fails with is looked at
        return Shrunk(error, "\n".join(getattr(error, "__notes__", ())))
    return None


def found(machine: type[RuleBasedStateMachine], examples: int = 100, **others: Any) -> Shrunk:
    """Run a machine that must fail."""
    shrunk = failure(machine, examples, **others)
    assert shrunk is not None, f"{machine.__name__} does not fail"
    return shrunk

"""A transition costs the same however many wait: counted in operations, because time lies."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from types import FrameType
from typing import Any

import pytest

from structsync._core.monitors.entry import EntryCore, Guard, Invocation
from structsync._core.monitors.stages import Stage
from structsync._core.monitors.stand_in import Readiness, StandInCore
from structsync._core.monitors.synchronizer import Rules, SynchronizerCore
from structsync._core.primitives.lock import LockCore
from structsync._core.primitives.rwlock import READ, WRITE, Access, PhaseFairCore
from structsync._core.primitives.semaphore import SemaphoreCore


def lines_run(action: Callable[[], object]) -> int:
    """How many lines of Python the action executes, comprehensions and loops line by line."""
    count = 0

    def one_more(*_: object) -> None:
        nonlocal count
        count += 1

    with each_line(one_more):
        action()
    return count


if sys.version_info >= (3, 12):
    TOOL = 3  # one of the numbers that no tool of the standard library claims

    @contextmanager
    def each_line(seen: Callable[..., object]) -> Iterator[None]:
        """Call ``seen`` for each line that runs. (sys.settrace misses some from Python 3.12 on.)"""
        line = sys.monitoring.events.LINE
        sys.monitoring.use_tool_id(TOOL, "lines")
        sys.monitoring.register_callback(TOOL, line, seen)
        sys.monitoring.set_events(TOOL, line)
        try:
            yield
        finally:
            sys.monitoring.set_events(TOOL, 0)
            sys.monitoring.register_callback(TOOL, line, None)
            sys.monitoring.free_tool_id(TOOL)

else:

    @contextmanager
    def each_line(seen: Callable[..., object]) -> Iterator[None]:
        """Call ``seen`` for each line that runs."""

        def trace(frame: FrameType, event: str, argument: Any) -> Any:
            if event == "line":
                seen()
            return trace

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            yield
        finally:
            sys.settrace(before)


class Crowded(SemaphoreCore):
    """A semaphore on which many wait."""

    def __init__(self, waiters: int, policy: str) -> None:
        super().__init__(0, policy=policy)
        self.crowd = [self.submit(2) for _ in range(waiters)]  # oldest first


ACTIONS: dict[str, Callable[[Crowded], object]] = {
    "submit": lambda core: core.submit(2),
    "withdraw the head": lambda core: core.withdraw(core.crowd[0]),
    "withdraw the last": lambda core: core.withdraw(core.crowd[-1]),
    "withdraw one in the middle": lambda core: core.withdraw(core.crowd[4]),
    "grant": lambda core: core.release(2),
    "refuse to barge": lambda core: core.admissible(1),
}


@pytest.mark.parametrize("policy", ["fifo", "priority"])
@pytest.mark.parametrize("action", ACTIONS)
def test_a_transition_runs_as_many_lines_with_1000_waiters_as_with_10(
    action: str, policy: str
) -> None:
    few, many = (
        # A finalizer or another thread that runs meanwhile can only add to them.
        min(lines_run(partial(ACTIONS[action], Crowded(waiters, policy))) for _ in range(3))
        for waiters in (10, 1_000)
    )
    assert few == many


def test_a_second_claim_for_a_lock_is_found_without_a_search() -> None:
    def refused(waiters: int) -> int:
        core = LockCore()
        for number in range(waiters):
            core.submit(number)

        def attempt() -> None:
            with pytest.raises(RuntimeError):
                core.refuse_impossible(waiters - 1)

        return lines_run(attempt)

    assert refused(10) == refused(1_000)


def test_a_writer_finds_the_readers_it_lets_in_without_a_search() -> None:
    """Phase-fair: however many writers wait, it costs what the readers cost."""

    def leaving(writers: int) -> int:
        core = PhaseFairCore()
        for number in range(writers):
            core.submit(Access(WRITE, number))
        core.submit(Access(READ, "reader"))
        return lines_run(lambda: core.release(Access(WRITE, 0)))

    assert leaving(10) == leaving(1_000)


class CrowdedStandIn(StandInCore):
    """A stand-in under rules, in which very many calls of one entry wait."""

    def __init__(self, waiters: int, is_occupied: bool) -> None:
        super().__init__(Readiness())
        self.call = EntryCore("call")
        SynchronizerCore().disable(Rules(self.call, self, None), Guard(lambda: False))
        for n in range(waiters):
            self.propose(n)
        while is_occupied and (asked := self.readiness.review().asked):
            self.readiness.set_aside(asked[0])

    def propose(self, task: int) -> None:
        self.readiness.note(task, Stage.PROPOSED)
        self.arrive(Invocation(self.call, task), task)

    def start(self) -> None:
        """Let the oldest start, after another call has come."""
        self.propose(-1)
        (asked,) = self.readiness.review().asked
        if asked != 0:
            self.readiness.set_aside(asked)
            self.readiness.review()
        assert self.readiness.reserved(0)
        (started,) = self.settle()
        self.release(started.claim)
        self.readiness.review()


@pytest.mark.parametrize("is_occupied", [False, True])
def test_a_call_under_rules_starts_without_a_look_at_the_others(is_occupied: bool) -> None:
    few, many = (
        min(lines_run(CrowdedStandIn(waiters, is_occupied).start) for _ in range(3))
        for waiters in (10, 1_000)
    )
    assert few == many


def test_a_search_through_the_line_is_found() -> None:
    def search(core: SemaphoreCore) -> None:
        for _ in core.queue:
            pass

    assert lines_run(lambda: search(Crowded(10, "fifo"))) < lines_run(
        lambda: search(Crowded(1_000, "fifo"))
    )

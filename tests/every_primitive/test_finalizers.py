"""A finalizer may run between any two instructions of a transition, and loses nothing, and spoils nothing.

A block that holds a permit, or a position in the queue, is abandoned in a cycle of references. The
collector finds it at the k-th instruction inside structsync, for k = 1, 2, ...; whatever k is, the
program ends as it does where the block is left in peace.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Generator
from functools import partial
from typing import Any

import pytest
import trio
import trio.testing

import structsync
from structsync import CapacityLimiter, Condition, Lock, Monitor, Request, RWLock, Semaphore
from structsync._core.primitives.rwlock import WRITE, Access
from structsync._runtime.transitions import of_this_thread

from .kinds import Bridge
from .striking import Striker, every_instruction

pytestmark = pytest.mark.filterwarnings("error::pytest.PytestUnraisableExceptionWarning")


class Abandoned:
    """Blocks that nobody can reach any more but the collector."""

    def __init__(self) -> None:
        self.cycles = 0

    def add(self, request: Request[Any]) -> None:
        def block() -> Generator[None, None, None]:
            with request:
                yield

        generator = block()
        next(generator)
        cycle: list[object] = [generator]
        cycle.append(cycle)
        self.cycles += 1

    def collect(self) -> None:
        if self.cycles:
            self.cycles = 0
            gc.collect(0)


async def served(
    make: Callable[[], Any],
    claims: Callable[[], tuple[Any, Any]],
    block: Callable[[Any], Any],
    striker: Striker,
    abandoned: Abandoned,
) -> tuple[list[str], object]:
    """Two tasks want what an abandoned block holds, and another such block queues between them."""
    primitive, granted, over = make(), list[str](), trio.Event()

    def observer(event: structsync.PrimitiveEvent) -> None:
        if event.kind == "granted" and event.primitive is primitive and event.task in wanting:
            granted.append(wanting[event.task])

    async def own() -> None:
        abandoned.add(primitive._request(claims()[0]))
        await over.wait()  # for a lock breaks if its owner ends

    async def want(name: str) -> None:
        wanting[trio.lowlevel.current_task()] = name
        async with block(primitive):
            await trio.lowlevel.checkpoint()

    wanting: dict[trio.lowlevel.Task | None, str] = {}
    with trio.fail_after(1), structsync.observe(observer):
        async with trio.open_nursery() as nursery:
            for task in (own, partial(want, "a")):
                nursery.start_soon(task)
                await trio.testing.wait_all_tasks_blocked()
            abandoned.add(primitive._request(claims()[1]))
            with every_instruction(striker):
                nursery.start_soon(want, "b")
                await trio.testing.wait_all_tasks_blocked()
                for _ in range(9):
                    await trio.lowlevel.checkpoint()
                with trio.CancelScope() as scope:
                    scope.cancel()
                    async with block(primitive):
                        pass
            abandoned.collect()
            over.set()
    return granted, primitive.statistics()


def task_or(other: Any) -> Any:
    return lambda: (trio.lowlevel.current_task(), other)


SUBJECTS: dict[str, tuple[Callable[[], Any], Callable[[], tuple[Any, Any]], Callable[[Any], Any]]]
SUBJECTS = {
    "semaphore": (lambda: Semaphore(1, max_value=1), lambda: (1, 1), lambda p: p),
    "priority semaphore": (
        lambda: Semaphore(1, max_value=1, policy="priority"),
        lambda: (1, 1),
        lambda p: p,
    ),
    "eligible semaphore": (
        lambda: Semaphore(1, max_value=1, policy="eligible"),
        lambda: (1, 1),
        lambda p: p,
    ),
    "three permits": (
        lambda: Semaphore(3, max_value=3),
        lambda: (3, 1),
        lambda p: p.permits(2),
    ),
    "lock": (Lock, task_or("nobody"), lambda p: p),
    "read-write lock": (
        RWLock,
        lambda: (Access(WRITE, trio.lowlevel.current_task()), Access(WRITE, "nobody")),
        lambda p: p.writing(),
    ),
    "phase-fair lock": (
        lambda: RWLock(policy="phase"),
        lambda: (Access(WRITE, trio.lowlevel.current_task()), Access(WRITE, "nobody")),
        lambda p: p.reading(),
    ),
    "limiter": (lambda: CapacityLimiter(1), lambda: ("one", "other"), lambda p: p),
    "user-written bridge": (Bridge, lambda: ("west", "west"), lambda p: p._held("east")),
    "all of a group": (
        lambda: Semaphore(1, max_value=1),
        lambda: (1, 1),
        lambda p: structsync.acquire_all(Semaphore(1).claim(), p.claim()),
    ),
    "any of a group": (
        lambda: Semaphore(1, max_value=1),
        lambda: (1, 1),
        lambda p: structsync.acquire_any(Semaphore(0).claim(), p.claim()),
    ),
}


def run(name: str, k: int) -> tuple[bool, tuple[list[str], object]]:
    """Return whether the run was struck at instruction k, and how it ended."""
    abandoned = Abandoned()
    striker = Striker(k, abandoned.collect)
    gc.disable()
    try:
        clock = trio.testing.MockClock(autojump_threshold=0)
        ended = trio.run(partial(served, *SUBJECTS[name], striker, abandoned), clock=clock)
    finally:
        gc.enable()
    transitions = of_this_thread()
    assert not transitions.running
    assert not transitions.later
    return bool(striker.struck), ended


def sweep(name: str, step: int) -> int:
    undisturbed = run(name, 0)[1]
    assert undisturbed[0] == ["a", "b"]
    k, struck = 1, True
    while struck:
        struck, ended = run(name, k)
        assert ended == undisturbed, f"struck at instruction {k}"
        k += step
    return k


@pytest.mark.parametrize("name", SUBJECTS)
def test_a_block_that_is_collected_in_a_transition_loses_nothing(name: str) -> None:
    assert sweep(name, 13) > 300  # a sweep that strikes nowhere would be green by emptiness


@pytest.mark.nightly
@pytest.mark.parametrize("name", SUBJECTS)
def test_a_block_that_is_collected_at_any_instruction_loses_nothing(name: str) -> None:
    assert sweep(name, 1) > 300


# ==== while code of the user runs ====


def collected(request: Request[Any]) -> None:
    """Abandon a block, and have the collector find it."""
    abandoned = Abandoned()
    abandoned.add(request)
    del request
    abandoned.collect()


async def test_what_is_collected_inside_a_guard_is_released_right_after_the_step() -> None:
    semaphore, monitor = Semaphore(1, max_value=1), Monitor()
    requests = [semaphore.request()]

    def guard() -> bool:
        if requests:
            collected(requests.pop())
        return True

    await monitor.entry(lambda: None, guard)()
    assert semaphore.value == 1


async def test_what_is_collected_inside_a_predicate_is_released_right_after_it() -> None:
    semaphore, condition = Semaphore(1, max_value=1), Condition()
    requests = [semaphore.request()]

    def predicate() -> bool:
        collected(requests.pop())
        return True

    async with condition:
        await condition.wait_for(predicate)
        assert semaphore.value == 1


async def test_what_is_collected_inside_an_observer_is_released_right_after_the_step() -> None:
    semaphore, other, values = Semaphore(1, max_value=1), Semaphore(1), list[int]()
    requests = [semaphore.request()]

    def observer(event: structsync.PrimitiveEvent) -> None:
        if requests and event.primitive is other:
            collected(requests.pop())
            values.append(semaphore.value)

    with structsync.observe(observer):
        other.acquire_nowait()
    assert (values, semaphore.value) == ([0], 1)

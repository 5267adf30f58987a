"""Schedules and states per second of the explorer, and what a state costs.

The floor is the same program in a plain ``trio.run``: as often as the explorer runs it, without
choosing anything.
"""

from __future__ import annotations

import itertools
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from time import thread_time
from typing import Any

import trio
from trio.lowlevel import checkpoint

import structsync
from structsync.testing import Exploration, Settings, explore
from structsync.testing._execution.engine import Engine
from structsync.testing._execution.execution import Execution
from structsync.testing._execution.loop_engine import LoopEngine
from structsync.testing._execution.public_engine import PublicEngine
from structsync.testing._search.choosers import DepthFirst
from structsync.testing._search.runs import Runs
from structsync.testing._search.search import search
from structsync.testing._state.fingerprint import Fingerprinter

from ._measure import Case, Effort, ratio

Program = Callable[[], Awaitable[None]]


def rate_cases(effort: Effort) -> Iterator[Case]:
    """Whole executions per second: three tasks with four checkpoints each, no state kept."""
    times = effort.of(2_000, 20)
    yield Case("3 tasks x 4 checkpoints", partial(_schedules, LoopEngine, times))
    yield Case("the same, in trio.run", partial(_schedules, PublicEngine, times), compared=False)
    yield Case("plain trio.run, no choice", partial(_plain_runs, times), compared=False)


def floor_cases(effort: Effort) -> Iterator[Case]:
    """An execution under a schedule against the same program in a plain ``trio.run``.

    The primitives of structsync are checked after each step, and those of trio are not. A program that is
    cancelled does other things than one that is not (its tasks raise, and unwind), so an execution in which
    a scope is cancelled is the same program as a run in which that scope is cancelled after as many steps.
    """
    times = effort.of(100, 5)
    for program, name in (
        (checkpoints, "checkpoints"),
        (handing_over, "a channel of trio's"),
        (sharing(3), "3 tasks, 2 permits"),
        (sharing(5), "5 tasks, 2 permits"),
    ):
        subject = partial(_spent_on_schedules, LoopEngine, times, program)
        yield Case(name, partial(ratio, subject, partial(_spent_on_runs, times, program)))
    subject = partial(_spent_on_schedules, LoopEngine, times, counted_checkpoints, 1)
    reference = partial(_spent_on_cancelled_runs, _steps_before_the_cancellations(times))
    yield Case("checkpoints, 1 cancel", partial(ratio, subject, reference))
    reference = partial(_spent_on_runs, times)
    yield Case("the same / uncancelled runs", partial(ratio, subject, reference), compared=False)
    subject = partial(_spent_on_schedules, PublicEngine, times)
    reference = partial(_spent_on_runs, times)
    yield Case("the first in trio.run", partial(ratio, subject, reference), compared=False)


def completion_cases(effort: Effort) -> Iterator[Case]:
    """CPU seconds until everything was seen."""
    tasks = effort.of(4, 2)
    yield Case(f"{tasks} tasks, 2 permits, 1 cancel", partial(_until_complete, tasks, 1))
    yield Case("one more task", partial(_until_complete, tasks + 1, 1), compared=False)
    yield Case("one more cancel", partial(_until_complete, tasks, 2), compared=False)


def state_cases(effort: Effort) -> Iterator[Case]:
    """States per second, with everything that is done between two of them."""
    tasks = effort.of(4, 2)
    yield Case(f"{tasks} tasks, 2 permits, 1 cancel", partial(_states, tasks))


def execution_cases(effort: Effort) -> Iterator[Case]:
    """Executions per second of a search by states, its audit included."""
    tasks = effort.of(4, 2)
    yield Case(f"{tasks} tasks, 2 permits, 1 cancel", partial(_executions, tasks))
    yield Case("one more task", partial(_executions, tasks + 1))


def fingerprint_cases(effort: Effort) -> Iterator[Case]:
    """The part of the time that goes into telling states apart."""
    yield Case(f"{effort.of(4, 2)} tasks, 2 permits", partial(_share, effort.of(4, 2)))


def memory_cases(effort: Effort) -> Iterator[Case]:
    """Bytes that one state takes while the search lasts."""
    tasks = effort.of(4, 2)
    for hashing in ("128", "exact"):
        yield Case(f"hashing={hashing}", partial(_bytes_per_state, tasks, hashing))


# ==== the programs ====


async def checkpoints(in_each_step: Callable[[], object] = int) -> None:
    """No task waits for another: 756,756 schedules of which no two are alike."""

    async def task() -> None:
        for _ in range(4):
            in_each_step()
            await checkpoint()
        in_each_step()

    async with trio.open_nursery() as nursery:
        for _ in range(3):
            nursery.start_soon(task)


async def counted_checkpoints() -> None:
    """The same, with the steps of the tasks counted as where one of them cancels."""
    number = itertools.count(1)
    await checkpoints(lambda: next(number) == 0)


async def cancelled_checkpoints(steps: int) -> None:
    """The same, cancelled as a whole at the end of so many steps of the tasks, as a search does it."""
    number = itertools.count(1)
    with trio.CancelScope() as whole:
        await checkpoints(lambda: next(number) == steps and whole.cancel())


async def handing_over() -> None:
    """One task sends, and the other receives."""
    send, receive = trio.open_memory_channel[int](0)

    async def sends() -> None:
        async with send:
            for number in range(4):
                await send.send(number)

    async with trio.open_nursery() as nursery, receive:
        nursery.start_soon(sends)
        async for _ in receive:
            pass


def sharing(tasks: int) -> Program:
    """Return a program in which tasks share two permits."""

    async def share() -> None:
        semaphore = structsync.Semaphore(2, max_value=2)

        async def worker() -> None:
            async with semaphore:
                await checkpoint()

        async with trio.open_nursery() as nursery:
            for _ in range(tasks):
                nursery.start_soon(worker)

    return share


# ==== the figures ====


def _spent_on_schedules(
    engine: type[Engine], times: int, program: Program = checkpoints, cancels: int = 0
) -> float:
    settings = Settings(search="plain", cancels=cancels, executions=times)
    runs = Runs(lambda _: program(), settings, engine=engine)
    with runs.open():
        began = thread_time()
        search(runs)
        spent = thread_time() - began
    return spent * times / runs.executions  # a small program may have fewer schedules


def _steps_before_the_cancellations(times: int) -> list[int]:
    """Return after how many steps of the tasks each of these executions is cancelled; 0: it is not."""
    settings = Settings(search="plain", cancels=1, executions=times)
    runs, chooser = Runs(lambda _: counted_checkpoints(), settings), DepthFirst(None)
    found: list[int] = []
    with runs.open():
        for _ in range(times):
            chooser.begin()
            kinds = [choice.kind for choice in runs.execute(chooser).choices]
            # The first step is that of the test function, which starts the tasks.
            found.append(kinds.index("scope") - 1 if "scope" in kinds else 0)
            chooser.advance()
    return found


def _spent_on_cancelled_runs(steps: list[int]) -> float:
    began = thread_time()
    for number in steps:
        trio.run(cancelled_checkpoints, number)
    return thread_time() - began


def _spent_on_runs(times: int, program: Program = checkpoints) -> float:
    began = thread_time()
    for _ in range(times):
        trio.run(program)
    return thread_time() - began


def _schedules(engine: type[Engine], times: int) -> float:
    return times / _spent_on_schedules(engine, times)


def _plain_runs(times: int) -> float:
    return times / _spent_on_runs(times)


def _explored(tasks: int, cancels: int = 1, hashing: str = "128") -> tuple[Exploration, float]:
    began = thread_time()
    found = explore(
        sharing(tasks),
        cancels=cancels,
        cancel="tasks",
        search="states",  # which the default would not do where a program is small
        executions=None,
        hashing="exact" if hashing == "exact" else "128",
    )
    spent = thread_time() - began
    assert found.failure is None
    assert found.unfinished is None
    return found, spent


def _until_complete(tasks: int, cancels: int) -> float:
    return _explored(tasks, cancels)[1]


def _states(tasks: int) -> float:
    found, spent = _explored(tasks)
    return found.states / spent


def _executions(tasks: int) -> float:
    found, spent = _explored(tasks)
    return found.executions / spent


def _bytes_per_state(tasks: int, hashing: str) -> float:
    found, _ = _explored(tasks, hashing=hashing)
    return found.memory / found.states


def _share(tasks: int) -> float:
    inside = 0.0
    kind: Any = Fingerprinter
    intact = kind.__call__

    def timed(self: Fingerprinter, execution: Execution) -> bytes:
        nonlocal inside
        began = thread_time()
        try:
            return intact(self, execution)  # type: ignore[no-any-return]  # it is what it was
        finally:
            inside += thread_time() - began

    kind.__call__ = timed
    try:
        _, spent = _explored(tasks)
    finally:
        kind.__call__ = intact
    return inside / spent

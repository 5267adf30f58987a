"""How the tests of this folder are explored: all schedules, and any task cancelled anywhere."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import pytest
import trio

from structsync import Lock
from structsync.testing import Exploration, ExploredRun, Failure, explore
from structsync.testing._search import audit

#: The test proper: it takes the handle and the number of tasks that it is to start.
Program: TypeAlias = Callable[[ExploredRun, int], Awaitable[None]]


class Size(NamedTuple):
    """How many tasks there are, and how many cancellations at most."""

    tasks: int
    cancels: int

    def __str__(self) -> str:
        return f"{self.tasks}x{self.cancels}"


def is_small(size: Size) -> bool:
    """Return whether the gate has the time for this; the night has for others."""
    return size.tasks <= 3 and size.cancels <= 1


#: Other sizes for a longer search, such as ``5x1 4x2``: tasks x cancellations.
ASKED = os.environ.get("STRUCTSYNC_SCHEDULES") or None

#: A cancellation may undo what another one handed on, to a third task: three tasks and two of them
#: cancelled. With a fourth there are two in the queue behind two, or a queue of three.
SIZES = tuple(Size(*map(int, one.split("x"))) for one in (ASKED or "3x2 4x1").split())

#: One cancellation finds every fault that is planted, in a third of the time that two take. So it is two
#: by night, and in the gate where a test asks for it: one of each way in which something is handed on.
GATE = Size(3, 1)
TWICE = Size(3, 2)

#: Where three tasks take many seconds, they are left to the night, and the gate starts two. The planted faults are
#: looked for among three in the gate, too; that search ends at the fault.
PAIR = Size(2, 1)

#: Where time is explored each task has a deadline of its own, so no two tasks are alike, and each
#: deadline that fires early is one more cancellation.
TIMED = (Size(2, 1), Size(3, 0))

#: What a search by states looks at again before it confirms, in the gate: one merge in forty and one
#: schedule for forty executions, and so many at least. More than a hundred sweeps make many of each, and
#: with the amounts of a single search they would take 1.4 times as long. The sizes of the night keep these.
AUDITED = {"SHARE": 40, "FEWEST_MERGES": 5, "FEWEST_SCHEDULES": 10}


@dataclass(frozen=True)
class Sweep:
    """A program and how it is explored."""

    program: Program
    settings: dict[str, Any]

    def explore(self, size: Size) -> Exploration:
        """Explore the program to the end, whatever that takes."""

        async def test(x: ExploredRun) -> None:
            await self.program(x, size.tasks)

        test.__qualname__ = self.program.__name__
        asked: dict[str, Any] = {
            "search": "states",  # how many there are is judged below
            "cancel": "tasks",
            "exhaustive": True,
            "executions": None,
        } | self.settings
        with pytest.MonkeyPatch.context() as patch:
            for name, amount in AUDITED.items() if is_small(size) and ASKED is None else ():
                patch.setattr(audit, name, amount)
            return explore(test, cancels=size.cancels, **asked)


#: What each test of the folder explores, for those who explore it with a fault.
SWEPT: dict[Callable[[Size], None], Sweep] = {}

#: For the summary: what was explored so far, and each planted fault that a test has found.
DONE: list[Exploration] = []
FOUND: list[tuple[str, str, Failure]] = []


def swept(
    *,
    least: int,
    sizes: tuple[Size, ...] = SIZES,
    twice: bool = False,
    long: bool = False,
    **settings: Any,
) -> Callable[[Program], Callable[[Size], None]]:
    """Make a test that demands of a program to hold in all schedules.

    Args:
      least: three tasks and two cancellations have so many states at least, with one cancellation
          a third. A program in which no task ever waits for any task is explored in no time, and says
          nothing.
      sizes: how many tasks and cancellations; four tasks and two cancellations are left to the night.
      twice: the gate cancels twice.
      long: the gate starts two tasks only, which have a tenth of the states at least.
      settings: of the exploration, where they are not those of this folder.
    """

    asked = [(one, is_small(one) or (twice and one == TWICE)) for one in sizes]
    if TWICE in sizes and not twice and ASKED is None:
        asked.insert(0, (GATE, True))
    if long and ASKED is None:
        asked = [(PAIR, True), *((one, False) for one, _ in asked if one != PAIR)]

    def decorate(program: Program) -> Callable[[Size], None]:
        @pytest.mark.parametrize(
            "size",
            [
                pytest.param(one, id=str(one), marks=[] if in_gate else [pytest.mark.nightly])
                for one, in_gate in asked
            ],
        )
        def test(size: Size) -> None:
            found = SWEPT[test].explore(size)
            found.check()
            DONE.append(found)
            fewest = least // 3 if size == GATE and TWICE in sizes else least
            if size == PAIR and long:
                fewest = least // 10
            assert found.states >= fewest, f"there is not much to explore: {found.covered}"

        test.__name__ = program.__name__
        test.__doc__ = program.__doc__
        test.__module__ = program.__module__
        SWEPT[test] = Sweep(program, settings)
        return test

    return decorate


async def together(*tasks: Callable[[], Awaitable[object]]) -> None:
    """Run tasks to their ends."""
    async with trio.open_nursery() as nursery:
        for task in tasks:
            nursery.start_soon(task)


def forgive(lock: Lock) -> None:
    """Leave a lock as it is although its owner has ended, which is the point of the test.

    At the end of a program the explorer takes it for a leak, as it should.
    """
    lock._core.owner = None


def told(*, in_full: bool) -> str:
    """Return how much was explored: in a queue each, or in one line for each program and fault too."""
    queues = []
    if in_full:
        queues += [f"{one.seconds:7.1f} s  {one.test}: {one.covered}" for one in DONE]
        queues += [
            f"{one.execution:9}  {plant}, by {test}: {one.kind}" for plant, test, one in FOUND
        ]
    states, executions = sum(one.states for one in DONE), sum(one.executions for one in DONE)
    merges = sum(one.merges_audited for one in DONE)
    schedules = sum(one.schedules_audited for one in DONE)
    seconds = sum(one.seconds for one in DONE)
    size = f"{states:,} states, {executions:,} executions, {seconds:,.0f} s"
    queues.append(f"{len(DONE)} searches to their ends: {size}")
    queues.append(f"audited: {merges:,} merges, {schedules:,} schedules")
    if FOUND:
        at = [one.execution for *_, one in FOUND]
        queues.append(f"{len(FOUND)} planted faults found, at the latest by execution {max(at)}")
    return "\n".join(queues)

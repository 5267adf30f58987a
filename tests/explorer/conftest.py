"""What the tests of the explorer's own parts share: small programs, and single executions.

``run_once`` runs a program under a schedule that the test gives, on either engine, with everything
round it that a search has, and hands back the engine, which remembers what happened.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from textwrap import dedent
from typing import Any, Literal, TypeAlias

import pytest
import trio

import structsync
from structsync.testing import Failure, Settings, explore
from structsync.testing._execution.engine import Engine
from structsync.testing._execution.execution import Chooser, Execution
from structsync.testing._execution.loop_engine import LoopEngine
from structsync.testing._execution.public_engine import PublicEngine
from structsync.testing._execution.schedule import Choice
from structsync.testing._exploration import with_handle
from structsync.testing._search.choosers import Prefix, Trace
from structsync.testing._search.result import Outcomes
from structsync.testing._search.runs import Runs
from structsync.testing._search.search import explore_outcomes
from structsync.testing._state import global_variables
from structsync.testing._state.fingerprint import Fingerprinter

Program: TypeAlias = Callable[..., Awaitable[object]]

ENGINES: tuple[type[Engine], ...] = (LoopEngine, PublicEngine)


@pytest.fixture(params=ENGINES, ids=["loop", "public"])
def kind(request: pytest.FixtureRequest) -> type[Engine]:
    """Each of the two engines."""
    found: type[Engine] = request.param
    return found


@pytest.fixture
def blind(monkeypatch: pytest.MonkeyPatch) -> None:
    """No name that code can use is a part of the state."""
    monkeypatch.setattr(global_variables.Bindings, "__call__", lambda self: [])


def run_once(
    program: Program,
    chooser: Chooser | None = None,
    *,
    kind: type[Engine] = LoopEngine,
    **settings: Any,
) -> Engine:
    """Run a program once, first in, first out unless another task chooses."""
    runs = Runs(with_handle(program), Settings(**settings), engine=kind)
    with runs.open():
        return runs.execute(chooser or Prefix((), go_on=True))


def texts(choices: Sequence[Choice]) -> list[str]:
    """Choices as they stand in messages."""
    return [str(one) for one in choices]


def workers(count: int) -> Program:
    """The program of the design's tables: so many workers take one permit, each once."""

    async def program() -> None:
        semaphore = trio.Semaphore(1)

        async def worker() -> None:
            async with semaphore:
                await trio.lowlevel.checkpoint()

        async with trio.open_nursery() as nursery:
            for _ in range(count):
                nursery.start_soon(worker)

    return program


def twice(act: Callable[[], object]) -> Callable[[], Awaitable[None]]:
    """Return a program in which each of two tasks does something after a checkpoint."""

    async def program() -> None:
        async def worker() -> None:
            await trio.lowlevel.checkpoint()
            act()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(worker)
            nursery.start_soon(worker)

    return program


async def abba() -> None:
    """The smallest deadlock: two locks, taken in either order."""
    left, right = trio.Lock(), trio.Lock()

    async def worker(first: trio.Lock, second: trio.Lock) -> None:
        async with first, second:
            pass

    async with trio.open_nursery() as nursery:
        nursery.start_soon(worker, left, right)
        nursery.start_soon(worker, right, left)


async def two_checkpoints() -> None:
    """Two tasks that have nothing to do with each other: something to choose, nothing wrong."""
    async with trio.open_nursery() as nursery:
        nursery.start_soon(trio.lowlevel.checkpoint)
        nursery.start_soon(trio.lowlevel.checkpoint)


def python(program: str, *flags: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run a program in an interpreter of its own that imports structsync from where we did."""
    ours = {"PYTHONPATH": str(Path(structsync.__file__).parents[1])}
    return subprocess.run(
        [sys.executable, *flags, "-c", dedent(program)],
        env={**os.environ, **ours},
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
    )


class FingerprintTrace(Trace):
    """Takes the fingerprint of each state on the way."""

    def __init__(self, symmetry: bool) -> None:
        super().__init__()
        self._look = Fingerprinter(symmetry=symmetry, exact=True)
        self.seen: list[bytes] = []

    def choose(self, execution: Execution, options: Any) -> Any:
        self.seen.append(self._look(execution))
        return super().choose(execution, options)


def states(program: Program, *, symmetry: bool = True, **settings: Any) -> list[bytes]:
    """The fingerprints of all states of the first-in-first-out execution."""
    trace = FingerprintTrace(symmetry)
    engine = run_once(program, trace, **settings)
    assert engine.ending is not None
    assert engine.ending.kind == "passed", engine.ending
    return trace.seen


def failure_of(program: Program, **settings: Any) -> Failure:
    """How a program fails, without cancellations unless the test wants some."""
    failure = explore(program, **{"cancels": 0, **settings}).failure
    assert failure is not None
    return failure


# ==== two engines ====


def outcomes(program: Program, engine: Literal["loop", "public"], **settings: Any) -> Outcomes:
    """All traces of a program, each with how it ended."""
    asked = Settings(search="plain", executions=None, **settings)
    return explore_outcomes(with_handle(program), asked, engine)


def label(value: object) -> str | None:
    """Name a case of a table by its program and its settings."""
    if isinstance(value, dict):
        return ",".join(f"{name}={one}" for name, one in value.items()) or "plain"
    return getattr(value, "__name__", None)


def check_the_engines_agree(program: Program, settings: dict[str, Any]) -> None:
    asked = {"cancels": 0, **settings}
    loop, public = outcomes(program, "loop", **asked), outcomes(program, "public", **asked)
    assert loop.complete
    assert public.complete
    assert loop.executions == public.executions
    assert loop.traces == public.traces


# ==== differences between two states ====

Side: TypeAlias = Program


class NoState:
    """Says that nothing in it belongs to the state, so that it can say which side to take."""

    disabled = False

    def __explore_state__(self) -> object:
        return "the same in each state"


HIDDEN = NoState()


def other() -> bool:
    """Which of the two sides of a difference to take."""
    return HIDDEN.disabled


class Differences:
    """Collects the differences of one file; a decorator."""

    def __init__(self) -> None:
        self.sides: list[Side] = []

    def __call__(self, side: Side) -> Side:
        self.sides.append(side)
        return side

    def __explore_state__(self) -> object:
        return "which differences there are is no part of any of them"


def _states_of(side: Side, which: bool, symmetry: bool) -> list[bytes]:
    HIDDEN.disabled = which
    states(side, symmetry=symmetry)  # global variables are as the execution before has left them
    return states(side, symmetry=symmetry)


def check_it_differs(side: Side, symmetry: bool) -> None:
    one, two = _states_of(side, False, symmetry), _states_of(side, True, symmetry)
    assert len(one) == len(two), "the two sides are to stand at the same place"
    assert one != two, f"{side.__name__} makes no difference"


def check_it_repeats(side: Side, which: bool) -> None:
    assert _states_of(side, which, symmetry=True) == states(side)

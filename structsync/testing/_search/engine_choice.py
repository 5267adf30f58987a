"""Which engine runs a test: the fast one, if it agrees with the reference on this trio."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import trio

from structsync.testing._execution.engine import Engine
from structsync.testing._execution.handle import ExploredRun
from structsync.testing._execution.public_engine import PublicEngine
from structsync.testing._execution.scheduled import guarded
from structsync.testing._settings import Settings
from structsync.testing._state import expanders, identity

from .choosers import DepthFirst

if TYPE_CHECKING:
    from types import ModuleType

# Of what the explorer itself puts round the program: what the test function has returned, and the scopes.
# The one round all of it belongs to the task of the test function: a walk finds it there.
identity.keep(
    {Engine.main.__code__: ("value", identity.AWAITED), guarded.__code__: ("coro", "scope")}
)

try:
    from structsync.testing._execution import loop_engine, runner
except Exception as error:  # noqa: BLE001 - whatever a trio of the future has moved or removed
    loop_engine: ModuleType | None = None  # type: ignore[no-redef]
    runner: ModuleType | None = None  # type: ignore[no-redef]
    _missing: str | None = f"{type(error).__name__}: {error}"
else:
    _missing = None
    identity.DERIVED.update(runner.DERIVED)
    identity.keep(runner.KEPT)
    expanders.CONSTANT.update(runner.ONE_EACH)
    expanders.EXPANDERS.update(runner.EXPANDERS)


@functools.cache
def chosen() -> tuple[type[Engine], str | None]:
    """Return the engine to use, and why it is not the fast one, if it is not."""
    if loop_engine is None:
        return PublicEngine, _missing
    fast = loop_engine.LoopEngine
    try:
        difference = _disagreement(fast)
    except Exception as error:  # noqa: BLE001 - a broken engine is what this looks for
        difference = f"{type(error).__name__}: {error}"
    return (PublicEngine, difference) if difference else (fast, None)


@contextlib.contextmanager
def same_order_in_sets() -> Iterator[None]:
    """Make trio's sets iterate alike in each execution, as far as that is possible here."""
    if runner is None:
        yield
        return
    with runner.same_order_in_sets():
        yield


def start_over() -> None:
    """Forget the objects of the last execution."""
    expanders.start_over()
    if runner is not None:
        runner.start_over()


def _disagreement(fast: type[Engine]) -> str | None:
    """Run small programs on both engines, in all schedules; say where they differ, if they do."""
    for program, settings in _PROGRAMS:
        loop = _traces(fast, program, settings)
        public = _traces(PublicEngine, program, settings)
        if loop != public:
            return f"the engines disagree about {program.__name__} with trio {trio.__version__}"
    return None


def _traces(kind: type[Engine], program: Any, settings: Settings) -> set[tuple[Any, ...]]:
    search = DepthFirst(None)
    found: set[tuple[Any, ...]] = set()
    with same_order_in_sets():
        while True:
            start_over()
            search.begin()
            engine = kind(settings, search, ExploredRun())
            ending = engine.run(program)
            if isinstance(ending.error, KeyboardInterrupt):
                raise KeyboardInterrupt
            found.add((*engine.choices, ending.kind, repr(ending.value)))
            if not search.advance():
                return found


async def _two_at_an_event(x: ExploredRun) -> list[str]:
    event, log = trio.Event(), list[str]()

    async def waits(name: str) -> None:
        await event.wait()
        log.append(name)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(waits, "a")
        nursery.start_soon(waits, "b")
        await trio.lowlevel.checkpoint()
        event.set()
    return log


async def _a_lock_and_a_cancellation(x: ExploredRun) -> list[str]:
    lock, log = trio.Lock(), list[str]()

    async def works(name: str) -> None:
        async with lock:
            await trio.lowlevel.checkpoint()
            log.append(name)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(works, "a")
        nursery.start_soon(works, "b")
    return log


async def _time_runs_out(x: ExploredRun) -> list[object]:
    log: list[object] = []
    with trio.move_on_after(2) as scope:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(trio.sleep, 1)
            await trio.sleep(3)
    log.append((scope.cancelled_caught, trio.current_time()))
    return log


_PROGRAMS: tuple[tuple[Any, Settings], ...] = (
    (_two_at_an_event, Settings(cancels=0)),
    (_two_at_an_event, Settings(cancels=0, order="trio")),
    (_a_lock_and_a_cancellation, Settings(cancels=1, cancel="tasks")),
    (_time_runs_out, Settings(cancels=1, clock="explore")),
)

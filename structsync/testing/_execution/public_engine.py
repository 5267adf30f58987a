"""The reference engine: a schedule inside the real ``trio.run``, by public names alone.

Each task stops at a gate before each of its steps. When all tasks are at their gates or blocked,
trio asks the clock how long to sleep; that is where the next choice is made, and the gate of one
task opened.
"""

from __future__ import annotations

import types
from collections.abc import Coroutine, Generator, Sequence
from math import inf
from typing import Any, cast

import outcome
import trio
from trio.lowlevel import Abort, Task

from .current import release
from .engine import Engine
from .execution import Abandoned, AsyncTest, Ending, VirtualClock, close_for_good
from .frames import frames_of

#: Long enough for ``wait_all_tasks_blocked()`` to notice that nothing happens.
IDLE = 1e-9


class PublicEngine(Engine):
    """Runs a test in ``trio.run``, opening one gate at a time."""

    def prepare(self) -> None:
        """Make what an execution needs."""
        self.clock: _DrivenClock = _DrivenClock(self)
        self._deadline = inf
        self._inner: dict[Task, Any] = {}
        self._at_gate: dict[Task, object] = {}
        self._idled = False
        self._is_quiet = False
        self.dropped = False
        self._alive: set[Task] = set()

    def run(self, test: AsyncTest) -> Ending:
        self.prepare()
        try:
            trio.run(self.main, test, clock=self.clock, instruments=[self])
        except trio.TrioInternalError as error:
            self.trio_gave_up(error)
        except BaseException:
            if self.ending is None:
                raise
        finally:
            release(self)
        assert self.ending is not None, "an execution ended without an ending"
        return self.ending

    def _adopt(self, task: Task) -> None:
        self._inner[task] = task.coro
        self._alive.add(task)
        task.coro = cast(Any, _gated(self, task, task.coro))

    def task_exited(self, task: Task) -> None:
        self._alive.discard(task)

    def arrived(self, task: Task, value: object) -> None:
        """Note that a task wants to run and what it was woken with."""
        self._at_gate[task] = value
        if self._is_quiet:
            self.roused.add(task)
        self._idled = False
        self.woken(task)

    def sleep_time(self, deadline: float) -> float:
        """Make the next choice; return how long trio is to sleep."""
        self._deadline = deadline
        if not self._alive:
            return inf  # trio shuts down, and wakes itself
        if deadline <= self.clock.now:
            return 0  # trio lets it fire before anything runs
        if self.dropped:
            self._open_all()
            return 0
        if trio.lowlevel.current_statistics().run_sync_soon_queue_size:
            return IDLE
        if not self.pool and not self._woken and not self._idled:
            self._idled = self._is_quiet = True
            return self._patience() + IDLE
        self._is_quiet = False
        task = self.decide()
        if task is not None:
            self._idled = False
            del self._at_gate[task]
            trio.lowlevel.reschedule(task)
        return 0

    def _patience(self) -> float:
        """Return for how long nothing is to happen before ``wait_all_tasks_blocked()`` returns."""
        cushions = [
            frame.f_locals["cushion"]
            for task in self.blocked()
            for frame in frames_of(self._inner[task])
            if frame.f_code.co_name == "wait_all_tasks_blocked"
        ]
        return 2 * min(cushions, default=0.0)

    def heard(self, trap: Any) -> object:
        """Return the same trap, of which it is noted if trio aborts the wait."""
        abort = getattr(trap, "abort_func", None)
        return trap if abort is None else type(trap)(self._aborts.heard(abort))

    def _is_in_a_cancelled_scope(self, task: Task) -> bool:
        return True

    def pending_of(self, task: Task) -> object:
        return self._at_gate.get(task)

    def coroutine_of(self, task: Task) -> Any:
        return self._inner[task]

    def _next_deadline(self) -> float:
        return self._deadline

    def _expire(self) -> None:
        """Nothing: trio looks at the clock itself, right after the choice."""

    def is_alive(self, task: Task) -> bool:
        return task in self._alive

    def extra_of(self, task: Task) -> Sequence[object]:
        return ()

    def _drop(self) -> None:
        self.dropped = True
        for task in self.blocked():
            if not any(nursery.child_tasks for nursery in task.child_nurseries):
                trio.lowlevel.reschedule(task, outcome.Error(Abandoned()))
        self._open_all()

    def _open_all(self) -> None:
        for task in [*self._at_gate]:
            trio.lowlevel.reschedule(task)
        self._at_gate.clear()
        self.pool.clear()
        self._woken.clear()


class _DrivenClock(VirtualClock):
    """A clock that is asked for the time to sleep exactly when no task can run."""

    def __init__(self, engine: PublicEngine) -> None:
        super().__init__()
        self._engine = engine

    def deadline_to_sleep_time(self, deadline: float) -> float:
        return self._engine.sleep_time(deadline)


async def _gated(engine: PublicEngine, task: Task, coro: Coroutine[Any, Any, Any]) -> Any:
    value: Any = None
    error: BaseException | None = None
    while True:
        engine.arrived(task, value)
        await trio.lowlevel.wait_task_rescheduled(_stay)
        if engine.dropped:
            close_for_good(coro)
            return None
        try:
            trap = engine.heard(coro.send(value) if error is None else coro.throw(error))
        except StopIteration as stop:
            return stop.value
        error = None
        try:
            value = await _hand_over(trap)
        except GeneratorExit:
            close_for_good(coro)
            raise
        except BaseException as thrown:  # noqa: BLE001 - it is the coroutine's, not ours
            error = thrown


@types.coroutine
def _hand_over(trap: object) -> Generator[object, Any, Any]:
    return (yield trap)


def _stay(_: object) -> Abort:
    return Abort.FAILED

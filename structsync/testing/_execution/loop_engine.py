"""The fast engine: a loop of its own round trio's real ``Runner``, tasks, nurseries and scopes.

It and :mod:`.runner` are the only modules of structsync that use private names of trio; they are the
same in trio 0.27 to 0.35. The search tries them out against the engine that uses public names alone,
and where the two disagree, or a name is missing, that one is used for everything.

What is left out of trio's own loop is what a schedule has no choice about: signals, sockets and
the real time.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Sequence
from math import inf
from typing import Any

import outcome
import trio
from sniffio import thread_local as sniffio_library
from trio._core import _parking_lot, _run
from trio.lowlevel import Task

from .addresses import address_of
from .current import release
from .engine import Engine
from .execution import AsyncTest, Ending, close_for_good
from .runner import (
    CHECKPOINT,
    NOTHING,
    age_of_oldest,
    goes_on,
    handle_trap,
    is_cancelled,
    let_go,
    new_runner,
)

_RUN_CONTEXT = _run.GLOBAL_RUN_CONTEXT


class LoopEngine(Engine):
    """Steps the tasks of a ``Runner`` one at a time."""

    __slots__ = (
        "_generators",
        "_instruments",
        "_internal",
        "_runner",
        "_step_context",
        "_waiting_for_idle",
        "paused",
    )
    _runner: _run.Runner

    def run(self, test: AsyncTest) -> Ending:
        self.begin(test)
        try:
            self.proceed()
        finally:
            self.close()
        assert self.ending is not None, "an execution ended without an ending"
        return self.ending

    def begin(self, test: AsyncTest) -> None:
        """Prepare the execution; what follows takes place in :meth:`proceed`."""
        self.scopes.is_cancelled = is_cancelled
        self._runner = runner = new_runner(self, self.clock, self.start_entry_task)
        self.paused = False
        """Set to get the control back between two steps."""
        self._internal: list[Task] = []
        self._generators: list[object] = []
        self._instruments: object = runner.instruments
        # trio puts another one in its place where it is long; this one then stays long, and is no news.
        self._timers = runner.deadlines._heap
        self._waiting_for_idle: Collection[object] = runner.waiting_for_idle
        runner.asyncgens.install_hooks(runner)
        runner.init_task = runner.spawn_impl(self._init, (test,), None, "<init>", system_task=True)

    def proceed(self) -> None:
        """Go on until the execution is over, or paused."""
        _RUN_CONTEXT.runner = runner = self._runner
        self._step_context = _RUN_CONTEXT.__dict__  # of this thread
        previous, sniffio_library.name = sniffio_library.name, "trio"
        try:
            tasks, runq, internal = runner.tasks, runner.runq, self._internal
            decide, step = self.decide, self._step
            while tasks and not self.paused:
                if runq:
                    self._drain()
                if internal:
                    step(internal.pop(0))
                elif (task := decide()) is not None:
                    step(task)
        except trio.TrioInternalError as error:
            self.trio_gave_up(error)
            runner.tasks.clear()
        finally:
            _RUN_CONTEXT.__dict__.clear()
            sniffio_library.name = previous

    def close(self) -> None:
        """Clear away what is left of the execution."""
        release(self)
        if self._runner.tasks:  # given up, or this engine does not fit this trio
            self._drop()
        self._runner.asyncgens.close()
        let_go(self._runner)
        self._instruments = None
        self._generators = []
        self.handle._let_go()

    async def _init(self, test: AsyncTest) -> None:
        """Stand in for ``Runner.init``, which needs sockets to shut down.

        One nursery is enough for the test and for the tasks of the system, since the test knows when it ends.
        """
        runner = self._runner
        try:
            async with trio.open_nursery() as runner.system_nursery:
                runner.main_task = runner.spawn_impl(
                    self.main, (test,), runner.system_nursery, None
                )
            self.finished = True
        except BaseException as error:  # noqa: BLE001 - of a system task; trio.run would raise it
            self.crashed(error)
        if runner.asyncgens.alive or runner.entry_queue.size():
            runner.entry_queue.done = False
            async with trio.open_nursery() as nursery:
                self._start_entry_task(nursery)
                await runner.asyncgens.finalize_remaining(runner)
                nursery.cancel_scope.cancel()

    def end(self, ending: Ending) -> None:
        if self.ending is None and self._runner.asyncgens.alive:
            # While the tasks unwind none of them is to die with a complaint: they are closed after that.
            self._generators = [*self._runner.asyncgens.alive]
        super().end(ending)

    def test_has_ended(self) -> None:
        system = self._runner.system_nursery
        assert system is not None
        if len(system._children) > 1:  # with the task that is just ending
            system.cancel_scope.cancel()

    def start_entry_task(self) -> bool:
        """Start the task behind ``run_sync_soon``, if it is not too early or too late for it."""
        nursery = self._runner.system_nursery
        if self.finished or nursery is None:
            return False
        self._start_entry_task(nursery)
        return True

    def _start_entry_task(self, nursery: trio.Nursery) -> None:
        self._runner.spawn_impl(
            self._runner.entry_queue.task,
            (),
            nursery,
            "<TrioToken.run_sync_soon task>",
            system_task=True,
        )

    def _drain(self) -> None:
        """Take over whatever became runnable."""
        runq, named, woken = self._runner.runq, self._runs, self._woken
        while runq:
            task = runq.popleft()
            (woken if address_of(task) in named else self._internal).append(task)

    def _step(self, task: Task) -> None:
        """Run a task until its next trap, as trio's ``unrolled_run`` does."""
        runner = self._runner
        context = self._step_context
        context["task"] = task
        send, value = task._next_send_fn, task._next_send
        assert send is not None
        task._next_send_fn = task._next_send = None
        final: outcome.Outcome[object] | None = None
        trap: object = None
        try:
            trap = task.context.run(send, value)
        except StopIteration as stop:
            final = outcome.Value(stop.value)
        except BaseException as error:  # noqa: BLE001 - whatever a task raises is its outcome
            final = outcome.Error(error)
        try:
            if final is not None:
                runner.task_exited(task, final)
            elif trap is CHECKPOINT and runner.instruments is self._instruments:
                goes_on(task)
                (self._woken if address_of(task) in self._runs else self._internal).append(task)
            else:
                handle_trap(runner, task, trap, self._aborts.heard)
        except Exception as error:
            raise trio.TrioInternalError("raised in trio's own step, as in trio.run") from error
        # The frames in the traceback of an error lead here: no reference cycle is left to the collector.
        final = value = None
        del context["task"]

    def pending_of(self, task: Task) -> object:
        pending = task._next_send
        return None if pending is NOTHING else pending

    def coroutine_of(self, task: Task) -> Any:
        return task.coro

    def _next_deadline(self) -> float:
        deadlines = self._runner.deadlines
        return deadlines.next_deadline() if deadlines._heap else inf

    def _expire(self) -> None:
        # Scopes with equal deadlines fire in the order of their addresses; let it be that of the
        # ages of the tasks inside, which is the same in each execution.
        heap = self._runner.deadlines._heap
        ordered = sorted(heap, key=lambda one: (one[0], self._inside(one[2])))
        heap[:] = [(deadline, place, scope) for place, (deadline, _, scope) in enumerate(ordered)]
        heapq.heapify(heap)
        self._runner.deadlines.expire(self.clock.now)

    def _is_in_a_cancelled_scope(self, task: Task) -> bool:
        return task._cancel_status.effectively_cancelled

    def _inside(self, scope: trio.CancelScope) -> tuple[float, int]:
        """Return the age of the oldest task in a scope, and how deep it is nested."""
        status, depth = scope._cancel_status, 0
        oldest = inf if status is None else age_of_oldest(status)
        while status is not None:
            status, depth = status._parent, depth + 1
        return oldest, depth

    def decide(self) -> Task | None:
        if self._waiting_for_idle and self.ending is None and self._is_quiet():
            self._wake_idle()
            return None
        return super().decide()

    def _is_quiet(self) -> bool:
        return not self.pool and not self._woken and self._next_deadline() > self.clock.now

    def _wake_idle(self) -> None:
        """Let tasks go on that wait until all tasks are blocked, as many as trio would."""
        waiting = self._runner.waiting_for_idle
        cushion = min(waiting)[0]
        for key in [one for one in waiting if one[0] == cushion]:
            task = waiting.pop(key)
            self.roused.add(task)
            self._runner.reschedule(task)

    def is_alive(self, task: Task) -> bool:
        return task in self._runner.tasks

    def extra_of(self, task: Task) -> Sequence[object]:
        # Without a way to abort, a pending cancellation has been tried on this wait already.
        breakers = _parking_lot.GLOBAL_PARKING_LOT_BREAKER
        return (task._abort_func is None, *(breakers.get(task, ()) if breakers else ()))

    def run_variables(self) -> object:
        return self._runner._locals

    def _drop(self) -> None:
        tasks = [*self._runner.tasks]
        for task in tasks:
            _parking_lot.GLOBAL_PARKING_LOT_BREAKER.pop(task, None)
            for nursery in task._child_nurseries:
                nursery._children.clear()
        for task in tasks:
            close_for_good(task.coro)
        self._runner.tasks.clear()

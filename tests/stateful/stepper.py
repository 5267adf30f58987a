"""A trio run that stands still between the rules of a state machine.

Hypothesis calls the rules of a machine one after the other, from synchronous code; the tasks of a
trio program live on in between. So the machine is the host of a guest run: a step hands an order to
the run and then plays the host's loop, on this thread, until every task is parked again. The driver
is never parked between two steps: so trio never waits for I/O, for which it would leave the thread;
and a step is as deterministic as trio's scheduler, whose random numbers Hypothesis seeds.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from queue import SimpleQueue
from typing import TypeVar

import outcome
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

T = TypeVar("T")
Call = Callable[[], Awaitable[object]]


class Stepper:
    """A run with a mock clock that moves in :meth:`step` only."""

    def __init__(self) -> None:
        self.clock = MockClock()
        self.actors: list[Actor] = []
        self.unkillable: list[str] = []
        self._host: SimpleQueue[Callable[[], object]] = SimpleQueue()
        self._ended: outcome.Outcome[None] | None = None
        self._settled = False
        self._ending = False
        self._order: Callable[[], object] | None = None
        trio.lowlevel.start_guest_run(
            self._main,
            run_sync_soon_threadsafe=self._host.put,
            done_callback=self._done,
            host_uses_signal_set_wakeup_fd=True,
            clock=self.clock,
        )
        self._play(lambda: self._settled)

    def step(self, order: Callable[[], T]) -> T:
        """Carry out the order in one step of the run, then let all tasks run until they park."""
        results: list[outcome.Outcome[T]] = []
        self._settled = False
        self._order = lambda: results.append(outcome.capture(order))
        self._play(lambda: self._settled)
        return results[0].unwrap()

    def end(self) -> None:
        """Cancel every task and end the run."""
        if self._ended is None:
            self._ending = True
            self._play(lambda: self._ended is not None)
        assert self._ended is not None
        self._ended.unwrap()
        assert not self.unkillable

    def _play(self, enough: Callable[[], bool]) -> None:
        while not enough():
            if self._ended is not None:
                self._ended.unwrap()
                raise AssertionError("the run ended by itself")
            # A run that neither settles nor ends would be a busy loop; this is its alarm.
            self._host.get(timeout=30)()

    def _done(self, ended: outcome.Outcome[None]) -> None:
        self._ended = ended

    async def _main(self) -> None:
        trio.lowlevel.current_task().name = "driver"
        async with trio.open_nursery() as self.nursery:
            self._settled = True
            while not self._ending:
                order, self._order = self._order, None
                if order is None:  # the host plays on when it has one
                    await trio.lowlevel.checkpoint()
                else:
                    order()
                    await wait_all_tasks_blocked()
                    self._settled = True
            self.nursery.cancel_scope.cancel()
            with trio.CancelScope(shield=True):
                await wait_all_tasks_blocked()
            # A fault may leave a task that no cancellation reaches; the run must end all the same,
            # or this thread could never have another one.
            self.unkillable = [actor.name for actor in self.actors if not actor.ended]
            for actor in self.actors:
                if not actor.ended:
                    trio.lowlevel.reschedule(actor.task, outcome.Error(Unkillable()))


class Unkillable(Exception):
    """Thrown into a task that a cancellation did not end."""


class Actor:
    """A task that does what it is told, one call at a time, each in a cancel scope of its own.

    ``outcome`` says how the latest call ended: ``returned``, ``cancelled`` or the error's name;
    ``blocked`` until then.
    """

    def __init__(self, stepper: Stepper, name: str) -> None:
        self.name = name
        self.outcome = "returned"
        self.ended = False
        self.scope = trio.CancelScope()
        stepper.actors.append(self)
        self._calls, self._inbox = trio.open_memory_channel[Call](math.inf)
        stepper.nursery.start_soon(self._live, name=name)

    def call(self, call: Call, deadline: float = math.inf) -> None:
        """Make the call in the task; it starts in this step."""
        assert self.outcome != "blocked"
        self.outcome = "blocked"
        self.scope = trio.CancelScope(deadline=deadline)
        self._calls.send_nowait(call)

    def exit(self) -> None:
        """End the task, whatever it owns."""
        self._calls.close()

    async def _live(self) -> None:
        self.task = trio.lowlevel.current_task()
        try:
            await self._obey()
        finally:
            self.ended = True

    async def _obey(self) -> None:
        async for call in self._inbox:
            try:
                with self.scope:
                    await call()
                self.outcome = "cancelled" if self.scope.cancelled_caught else "returned"
            except Exception as error:  # noqa: BLE001 - every error is an outcome to compare
                self.outcome = type(error).__name__

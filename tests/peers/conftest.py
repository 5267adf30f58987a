"""What the recipes of this folder share: both run orders, tasks to watch, and steps of two acts.

Grant order is not run order: trio runs the tasks that one step made runnable in the order of their
arrival or in the opposite one, by chance. So every test here runs under both, and reads grants off
the state of the primitive or off the way in which a task ended, never off who ran first.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

Act: TypeAlias = Callable[[], object]


class OneOrder(random.Random):
    """What trio tosses its coin with, always falling on the same side."""

    def __init__(self, toss: float) -> None:
        super().__init__()
        self.toss = toss

    def random(self) -> float:
        return self.toss


@pytest.fixture(params=["arrival", "reversed"], autouse=True)
def run_order(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Which order trio runs each batch of tasks in."""
    order = str(request.param)
    toss = OneOrder(0.0 if order == "arrival" else 0.9)
    monkeypatch.setattr("trio._core._run._r", toss)
    # Where Hypothesis is loaded it sorts the batch first, which would hide the order of arrival.
    monkeypatch.setattr("trio._core._run._ALLOW_DETERMINISTIC_SCHEDULING", False)
    return order


class Waiter:
    """A task that awaits one operation, stays alive after it, and can be told to act."""

    def __init__(self) -> None:
        self.scope = trio.CancelScope()  # round the operation alone
        self.ended = "waiting"  # then "done", "cancelled" or the name of an error
        self.error: BaseException | None = None
        self.task: trio.lowlevel.Task | None = None
        self._send, self._acts = trio.open_memory_channel[Act](1)

    def cancel(self) -> None:
        self.scope.cancel()

    def end(self) -> None:
        """Let the task end, whatever it holds."""
        self._send.close()

    async def act(self, act: Act) -> None:
        """Let the task call something, for instance release what it owns."""
        self._send.send_nowait(act)
        await wait_all_tasks_blocked()

    async def run(self, operation: Callable[..., Awaitable[object]], *args: Any) -> None:
        self.task = trio.lowlevel.current_task()
        with self.scope:
            await self._operate(operation, *args)
        with self._send, self._acts:
            async for act in self._acts:
                act()

    async def _operate(self, operation: Callable[..., Awaitable[object]], *args: Any) -> None:
        try:
            await operation(*args)
        except trio.Cancelled as error:
            self.ended, self.error = "cancelled", error
            raise
        except Exception as error:  # noqa: BLE001 - the test judges it
            self.ended, self.error = type(error).__name__, error
        else:
            self.ended = "done"


Start: TypeAlias = Callable[..., Awaitable[Waiter]]


@pytest.fixture
def start(nursery: trio.Nursery) -> Start:
    """Start a task that awaits an operation; returns once it waits there or has done it."""

    async def start(operation: Callable[..., Awaitable[object]], *args: Any) -> Waiter:
        waiter = Waiter()
        nursery.start_soon(waiter.run, operation, *args)
        await wait_all_tasks_blocked()
        return waiter

    return start


OneStep: TypeAlias = Callable[[Act, Act], Awaitable[bool]]


@pytest.fixture(params=["cancel first", "cancel second"])
def one_step(request: pytest.FixtureRequest) -> OneStep:
    """Cancel and do something else with no schedule point between, in both orders; then settle.

    Returns whether the cancellation came first.
    """

    async def one_step(cancel: Act, other: Act) -> bool:
        cancel_first: bool = request.param == "cancel first"
        for act in (cancel, other) if cancel_first else (other, cancel):
            act()
        await wait_all_tasks_blocked()
        return cancel_first

    return one_step

"""Primitives under drawn schedules do what naive models say; planted bugs are found and shrunk."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import trio
from hypothesis import seed
from hypothesis.stateful import initialize, invariant, rule

from structsync._core.queue.arbiter import Arbiter
from structsync._core.queue.policy import Fifo
from structsync._core.queue.request import WITHDRAWN, Request
from structsync.testing import MachineFailed, ScheduledStateMachine
from structsync.testing._execution import public_engine
from structsync.testing._stateful import stepping

from .stateful_machines import (
    BufferMachine,
    LineMachine,
    LockMachine,
    LockOrderMachine,
    PermitsMachine,
    failure,
    found,
)

# What is found is also shrunk, and the smallest example that this ends at is no claim of every draw.
pytestmark = pytest.mark.usefixtures("the_same_examples_whatever_is_imported")


def with_made(machine: type[Any], make: Callable[..., Any]) -> type[Any]:
    """Return the machine over something else."""
    return type(machine.__name__, (machine,), {"make": staticmethod(make)})


@pytest.mark.parametrize(
    "machine",
    [
        pytest.param(PermitsMachine, marks=pytest.mark.slow),
        *(
            pytest.param(one, marks=pytest.mark.nightly)
            for one in (LineMachine, LockMachine, BufferMachine)
        ),
    ],
)
def test_a_primitive_of_structsync_does_what_the_model_says(machine: type[Any]) -> None:
    assert failure(machine) is None


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("machine", "make"), [(PermitsMachine, trio.Semaphore), (LockMachine, trio.Lock)]
)
def test_a_primitive_of_trio_does_too(machine: type[Any], make: Callable[..., Any]) -> None:
    assert failure(with_made(machine, make)) is None


# ==== bugs ====


class KeptByTheCancelled:
    """A semaphore whose acquire takes the permit and may be cancelled then."""

    def __init__(self, value: int) -> None:
        self.value = value
        self.lot = trio.lowlevel.ParkingLot()

    async def acquire(self) -> None:
        if self.value > 0:
            self.value -= 1
            await trio.lowlevel.checkpoint()
        else:
            await self.lot.park()

    def release(self) -> None:
        if self.lot:
            self.lot.unpark()
        else:
            self.value += 1


class LostBetweenGrantAndWake:
    """A semaphore that hands a permit to a waiter which may be cancelled before it notices."""

    def __init__(self, value: int) -> None:
        self.value = value
        self.queue: list[trio.Event] = []

    async def acquire(self) -> None:
        if self.value > 0:
            self.value -= 1
            await trio.lowlevel.cancel_shielded_checkpoint()
            return
        granted = trio.Event()
        self.queue.append(granted)
        try:
            await granted.wait()
            await trio.lowlevel.checkpoint()
        except trio.Cancelled:
            if granted in self.queue:
                self.queue.remove(granted)
            raise

    def release(self) -> None:
        if self.queue:
            self.queue.pop(0).set()
        else:
            self.value += 1


@pytest.mark.slow
def test_a_permit_that_a_cancelled_acquire_keeps_is_found_with_one_visitor() -> None:
    shrunk = found(with_made(PermitsMachine, KeptByTheCancelled), 50)
    assert (shrunk.calls("visit"), shrunk.cancels, shrunk.deviations) == (1, 1, 0)
    assert shrunk.steps <= 3


@pytest.mark.nightly
def test_a_permit_lost_between_grant_and_wake_is_found_with_two_visitors() -> None:
    shrunk = found(with_made(PermitsMachine, LostBetweenGrantAndWake), 200)
    assert (shrunk.calls("visit"), shrunk.cancels) == (2, 1)
    assert shrunk.steps <= 6
    assert shrunk.deviations <= 1


@pytest.mark.nightly
def test_the_notification_that_trio_loses_is_found_with_few_takers() -> None:
    """trio.Condition: a notified waiter is cancelled while it waits for the lock."""
    # It takes one or two thousand examples; of the seeds every thirtieth finds it in seventy, as the first one here.
    tried = (
        failure(seed(number)(with_made(BufferMachine, trio.Condition)), 70, derandomize=False)
        for number in (87, *range(500))
    )
    shrunk = next(filter(None, tried))
    assert 2 <= shrunk.calls("take") <= 3  # one may have come and gone before
    assert shrunk.calls("put") <= 2
    assert 1 <= shrunk.cancels <= 2
    assert shrunk.steps <= 14
    assert shrunk.deviations == 0


@pytest.mark.nightly
def test_two_orders_of_two_locks_are_found_and_the_report_says_who_waits_where() -> None:
    shrunk = found(LockOrderMachine, 100)
    assert isinstance(shrunk.error, MachineFailed)
    assert (shrunk.calls("one_way"), shrunk.calls("other_way"), shrunk.cancels) == (1, 1, 0)
    assert shrunk.steps <= 4
    assert "one_way#0 is at one_way:" in str(shrunk.error)
    assert "other_way#0 is at other_way:" in str(shrunk.error)


class CounterMachine(ScheduledStateMachine):
    @initialize()
    def open(self) -> None:
        self.count = self.added = 0

    @rule()
    async def add(self) -> None:
        count = self.count
        await trio.lowlevel.cancel_shielded_checkpoint()
        self.count = count + 1
        self.added += 1

    @invariant()
    def no_update_is_lost(self) -> None:
        assert self.count == self.added


@pytest.mark.unmeasured
@pytest.mark.light
def test_a_lost_update_needs_no_cancellation() -> None:
    shrunk = found(CounterMachine, 50)
    assert (shrunk.calls("add"), shrunk.cancels, shrunk.steps) == (2, 0, 4)


def test_a_newcomer_that_barges_is_found_without_a_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Fifo, "may_pass", lambda *_: True)
    monkeypatch.setattr(Fifo, "may_be_passed", True)

    class Machine(LineMachine):
        @invariant()
        def everything_is_as_in_the_list(self) -> None:
            """Nothing: the invariants of structsync have to notice."""

    shrunk = found(Machine, 100)
    assert isinstance(shrunk.error, MachineFailed)
    assert "passed a request" in str(shrunk.error)
    assert shrunk.calls("visit") <= 3


@pytest.mark.nightly
def test_a_withdrawal_that_lets_no_task_in_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def withdraw(self: Arbiter[Any], request: Request[Any]) -> list[Request[Any]] | None:
        if not self.leave(request):
            return None
        request.status = WITHDRAWN
        return []

    monkeypatch.setattr(Arbiter, "withdraw", withdraw)
    # Shrinking may end where one cancellation hides behind another: with this seed it does not.
    machine = seed(1)(type("LineMachine", (LineMachine,), {}))
    shrunk = found(machine, 200, derandomize=False)
    assert shrunk.cancels == 1
    assert 2 <= shrunk.calls("visit") <= 4


# ==== engines ====


@pytest.mark.nightly
@pytest.mark.parametrize(
    "machine", [CounterMachine, with_made(PermitsMachine, KeptByTheCancelled), LockOrderMachine]
)
def test_both_engines_find_the_same_by_the_same_examples(
    machine: type[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    fast = found(machine, 50)
    kind = stepping.kind(public_engine.PublicEngine)
    monkeypatch.setattr(stepping, "kind", lambda: kind)
    assert found(machine, 50).text == fast.text


@pytest.mark.slow
def test_a_primitive_holds_in_the_reference_engine_too(monkeypatch: pytest.MonkeyPatch) -> None:
    kind = stepping.kind(public_engine.PublicEngine)
    monkeypatch.setattr(stepping, "kind", lambda: kind)
    assert failure(PermitsMachine, 20) is None

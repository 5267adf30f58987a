"""Bugs of our own that reading and attacking found before any release: each stays found.

A bug in the code is a bug in the suite: each of these was green in every other test at its time.
"""

from __future__ import annotations

import gc
import signal
import weakref
from collections.abc import Callable
from typing import Any, ClassVar

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

import structsync
from structsync import Arbiter, PrimitiveEvent, observe
from structsync._core.primitives.semaphore import SemaphoreCore


class Seats(Arbiter[int]):
    """A core of a user's own: named seats, each taken once."""

    LIMIT: ClassVar[int] = 10
    taken: frozenset[int]

    def __init__(self) -> None:
        super().__init__()
        self.taken = frozenset()

    def admits(self, claim: int) -> bool:
        return claim not in self.taken

    def admit(self, claim: int) -> None:
        self.taken |= {claim}

    def discharge(self, claim: int) -> None:
        self.taken -= {claim}


class Room(structsync.Primitive[int]):
    def take(self, seat: int) -> None:
        self._acquire_nowait(seat)


def test_an_interrupted_resize_of_a_limiter_wakes_whom_it_lets_in() -> None:
    limiter = structsync.CapacityLimiter(0)
    core, resize = limiter._core, limiter._core.resize
    woken: list[str] = []

    def interrupted(total_tokens: float) -> Any:
        ended = resize(total_tokens)
        signal.raise_signal(signal.SIGINT)
        return ended

    async def borrow() -> None:
        with trio.CancelScope(shield=True):  # the interrupt ends the others, this one has its token
            await limiter.acquire_on_behalf_of("waiter")
        woken.append("waiter")

    async def main() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(borrow)
            await wait_all_tasks_blocked()
            core.resize = interrupted  # type: ignore[method-assign]
            limiter.total_tokens = 1

    with pytest.raises(BaseException) as caught:  # noqa: PT011 - a group or not, as trio likes
        trio.run(main)
    interrupts, _ = (
        caught.value.split(KeyboardInterrupt)
        if isinstance(caught.value, BaseExceptionGroup)
        else (caught.value, None)
    )
    assert interrupts is not None
    assert woken == ["waiter"]


async def test_who_waits_for_the_request_of_a_task_that_exits_is_told() -> None:
    lock = structsync.Lock()
    made: list[structsync.Request[Any]] = []

    async def ask() -> None:
        made.append(lock.request())
        await trio.lowlevel.wait_task_rescheduled(lambda _: trio.lowlevel.Abort.SUCCEEDED)

    async def wait() -> None:
        with pytest.raises(structsync.RequestWithdrawn):
            await made[0].wait()

    async with lock, trio.open_nursery() as outer, trio.open_nursery() as nursery:
        asker = trio.CancelScope()

        async def ask_until_cancelled() -> None:
            with asker:
                await ask()

        nursery.start_soon(ask_until_cancelled)
        await wait_all_tasks_blocked()
        outer.start_soon(wait)
        await wait_all_tasks_blocked()
        asker.cancel()


async def test_a_grant_beats_a_cancellation_by_an_observer_in_a_waited_request() -> None:
    semaphore = structsync.Semaphore(0)
    scope = trio.CancelScope()

    async def wait() -> None:
        with scope, semaphore.request() as request:
            await request.wait()
            assert request.status == "granted"

    def cancel(event: PrimitiveEvent) -> None:
        if event.kind == "released":
            scope.cancel()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(wait)
        await wait_all_tasks_blocked()
        with observe(cancel):
            semaphore.release()
    assert not scope.cancelled_caught


async def test_a_wait_on_a_condition_gives_the_lock_back_in_the_ledger() -> None:
    async def wait(condition: structsync.Condition, done: trio.Event) -> None:
        async with condition:
            await condition.wait()
        done.set()

    with pytest.raises(structsync.PermitLeakError) as caught:
        async with structsync.open_scope() as scope:
            lock = scope.own(structsync.Lock())
            condition = structsync.Condition(lock)
            done = trio.Event()
            scope.start_soon(wait, condition, done, name="innocent")
            await wait_all_tasks_blocked()
            async with condition:
                condition.notify()
            await done.wait()
            await lock.acquire()
    assert "innocent" not in str(caught.value)


async def test_every_wait_on_a_condition_has_an_end_in_the_event_stream() -> None:
    condition = structsync.Condition()
    kinds: list[str] = []

    def note(event: PrimitiveEvent) -> None:
        if event.primitive is condition:
            kinds.append(event.kind)

    async def wait() -> None:
        async with condition:
            await condition.wait()

    with observe(note):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(wait)
            await wait_all_tasks_blocked()
            async with condition:
                condition.notify()
        with pytest.RaisesGroup(trio.ClosedResourceError):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(wait)
                await wait_all_tasks_blocked()
                condition.close()
    assert kinds == ["requested", "changed", "granted", "requested", "closed", "broken"]


async def test_one_leak_of_a_lock_with_a_condition_is_reported_once() -> None:
    with pytest.raises(structsync.PermitLeakError) as caught:
        async with structsync.open_scope() as scope:
            lock = scope.own(structsync.Lock())
            scope.own(structsync.Condition(lock))
            await lock.acquire()
    assert str(caught.value).count("not returned") == 1


def test_a_wait_on_a_condition_leaves_no_reference_cycle() -> None:
    tasks: list[weakref.ref[trio.lowlevel.Task]] = []

    async def wait(condition: structsync.Condition) -> None:
        tasks.append(weakref.ref(trio.lowlevel.current_task()))
        async with condition:
            await condition.wait()

    async def main() -> None:
        condition = structsync.Condition()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(wait, condition)
            await wait_all_tasks_blocked()
            async with condition:
                condition.notify()
        await trio.lowlevel.checkpoint()
        assert tasks[0]() is None

    gc.disable()
    try:
        trio.run(main)
    finally:
        gc.enable()


def test_withdrawing_under_the_eligible_policy_asks_no_task() -> None:
    asked = 0

    class Counting(SemaphoreCore):
        def admits(self, claim: int) -> bool:
            nonlocal asked
            asked += 1
            return super().admits(claim)

    core = Counting(0, policy="eligible")
    requests = [core.submit(1) for _ in range(100)]
    asked = 0
    for request in requests:
        core.withdraw(request)
    assert asked == 0


def test_a_class_variable_is_not_state() -> None:
    assert Seats.state_fields == ("taken",)


def test_a_core_that_ended_refuses_and_never_grants() -> None:
    core = SemaphoreCore(1)
    core.end("closed")
    with pytest.raises(Exception, match="closed"):
        core.submit(1)
    assert core.settle() == []


async def test_claims_that_are_names_count_one_each_in_a_scope() -> None:
    with pytest.raises(structsync.PermitLeakError, match="2 not returned"):
        async with structsync.open_scope() as scope:
            room = scope.own(Room(Seats()))
            room.take(0)
            room.take(7)


async def test_an_object_whose_call_is_async_is_no_predicate() -> None:
    class AsyncCall:
        async def __call__(self) -> bool:
            return True

    async def answer() -> bool:
        return True

    condition = structsync.Condition()
    async with condition:
        predicates: list[Callable[[], Any]] = [AsyncCall(), lambda: answer()]
        for predicate in predicates:
            with pytest.raises(TypeError, match="sync function"):
                await condition.wait_for(predicate)

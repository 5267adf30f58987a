"""A request for a lock has an owner: the task that made it, one live request at a time."""

import weakref
from typing import Any

import pytest
import trio
import trio.testing

from structsync import Lock, Request

settle = trio.testing.wait_all_tasks_blocked


async def hold_until_cancelled(lock: Lock) -> None:
    async with lock:
        await trio.sleep_forever()


async def test_a_task_has_one_live_request_per_lock() -> None:
    lock = Lock()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(hold_until_cancelled, lock)
        await settle()
        lock.request()
        with pytest.raises(RuntimeError, match="already has a live request"):
            lock.request()
        nursery.cancel_scope.cancel()


async def test_a_task_that_withdrew_its_request_may_make_another() -> None:
    lock = Lock()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(hold_until_cancelled, lock)
        await settle()
        lock.request().withdraw()
        assert lock.request().withdraw()
        nursery.cancel_scope.cancel()


async def test_an_acquire_beside_a_live_request_for_the_lock_is_refused() -> None:
    lock = Lock()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(hold_until_cancelled, lock)
        await settle()
        request = lock.request()
        with pytest.raises(RuntimeError, match="already has a live request"):
            await lock.acquire()
        assert request.withdraw()
        nursery.cancel_scope.cancel()


async def test_only_those_who_may_claim_again_are_looked_for_when_a_task_claims() -> None:
    lock = Lock()
    pending = lock._core.pending
    async with trio.open_nursery() as nursery:
        nursery.start_soon(hold_until_cancelled, lock)
        await settle()
        request = lock.request()
        with trio.CancelScope() as sleeper:
            nursery.start_soon(hold_until_cancelled, lock)
            await settle()
            assert [*pending] == [trio.lowlevel.current_task()]  # a task that sleeps makes no claim
            sleeper.cancel()
        assert len(lock._core.queue) == 2
        request.withdraw()
        assert not pending
        nursery.cancel_scope.cancel()
    assert not lock._core.queue
    async with lock:
        pass


async def test_a_task_that_sleeps_gets_the_lock_and_a_request_behind_it_stays_known() -> None:
    lock = Lock()
    made: list[Request[Any]] = []

    async def request_it() -> None:
        with lock.request() as request:
            made.append(request)
            await trio.sleep_forever()

    async with trio.open_nursery() as nursery:
        await lock.acquire()
        nursery.start_soon(hold_until_cancelled, lock)
        await settle()
        nursery.start_soon(request_it)
        await settle()
        lock.release()
        assert len(lock._core.pending) == 1
        assert made[0].status == "pending"
        nursery.cancel_scope.cancel()
    assert not lock.locked()


async def test_a_granted_lock_request_makes_its_maker_the_owner() -> None:
    lock = Lock()
    with lock.request():
        assert lock.statistics().owner is trio.lowlevel.current_task()
        with pytest.raises(RuntimeError, match="re-acquire"):
            await lock.acquire()
    assert not lock.locked()


async def test_the_owner_is_the_maker_whichever_task_waits() -> None:
    lock = Lock()
    maker = trio.lowlevel.current_task()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(hold_until_cancelled, lock)
        await settle()
        request = lock.request()
        nursery.cancel_scope.shield = True
        async with trio.open_nursery() as waiting:
            waiting.start_soon(request.wait)
            await settle()
            nursery.cancel_scope.cancel()
            waiting.cancel_scope.shield = True
    assert lock.statistics().owner is maker
    lock.release()


async def test_a_pending_lock_request_is_withdrawn_when_its_maker_exits() -> None:
    lock = Lock()
    made: list[Request[Any]] = []

    async def make() -> None:
        made.append(lock.request())

    async with lock:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(make)
    assert made[0].status == "withdrawn"
    async with lock:
        pass


async def test_a_granted_lock_request_whose_maker_exits_breaks_the_lock() -> None:
    lock = Lock()

    async def make() -> None:
        lock.request()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(make)
    with pytest.raises(trio.BrokenResourceError, match=r"exited without releasing.*make"):
        await lock.acquire()


async def test_a_lock_used_by_requests_is_not_kept_alive_by_the_task() -> None:
    lock = Lock()
    with lock.request() as request:
        await request.wait()
    reference = weakref.ref(lock)
    del lock, request
    assert reference() is None


async def test_leaving_a_granted_request_whose_owner_is_gone_adds_no_error() -> None:
    lock, made = Lock(), []

    async def ask() -> None:
        made.append(lock.request())

    async with trio.open_nursery() as nursery:
        nursery.start_soon(ask)
    with made[0] as request:
        assert request.status == "granted"
    with pytest.raises(trio.BrokenResourceError):
        lock.acquire_nowait()

"""A task that waits for room in a pool's queue waits for the workers: their owner is known."""

from __future__ import annotations

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

import structsync
from structsync import DeadlockError, deadlock_guard, snapshot

from .crossing import use


async def test_who_holds_what_all_workers_want_must_not_wait_for_room() -> None:
    lock = structsync.Lock(name="ledger")
    with deadlock_guard():
        async with structsync.open_pool(2, max_queued=1) as pool:
            async with lock:
                for _ in range(3):
                    await pool.submit(use, lock)
                await wait_all_tasks_blocked()
                with pytest.raises(DeadlockError) as raised:
                    await pool.submit(use, lock)
            text = str(raised.value)
            assert "waits for TaskPool" in text
            assert "waits for Lock 'ledger'" in text
            assert pool.statistics().held_back == 0
        assert pool.statistics().done == 3, "the pool goes on"


async def test_while_one_worker_may_go_on_it_is_no_deadlock() -> None:
    lock, told = structsync.Lock(), list[DeadlockError]()
    with deadlock_guard(told.append):
        async with structsync.open_pool(2, max_queued=1) as pool:
            async with lock:
                await pool.submit(use, lock)
                await pool.submit(trio.sleep, 0.01)
                for _ in range(2):
                    await pool.submit(trio.lowlevel.checkpoint)
    assert told == []


async def test_a_worker_that_has_not_begun_may_go_on() -> None:
    lock, told = structsync.Lock(), list[DeadlockError]()
    with deadlock_guard(told.append):
        async with structsync.open_pool(2, max_queued=0) as pool:
            async with lock:
                pool.submit_nowait(use, lock)
                await wait_all_tasks_blocked()
                pool.submit_nowait(trio.lowlevel.checkpoint)
                # In the same step: the second worker is a task that has not run yet.
                await pool.submit(trio.lowlevel.checkpoint)
    assert told == []


async def test_the_workers_are_seen_as_those_that_hold_a_pool() -> None:
    async with structsync.open_pool(1) as pool:
        await pool.submit(trio.sleep, 0.01)
        await wait_all_tasks_blocked()
        (found,) = snapshot([pool]).primitives
        assert [one.name for one in found.holders] == ["worker of TaskPool"]
    assert pool.statistics().done == 1

"""TaskPool.map over an async iterable: one task waits for all of its items, and ends with the loop or the pool."""

from __future__ import annotations

import threading
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from structsync import Lock, Results, open_pool


async def double(number: int) -> int:
    await trio.lowlevel.checkpoint()
    return 2 * number


class Never:
    """An async iterator without an item, which notes the thread in which it is interrupted."""

    def __init__(self) -> None:
        self.interrupted_by: list[int] = []

    def __aiter__(self) -> Never:
        return self

    async def __anext__(self) -> int:
        def abort(_: object) -> trio.lowlevel.Abort:
            self.interrupted_by.append(threading.get_ident())
            return trio.lowlevel.Abort.SUCCEEDED

        await trio.lowlevel.wait_task_rescheduled(abort)
        raise AssertionError("nothing wakes it")


async def numbers(amount: int) -> AsyncGenerator[int, None]:
    for number in range(amount):
        await trio.lowlevel.checkpoint()
        yield number


# ==== one task for all items ====


@pytest.mark.parametrize("ordered", [True, False])
async def test_a_lock_that_the_items_hold_from_one_to_the_next_stays_theirs(ordered: bool) -> None:
    lock = Lock()

    async def rows() -> AsyncIterator[int]:
        async with lock:
            async for number in numbers(8):
                assert lock.statistics().owner is trio.lowlevel.current_task()
                yield number

    async with open_pool(1) as pool:
        results = pool.map(double, rows(), ordered=ordered)
        assert [result async for result in results] == [*range(0, 16, 2)]
    lock.acquire_nowait()


async def test_items_may_come_out_of_a_nursery() -> None:
    async def rows() -> AsyncIterator[int]:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(trio.lowlevel.checkpoint)
            async for number in numbers(8):
                yield number

    async with open_pool(1) as pool:
        assert [result async for result in pool.map(double, rows())] == [*range(0, 16, 2)]


# ==== its end ====


async def test_a_block_ends_though_a_loop_in_it_was_left_half_way() -> None:
    async with aclosing(numbers(100)) as source, open_pool(2) as pool:
        results = pool.map(double, source)
        assert await anext(results) == 0
        await wait_all_tasks_blocked()
    found = []
    with pytest.raises(trio.ClosedResourceError):
        async for result in results:
            found.append(result)  # noqa: PERF401 - kept if it fails
    assert found == [2, 4, 6]


async def test_a_block_ends_after_the_last_job_though_a_loop_was_left_half_way() -> None:
    gate = trio.Event()

    async def wait(_: int) -> None:
        await gate.wait()

    async with trio.open_nursery() as nursery:
        async with aclosing(numbers(100)) as source, open_pool(2) as pool:
            results = pool.map(wait, source)
            with trio.move_on_after(0) as scope:
                await anext(results)
            assert scope.cancelled_caught
            await wait_all_tasks_blocked()
            nursery.start_soon(pool.run, trio.lowlevel.checkpoint)
            gate.set()
    assert pool.statistics().done == 5


# ==== results that are collected ====


async def test_results_that_another_thread_collects_are_closed_by_the_run() -> None:
    source = Never()
    async with open_pool(1) as pool:
        box = [pool.map(double, source)]
        with trio.move_on_after(0):
            await anext(box[0])
        await wait_all_tasks_blocked()
        thread = threading.Thread(target=box.clear)
        thread.start()
        thread.join()
        assert source.interrupted_by == []
        await wait_all_tasks_blocked()
        assert source.interrupted_by == [threading.get_ident()]


async def test_results_of_which_none_was_asked_for_may_be_collected_anywhere() -> None:
    async with open_pool(1) as pool:
        box = [pool.map(double, numbers(3))]
        thread = threading.Thread(target=box.clear)
        thread.start()
        thread.join()
        assert pool.statistics().running == 0


def test_results_may_be_collected_after_their_run() -> None:
    async def leave() -> Results[int]:
        async with open_pool(1) as pool:
            results = pool.map(double, range(3))
            await anext(results)
        return results

    box = [trio.run(leave)]
    box.clear()


async def test_results_are_closed_in_their_own_run_alone() -> None:
    async with open_pool(1) as pool:
        results = pool.map(double, range(3))
        assert await anext(results) == 0
        with pytest.raises(RuntimeError, match="in use by another trio run"):
            await trio.to_thread.run_sync(trio.run, results.aclose)
        assert [result async for result in results] == [2, 4]

"""TaskPool.map over an async iterable: one task waits for all of its items, and ends with the loop or the pool."""

from __future__ import annotations

import threading
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from structsync import Buffer, Lock, Results, open_pool


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


async def until_first(results: Results[int]) -> int:
    async with aclosing(results):
        return await anext(results)


@pytest.mark.parametrize("child", [trio.sleep_forever, trio.lowlevel.checkpoint])
@pytest.mark.parametrize("ordered", [True, False])
async def test_a_lock_that_the_items_hold_is_released_where_the_loop_is_left_early(
    ordered: bool, child: Callable[[], Awaitable[None]]
) -> None:
    lock = Lock()

    async def rows() -> AsyncIterator[int]:
        async with lock, trio.open_nursery() as nursery:
            nursery.start_soon(child)
            for number in range(100):
                yield number

    async with open_pool(2) as pool:
        await until_first(pool.map(double, rows(), ordered=ordered))
    lock.acquire_nowait()


async def test_what_the_items_do_at_their_end_is_done_in_the_task_in_which_they_began(
    autojump_clock: object,
) -> None:
    seen = list[trio.lowlevel.Task]()

    async def rows() -> AsyncIterator[int]:
        seen.append(trio.lowlevel.current_task())
        try:
            for number in range(100):
                yield number
        finally:
            with trio.CancelScope(shield=True):
                await trio.sleep(1)
            seen.append(trio.lowlevel.current_task())

    async with open_pool(2) as pool:
        assert await until_first(pool.map(double, rows())) == 0
    assert trio.current_time() == 1
    assert seen[0] is seen[1]


async def test_an_iterable_that_others_may_go_on_with_is_not_closed() -> None:
    send, receive = trio.open_memory_channel[int](9)
    for number in range(9):
        send.send_nowait(number)
    async with open_pool(2) as pool:
        assert await until_first(pool.map(double, receive)) == 0
    assert receive.receive_nowait() < 9


async def test_an_error_at_the_end_of_items_that_are_used_up_is_raised_after_the_results() -> None:
    async def rows() -> AsyncIterator[int]:
        try:
            yield 1
        finally:
            raise ValueError("planted")

    async with open_pool(2) as pool:
        results = pool.map(double, rows())
        assert await anext(results) == 2
        with pytest.raises(ValueError, match="planted"):
            await anext(results)


@pytest.mark.parametrize("leaves", [True, False])
async def test_a_loop_that_waits_for_an_item_is_told_that_the_pool_is_closed(leaves: bool) -> None:
    source, told = Never(), list[str]()

    async def loop() -> None:
        with pytest.raises(trio.ClosedResourceError, match="this TaskPool was closed"):
            await anext(pool.map(double, source))
        told.append("loop")

    async with trio.open_nursery() as nursery, open_pool(2) as pool:
        nursery.start_soon(loop)
        await wait_all_tasks_blocked()
        if not leaves:
            pool.close()
            await wait_all_tasks_blocked()
            assert told == ["loop"]
    assert told == ["loop"]


async def test_no_job_begins_with_an_item_that_comes_as_the_loop_is_left() -> None:
    source, begun = Buffer[int](9), list[int]()

    async def job(number: int) -> None:
        begun.append(number)

    source.put_nowait(1)
    async with open_pool(2) as pool:
        results = pool.map(job, source)
        await anext(results)
        await wait_all_tasks_blocked()
        source.put_nowait(2)
        await results.aclose()
        await wait_all_tasks_blocked()
    assert begun == [1]


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

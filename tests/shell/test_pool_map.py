"""TaskPool.map: results as they come, from items that are taken no further ahead than said."""

import sys
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import aclosing
from typing import Any, Self

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from structsync import JobCancelled, Results, TaskPool, open_pool


async def double(number: int) -> int:
    await trio.lowlevel.checkpoint()
    return 2 * number


async def wait_long_for_the_first(number: int) -> int:
    await trio.sleep(10 if number == 0 else number)
    return number


async def numbers(amount: int) -> AsyncIterator[int]:
    for number in range(amount):
        await trio.sleep(1)
        yield number


async def test_results_come_in_the_order_of_the_items(autojump_clock: object) -> None:
    async with open_pool(3) as pool:
        found = [result async for result in pool.map(wait_long_for_the_first, range(5))]
    assert found == [0, 1, 2, 3, 4]


async def test_results_come_as_they_are_ready(autojump_clock: object) -> None:
    async with open_pool(3) as pool:
        found = [
            result async for result in pool.map(wait_long_for_the_first, range(5), ordered=False)
        ]
    assert found == [1, 2, 3, 4, 0]


@pytest.mark.parametrize("ordered", [True, False])
async def test_the_items_may_come_from_an_async_iterable(
    autojump_clock: object, ordered: bool
) -> None:
    async with open_pool(3) as pool:
        results = pool.map(double, numbers(20), ordered=ordered)
        assert sorted([result async for result in results]) == list(range(0, 40, 2))


async def test_a_result_does_not_wait_for_the_next_item(autojump_clock: object) -> None:
    async def two() -> AsyncIterator[int]:
        yield 1
        await trio.sleep(100)
        yield 2

    async with open_pool(3) as pool:
        results = pool.map(double, two())
        assert await anext(results) == 2
        assert trio.current_time() < 100
        assert await anext(results) == 4
        with pytest.raises(StopAsyncIteration):
            await anext(results)


@pytest.mark.parametrize("ordered", [True, False])
async def test_no_more_items_are_taken_than_are_ahead_of_the_loop(ordered: bool) -> None:
    taken = []

    def items() -> Iterator[int]:
        for number in range(100):
            taken.append(number)
            yield number

    async with open_pool(2) as pool:
        results = pool.map(double, items(), ordered=ordered, ahead=5)
        assert taken == []
        for done in range(1, 10):
            await anext(results)
            await wait_all_tasks_blocked()
            assert len(taken) == 4 + done
        await results.aclose()


async def test_no_more_items_of_an_async_iterable_are_taken_either(autojump_clock: object) -> None:
    taken = 0

    async def items() -> AsyncGenerator[int, None]:
        nonlocal taken
        for number in range(100):
            await trio.sleep(1)
            taken += 1
            yield number

    async with (
        aclosing(items()) as source,
        open_pool(2) as pool,
        aclosing(pool.map(double, source)) as results,
    ):
        await anext(results)
        await trio.sleep(50)
        assert taken == 5
        await anext(results)
        await trio.sleep(50)
        assert taken <= 6


async def test_no_items_no_results() -> None:
    async with open_pool(2) as pool:
        assert [result async for result in pool.map(double, [])] == []


async def test_an_error_of_a_job_is_raised_where_its_result_would_be() -> None:
    begun = []

    async def fail_at_three(number: int) -> int:
        begun.append(number)
        if number == 3:
            raise ValueError("planted")
        if number > 3:
            await trio.sleep_forever()
        return number

    found = []
    async with open_pool(2) as pool:
        results = pool.map(fail_at_three, range(100), ahead=10)
        with pytest.raises(ValueError, match="planted"):
            async for result in results:
                found.append(result)  # noqa: PERF401 - kept if it fails
        with pytest.raises(StopAsyncIteration):
            await anext(results)
    assert found == [0, 1, 2]
    assert len(begun) <= 6


@pytest.mark.parametrize("ahead", [1, 10])
async def test_an_error_of_the_items_is_raised_after_their_results(ahead: int) -> None:
    def items() -> Iterator[int]:
        yield from range(3)
        raise ValueError("planted")

    async def async_items() -> AsyncIterator[int]:
        for item in items():
            yield item

    async with open_pool(2) as pool:
        for source in (items(), async_items()):
            found = []
            with pytest.raises(ValueError, match="planted"):
                async for result in pool.map(double, source, ahead=ahead):
                    found.append(result)  # noqa: PERF401 - kept if it fails
            assert found == [0, 2, 4]


class FalseError(Exception):
    """An error that is false, as a collection of errors without any is."""

    def __len__(self) -> int:
        return 0


async def test_an_error_of_the_items_is_raised_though_it_is_false() -> None:
    def items() -> Iterator[int]:
        yield 1
        raise FalseError

    async with open_pool(2) as pool:
        results = pool.map(double, items())
        assert await anext(results) == 2
        with pytest.raises(FalseError):
            await anext(results)


class FailsOnce:
    """An iterator that could go on after its error, as no generator can."""

    def __init__(self) -> None:
        self.number = 0

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> int:
        self.number += 1
        if self.number == 2:
            raise ValueError("planted")
        return self.number


class FailsOnceAsync:
    def __init__(self) -> None:
        self.items = FailsOnce()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> int:
        return next(self.items)


@pytest.mark.parametrize("make", [FailsOnce, FailsOnceAsync])
async def test_no_item_is_taken_after_an_error_of_the_items(make: Any) -> None:
    found = []
    async with open_pool(2) as pool:
        results = pool.map(double, make(), ahead=10)
        with pytest.raises(ValueError, match="planted"):
            async for result in results:
                found.append(result)  # noqa: PERF401 - kept if it fails
        with pytest.raises(StopAsyncIteration):
            await anext(results)
    assert found == [2]


@pytest.mark.parametrize("is_async", [True, False])
async def test_a_loop_that_is_left_early_cancels_what_is_left(
    autojump_clock: object, is_async: bool
) -> None:
    async with open_pool(2) as pool:
        source: Any = numbers(100) if is_async else range(100)
        async for _ in pool.map(wait_long_for_the_first, source, ordered=False):
            break
        await wait_all_tasks_blocked()
        assert pool.statistics().tasks_waiting == 0
        assert pool.statistics().running == 0
        assert pool.statistics().done <= 4


async def test_closed_results_have_ended(autojump_clock: object) -> None:
    async with open_pool(2) as pool:
        results = pool.map(double, numbers(3))
        await results.aclose()
        await results.aclose()
        with pytest.raises(StopAsyncIteration):
            await anext(results)


async def test_closing_while_an_item_is_waited_for_ends_the_wait(autojump_clock: object) -> None:
    async with open_pool(2) as pool:
        results = pool.map(double, numbers(3))
        with trio.move_on_after(0.5):
            await anext(results)
        await results.aclose()
    assert trio.current_time() < 1


async def test_a_cancelled_wait_for_a_result_loses_none(autojump_clock: object) -> None:
    async with open_pool(2) as pool:
        results = pool.map(wait_long_for_the_first, range(3))
        with trio.move_on_after(1) as scope:
            await anext(results)
        assert scope.cancelled_caught
        await trio.sleep(20)
        with trio.CancelScope() as scope:  # the result is there, and the caller is cancelled
            scope.cancel()
            await anext(results)
        assert scope.cancelled_caught
        assert [result async for result in results] == [0, 1, 2]


async def test_two_tasks_cannot_wait_for_the_next_result() -> None:
    async with open_pool(2) as pool, trio.open_nursery() as nursery:
        results = pool.map(trio.sleep, [100])
        nursery.start_soon(anext, results)
        await wait_all_tasks_blocked()
        with pytest.raises(trio.BusyResourceError, match="another task already waits"):
            await anext(results)
        nursery.cancel_scope.cancel()
        await results.aclose()


@pytest.mark.parametrize("is_async", [True, False])
async def test_a_closed_pool_gives_the_results_that_it_has(is_async: bool) -> None:
    async def items() -> AsyncIterator[int]:
        for number in range(100):
            yield number

    async with open_pool(2) as pool:
        results = pool.map(double, items() if is_async else range(100), ahead=2)
        assert await anext(results) == 0
        await wait_all_tasks_blocked()
        pool.close()
        found = []
        with pytest.raises(trio.ClosedResourceError):
            async for result in results:
                found.append(result)  # noqa: PERF401 - kept if it fails
        assert found == [2]


async def test_a_loop_is_told_that_the_pool_was_closed_before_it_accepted_a_job() -> None:
    found = []
    async with open_pool(1, max_queued=1) as pool:
        results = pool.map(double, range(6), ahead=6)
        with trio.move_on_after(0):
            await anext(results)
        pool.close()
        with pytest.raises(trio.ClosedResourceError, match="this TaskPool was closed"):
            async for result in results:
                found.append(result)  # noqa: PERF401 - kept if it fails
    assert found == [0, 2]


@pytest.mark.parametrize("is_async", [True, False])
async def test_a_loop_outside_is_told_that_the_pool_was_cancelled(is_async: bool) -> None:
    async def never() -> AsyncIterator[int]:
        await trio.sleep_forever()
        yield 1

    told: list[str] = []

    async def loop() -> None:
        with pytest.raises(JobCancelled):
            await anext(pool.map(trio.sleep, never() if is_async else [100]))
        told.append("loop")

    async with trio.open_nursery() as nursery:
        async with open_pool(2) as pool:
            nursery.start_soon(loop)
            await wait_all_tasks_blocked()
            pool.cancel_scope.cancel()
    assert told == ["loop"]


async def test_bad_arguments_of_map_are_refused_at_once() -> None:
    async with open_pool(2) as pool:
        wrong: Any = None
        with pytest.raises(TypeError, match="a job is a function"):
            pool.map(wrong, [1])
        with pytest.raises(TypeError, match="not iterable"):
            pool.map(double, wrong)
        with pytest.raises(ValueError, match="ahead must be >= 1, not 0"):
            pool.map(double, [1], ahead=0)
        with pytest.raises(ValueError, match="priority must be 0"):
            pool.map(double, [1], priority=1)


@pytest.mark.parametrize("jobs", [4_000, pytest.param(1_000_000, marks=pytest.mark.nightly)])
async def test_more_items_need_no_more_memory(jobs: int) -> None:
    """What is in use between two results is the same after any number of them."""
    async with open_pool(10) as pool:
        results = pool.map(double, range(jobs))
        blocks = [sys.getallocatedblocks() async for number in results if not number % (jobs // 10)]
    assert len(blocks) == 20
    # each job that is kept is more than ten; what the collector has not come to yet is some
    assert max(blocks[2:]) - min(blocks[2:]) < 4_000, blocks


async def test_a_loop_that_another_task_closes_ends() -> None:
    ended: list[str] = []

    async def loop(results: Results[None]) -> None:
        async for _ in results:
            pytest.fail("nothing comes")
        ended.append("loop")

    async with open_pool(1) as pool:
        results = pool.map(trio.sleep, [1000])
        async with trio.open_nursery() as nursery:
            nursery.start_soon(loop, results)
            await wait_all_tasks_blocked()
            await results.aclose()
    assert ended == ["loop"]


async def fail_as_an_end_does(number: int) -> int:
    """As ``return await anext(lines)`` does where the file is empty."""
    if number == 1:
        raise StopAsyncIteration
    return number


@pytest.mark.parametrize("ordered", [True, False])
async def test_a_job_that_raises_what_ends_a_loop_does_not_end_it_silently(ordered: bool) -> None:
    async with open_pool(1) as pool:
        results = pool.map(fail_as_an_end_does, range(4), ordered=ordered)
        assert await anext(results) == 0
        with pytest.raises(
            RuntimeError, match=r"fail_as_an_end_does.*raised StopAsyncIteration"
        ) as told:
            await anext(results)
        assert isinstance(told.value.__cause__, StopAsyncIteration)
        with pytest.raises(StopAsyncIteration):
            await anext(results)


async def test_items_that_raise_what_ends_an_async_loop_do_not_end_it_silently() -> None:
    def items() -> Iterator[int]:
        yield 1
        raise StopAsyncIteration

    async with open_pool(1) as pool:
        results = pool.map(double, items())
        assert await anext(results) == 2
        with pytest.raises(
            RuntimeError, match=r"the items of map\(\) raised StopAsyncIteration"
        ) as told:
            await anext(results)
        assert isinstance(told.value.__cause__, StopAsyncIteration)


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
async def test_what_interrupts_the_items_is_raised_before_their_results(
    error: type[BaseException],
) -> None:
    def items() -> Iterator[int]:
        yield 1
        raise error

    async with open_pool(1) as pool:
        results = pool.map(trio.sleep, items())
        with pytest.raises(error):
            await anext(results)
        await wait_all_tasks_blocked()
        assert pool.statistics().cancelled == 1
        with pytest.raises(StopAsyncIteration):
            await anext(results)


async def test_what_interrupts_the_items_of_an_async_iterable_ends_the_pool() -> None:
    async def items() -> AsyncIterator[int]:
        yield 1
        raise KeyboardInterrupt

    async def loop(pool: TaskPool) -> None:
        with pytest.raises(JobCancelled, match="was cancelled"):
            async for _ in pool.map(double, items(), ahead=2):
                pass

    async with trio.open_nursery() as nursery:
        with pytest.RaisesGroup(KeyboardInterrupt):
            async with open_pool(1) as pool:
                nursery.start_soon(loop, pool)
                await trio.sleep_forever()

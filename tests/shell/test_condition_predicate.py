"""``wait_for``: the predicate's value, its errors, and what it may not do (I6)."""

from collections.abc import Callable
from typing import Any

import pytest
import trio
import trio.testing

from structsync import Condition, Semaphore

settle = trio.testing.wait_all_tasks_blocked


async def test_the_value_of_a_predicate_that_is_true_now_is_returned() -> None:
    async with (condition := Condition()):
        assert await condition.wait_for(lambda: ["item"]) == ["item"]


async def test_a_predicate_that_is_true_now_makes_one_checkpoint() -> None:
    async with (condition := Condition()):
        with trio.testing.assert_checkpoints():
            await condition.wait_for(lambda: True)


async def test_a_predicate_that_is_true_now_keeps_the_lock_all_the_time() -> None:
    condition = Condition()
    async with condition, trio.open_nursery() as nursery:
        nursery.start_soon(condition.acquire)
        await settle()
        await condition.wait_for(lambda: True)
        assert condition.statistics().lock_statistics.tasks_waiting == 1
        nursery.cancel_scope.cancel()


async def test_a_true_predicate_in_a_cancelled_scope_raises() -> None:
    async with (condition := Condition()):
        with trio.CancelScope() as scope:
            scope.cancel()
            await condition.wait_for(lambda: True)
    assert scope.cancelled_caught


async def test_the_predicate_is_tested_again_after_each_notification() -> None:
    condition, values, got = Condition(), [0, 0, 7], []

    async def wait() -> None:
        async with condition:
            got.append(await condition.wait_for(lambda: values.pop(0)))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(wait)
        for _ in range(2):
            await settle()
            assert got == []
            async with condition:
                condition.notify()
    assert got == [7]


async def test_an_error_of_the_predicate_reaches_the_caller_which_owns_the_lock() -> None:
    async with (condition := Condition()):
        with pytest.raises(ZeroDivisionError):
            await condition.wait_for(lambda: 1 // 0)
        assert condition.statistics().lock_statistics.owner is trio.lowlevel.current_task()


async def test_an_error_of_the_predicate_after_a_notification_leaves_the_lock_free() -> None:
    condition, divisors = Condition(), [0]

    async def wait() -> None:
        with pytest.raises(ZeroDivisionError):
            async with condition:
                await condition.wait_for(lambda: divisors and 1 // divisors[0] < 0)

    divisors.clear()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(wait)
        await settle()
        divisors.append(0)
        async with condition:
            condition.notify()
    assert not condition.locked()


CHANGES: dict[str, Callable[[Condition, Semaphore], object]] = {
    "notify": lambda condition, _: condition.notify(),
    "close the condition": lambda condition, _: condition.close(),
    "acquire": lambda _, semaphore: semaphore.acquire_nowait(),
    "request": lambda _, semaphore: semaphore.request(),
    "resize": lambda _, semaphore: semaphore.resize(9),
    "close": lambda _, semaphore: semaphore.close(),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
async def test_a_predicate_that_changes_a_primitive_is_refused(
    change: Callable[[Condition, Semaphore], object],
) -> None:
    condition, semaphore = Condition(), Semaphore(1, max_value=2)
    async with condition:
        with pytest.raises(RuntimeError, match="must not change"):
            await condition.wait_for(lambda: change(condition, semaphore))
        assert condition.statistics().lock_statistics.owner is trio.lowlevel.current_task()
    assert semaphore.statistics() == Semaphore(1, max_value=2).statistics()


async def test_after_a_refused_predicate_primitives_can_be_changed_again() -> None:
    semaphore = Semaphore(1)
    async with (condition := Condition()):
        with pytest.raises(RuntimeError):
            await condition.wait_for(semaphore.acquire_nowait)
    semaphore.acquire_nowait()


async def test_a_predicate_may_read_primitives() -> None:
    semaphore = Semaphore(1)
    async with (condition := Condition()):
        assert await condition.wait_for(lambda: (semaphore.statistics(), repr(condition)))


async def test_a_predicate_may_cancel_and_its_value_still_counts() -> None:
    async with (condition := Condition()):
        with trio.CancelScope() as scope:

            def cancel() -> str:
                scope.cancel()
                return "value"

            assert await condition.wait_for(cancel) == "value"
    assert not scope.cancelled_caught


async def test_a_predicate_that_cancels_another_waiter_lets_it_end() -> None:
    condition, semaphore = Condition(), Semaphore(0)
    scope = trio.CancelScope()

    async def wait() -> None:
        with scope:
            await semaphore.acquire()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(wait)
        await settle()
        async with condition:
            await condition.wait_for(lambda: [scope.cancel()])
    assert scope.cancelled_caught
    assert semaphore.statistics().tasks_waiting == 0


async def test_a_predicate_that_cancels_a_waiter_on_its_own_condition_lets_it_end() -> None:
    condition, scope = Condition(), trio.CancelScope()

    async def wait() -> None:
        with scope:
            async with condition:
                await condition.wait()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(wait)
        await settle()
        async with condition:
            await condition.wait_for(lambda: [scope.cancel()])
    assert scope.cancelled_caught
    assert not condition.locked()


async def asynchronous() -> bool:
    return True


@pytest.mark.parametrize("predicate", [asynchronous, None, 3], ids=["async", "None", "3"])
async def test_a_predicate_that_is_no_sync_function_is_a_type_error(predicate: Any) -> None:
    async with (condition := Condition()):
        with pytest.raises(TypeError, match=r"predicate must be (callable|a sync function)"):
            await condition.wait_for(predicate)


async def test_wait_for_without_the_lock_is_refused_before_the_predicate_runs() -> None:
    ran: list[bool] = []
    with pytest.raises(RuntimeError, match="must hold the lock to wait"):
        await Condition().wait_for(lambda: ran.append(True))
    assert ran == []


async def test_a_predicate_that_drives_a_wait_by_hand_is_refused() -> None:
    condition = Condition()

    def drive() -> bool:
        coroutine = condition.wait()
        try:
            coroutine.send(None)
        finally:
            coroutine.close()
        return True

    async with condition:
        with pytest.raises(RuntimeError, match="must not change"):
            await condition.wait_for(drive)
        assert condition.locked()


async def test_a_predicate_that_returns_a_coroutine_is_a_type_error() -> None:
    async def soon() -> bool:
        raise AssertionError("it is never awaited")

    condition = Condition()
    async with condition:
        with pytest.raises(TypeError, match="returned a coroutine"):
            await condition.wait_for(lambda: soon())  # type: ignore[unused-coroutine]

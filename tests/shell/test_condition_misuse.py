"""Several conditions on one lock, closing, and what a condition refuses."""

from collections.abc import Callable
from typing import Any

import pytest
import trio

from structsync import Condition, Lock

from .waits import Waits, settle

# ==== several conditions on one lock ====


async def test_a_notification_of_one_condition_leaves_the_waiters_of_another_alone() -> None:
    lock = Lock()
    full, empty = Condition(lock), Condition(lock)
    async with trio.open_nursery() as nursery:
        waits = Waits(nursery)
        await waits.start("full", full)
        await waits.start("empty", empty)
        async with lock:
            empty.notify_all()
        await settle()
        assert waits.ended == {"empty": "notified"}
        nursery.cancel_scope.cancel()


async def test_a_cancelled_waiter_hands_over_within_its_own_condition() -> None:
    lock = Lock()
    one, other = Condition(lock), Condition(lock)
    async with trio.open_nursery() as nursery:
        waits = Waits(nursery)
        await waits.start("a", one)
        await waits.start("x", other)
        async with lock:
            one.notify()
            waits.scopes["a"].cancel()
        await settle()
        assert waits.ended == {"a": "cancelled"}
        nursery.cancel_scope.cancel()


async def test_closing_one_condition_leaves_the_other_and_the_lock_open() -> None:
    lock = Lock()
    one, other = Condition(lock), Condition(lock)
    one.close()
    async with trio.open_nursery() as nursery:
        waits = Waits(nursery)
        await waits.start("x", other)
        async with other:
            other.notify()
    assert waits.ended == {"x": "notified"}


# ==== closing and misuse ====


async def test_a_waiter_of_a_closed_condition_owns_the_lock_when_it_raises() -> None:
    condition = Condition()
    async with trio.open_nursery() as nursery:
        waits = Waits(nursery)
        await waits.start("a", condition)
        async with condition:
            condition.close()
            await settle()
            assert waits.ended == {}
    assert waits.ended == {"a": "ClosedResourceError"}


async def test_a_waiter_that_was_notified_before_the_closing_returns() -> None:
    condition = Condition()
    async with trio.open_nursery() as nursery:
        waits = Waits(nursery)
        await waits.start("a", condition)
        await waits.start("b", condition)
        async with condition:
            condition.notify()
            condition.close()
    assert waits.ended == {"a": "notified", "b": "ClosedResourceError"}


async def test_closing_the_lock_ends_the_waits_on_its_conditions() -> None:
    lock = Lock()
    condition = Condition(lock)
    async with trio.open_nursery() as nursery:
        waits = Waits(nursery)
        await waits.start("a", condition)
        lock.close()
    assert waits.ended == {"a": "ClosedResourceError"}


@pytest.mark.parametrize(
    "call", [Condition.notify, Condition.notify_all], ids=lambda call: call.__name__
)
async def test_notifying_without_the_lock_is_refused(call: Callable[[Condition], None]) -> None:
    with pytest.raises(RuntimeError, match="must hold the lock to notify"):
        call(Condition())


async def test_waiting_without_the_lock_is_refused() -> None:
    with pytest.raises(RuntimeError, match="must hold the lock to wait"):
        await Condition().wait()


@pytest.mark.parametrize("n", [True, 1.0, "1", None], ids=repr)
async def test_notifying_a_number_that_is_no_int_is_a_type_error(n: Any) -> None:
    async with (condition := Condition()):
        with pytest.raises(TypeError, match="n must be an int"):
            condition.notify(n)


async def test_notifying_fewer_than_none_is_a_value_error() -> None:
    async with (condition := Condition()):
        with pytest.raises(ValueError, match="n must be >= 0, not -1"):
            condition.notify(-1)


@pytest.mark.parametrize("lock", [trio.Lock(), object(), Lock], ids=["trio's", "object", "class"])
def test_a_lock_that_is_not_ours_is_a_type_error(lock: Any) -> None:
    with pytest.raises(TypeError, match=r"lock must be a structsync\.Lock"):
        Condition(lock)

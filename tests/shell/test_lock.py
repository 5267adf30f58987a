"""A lock has an owner, is handed over, and breaks for good when its owner exits (C5)."""

import gc
import weakref

import pytest
import trio
import trio.testing

from structsync import Condition, Lock

settle = trio.testing.wait_all_tasks_blocked


async def forget(lock: Lock) -> None:
    await lock.acquire()


async def broken_lock() -> Lock:
    lock = Lock()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(forget, lock)
    return lock


async def test_the_owner_cannot_acquire_again() -> None:
    lock = Lock()
    async with lock:
        with pytest.raises(RuntimeError, match="re-acquire an already held Lock"):
            await lock.acquire()


async def test_the_owner_cannot_acquire_again_without_waiting() -> None:
    lock = Lock()
    async with lock:
        with pytest.raises(RuntimeError, match="re-acquire an already held Lock"):
            lock.acquire_nowait()


async def test_releasing_a_free_lock_is_refused() -> None:
    with pytest.raises(RuntimeError, match="can't release a Lock you don't own"):
        Lock().release()


async def test_releasing_the_lock_of_another_task_is_refused() -> None:
    lock = Lock()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(hold, lock)
        await settle()
        with pytest.raises(RuntimeError, match="can't release a Lock you don't own"):
            lock.release()
        assert lock.locked()
        nursery.cancel_scope.cancel()


async def test_a_release_hands_the_lock_to_the_first_in_queue() -> None:
    """A7 of the bugs of peers: locked() was False during the handoff."""
    lock = Lock()
    async with trio.open_nursery() as nursery:
        await lock.acquire()
        nursery.start_soon(hold, lock, name="first")
        await settle()
        lock.release()
        assert lock.locked()
        owner = lock.statistics().owner
        assert owner is not None
        assert owner.name == "first"
        nursery.cancel_scope.cancel()


async def test_repr_names_the_owner() -> None:
    lock = Lock()
    async with lock:
        assert f"locked by {trio.lowlevel.current_task()!r}" in repr(lock)
    assert "unlocked" in repr(lock)


async def test_waiters_of_an_owner_that_exits_get_an_error_that_names_it() -> None:
    lock = Lock()
    errors = []

    async def wait() -> None:
        with pytest.raises(
            trio.BrokenResourceError, match=r"exited without releasing.*forget"
        ) as e:
            await lock.acquire()
        errors.append(e.value)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(forget_when_others_wait, lock, name="forget")
        await trio.lowlevel.checkpoint()
        for _ in range(3):
            nursery.start_soon(wait)
    assert len(errors) == 3


async def test_acquiring_a_broken_lock_raises_an_error_that_names_the_task() -> None:
    lock = await broken_lock()
    with pytest.raises(trio.BrokenResourceError, match=r"exited without releasing.*forget"):
        await lock.acquire()


async def test_acquiring_a_broken_lock_without_waiting_raises_the_same() -> None:
    lock = await broken_lock()
    with pytest.raises(trio.BrokenResourceError, match=r"exited without releasing.*forget"):
        lock.acquire_nowait()


async def test_a_refused_acquire_leaves_nothing_to_the_collector() -> None:
    lock, errors = Lock(), weakref.WeakSet[BaseException]()
    lock.close()
    gc.disable()
    try:
        try:
            await lock.acquire()
        except trio.ClosedResourceError as error:
            errors.add(error)
        assert not errors
    finally:
        gc.enable()


async def test_a_request_for_a_broken_lock_is_refused() -> None:
    lock = await broken_lock()
    with pytest.raises(trio.BrokenResourceError, match=r"exited without releasing.*forget"):
        lock.request()


async def test_repr_shows_that_a_lock_is_broken() -> None:
    assert "broken" in repr(await broken_lock())


async def test_a_broken_lock_stays_broken_when_it_is_closed() -> None:
    lock = await broken_lock()
    lock.close()
    with pytest.raises(trio.BrokenResourceError):
        lock.acquire_nowait()


async def test_waiters_of_every_condition_on_a_lock_that_breaks_get_the_error() -> None:
    lock = Lock()
    conditions = [Condition(lock), Condition(lock)]
    errors = []

    async def wait(condition: Condition) -> None:
        try:
            async with condition:
                await condition.wait()
        except trio.BrokenResourceError as error:  # alone: leaving the block added no second one
            errors.append((error, error.__context__))

    async with trio.open_nursery() as nursery:
        for condition in conditions:
            nursery.start_soon(wait, condition)
        await settle()
        nursery.start_soon(forget, lock)
    assert [("forget" in str(error), context) for error, context in errors] == [(True, None)] * 2


async def test_a_notified_waiter_of_a_lock_that_breaks_gets_the_error() -> None:
    condition = Condition()

    async def notify_and_forget() -> None:
        await condition.acquire()
        condition.notify()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(wait_for_break, condition)
        await settle()
        nursery.start_soon(notify_and_forget)


async def test_a_cancelled_waiter_of_a_lock_that_breaks_ends() -> None:
    condition = Condition()
    scope = trio.CancelScope()

    async def wait() -> None:
        with scope:
            await wait_for_break(condition)

    async def cancel_and_forget() -> None:
        await condition.acquire()
        scope.cancel()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(wait)
        await settle()
        nursery.start_soon(cancel_and_forget)


async def test_waiting_on_a_condition_of_a_broken_lock_is_refused() -> None:
    condition = Condition(await broken_lock())
    with pytest.raises(trio.BrokenResourceError, match="forget"):
        async with condition:
            pass


async def test_a_task_that_released_may_exit_without_harm() -> None:
    lock = Lock()

    async def use() -> None:
        async with lock:
            pass

    async with trio.open_nursery() as nursery:
        nursery.start_soon(use)
    async with lock:
        pass


async def test_a_condition_wait_takes_the_lock_along_when_its_task_exits() -> None:
    """The waiter owned the lock before the wait and again after it; only then it may break."""
    condition = Condition()

    async def wait_and_forget() -> None:
        await condition.acquire()
        await condition.wait()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(wait_and_forget)
        await settle()
        async with condition:
            condition.notify()
    with pytest.raises(trio.BrokenResourceError, match="wait_and_forget"):
        await condition.acquire()


async def test_the_locks_of_one_task_all_break() -> None:
    locks = [Lock() for _ in range(3)]

    async def forget_all() -> None:
        for lock in locks:
            await lock.acquire()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(forget_all)
    for lock in locks:
        with pytest.raises(trio.BrokenResourceError):
            lock.acquire_nowait()


def test_a_lock_held_at_the_end_of_its_run_is_broken_in_the_next() -> None:
    lock = Lock()
    trio.run(forget, lock)
    with pytest.raises(trio.BrokenResourceError, match="exited without releasing"):
        trio.run(lock.acquire)


async def hold(lock: Lock) -> None:
    async with lock:
        await trio.sleep_forever()


async def forget_when_others_wait(lock: Lock) -> None:
    await lock.acquire()
    await settle()


async def wait_for_break(condition: Condition) -> None:
    with pytest.raises(trio.BrokenResourceError, match="exited without releasing"):
        async with condition:
            await condition.wait()

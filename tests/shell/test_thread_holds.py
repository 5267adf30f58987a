"""threads.hold: what a thread holds is its own, as long as its block."""

from __future__ import annotations

import copy
import gc
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, ExitStack, asynccontextmanager
from contextvars import ContextVar
from typing import Any

import pytest
import trio
from trio.lowlevel import current_trio_token

import structsync
from structsync import threads
from structsync._runtime.thread_blocks import Leave
from tests.thread_runs import Foreign, accept_all, until_waiting

LOCKS = structsync.LockMap[str]()
VARIABLE: ContextVar[str] = ContextVar("VARIABLE", default="no thread")

BLOCKS: dict[str, Callable[[], AbstractAsyncContextManager[Any, Any]]] = {
    "Lock": structsync.Lock,
    "Semaphore": lambda: structsync.Semaphore(1, max_value=1),
    "permits": lambda: structsync.Semaphore(2, max_value=2).permits(2),
    "Condition": structsync.Condition,
    "CapacityLimiter": lambda: structsync.CapacityLimiter(1),
    "reading": lambda: structsync.RWLock().reading(),
    "writing": lambda: structsync.RWLock().writing(),
    "LockMap": lambda: LOCKS["key"],
    "acquire_all": lambda: structsync.acquire_all(structsync.Lock().claim()),
    "acquire_any": lambda: structsync.acquire_any(structsync.Semaphore(1).claim()),
    "end of a channel": lambda: structsync.open_channel(1)[0],
    "open_pool": lambda: structsync.open_pool(1),
    "open_scope": structsync.open_scope,
}


@asynccontextmanager
async def recording(told: list[Any], error: BaseException | None = None) -> AsyncIterator[str]:
    try:
        yield "entered"
    except BaseException as raised:  # noqa: BLE001 - whatever the body raises
        told.append(raised)
        if error is not None:
            raise error from None
    else:
        told.append(None)


@pytest.mark.parametrize("name", BLOCKS)
async def test_a_thread_can_hold_whatever_a_block_of_a_task_holds(name: str) -> None:
    def hold_twice() -> int:
        for _ in range(2):
            with threads.hold(BLOCKS[name](), timeout=20):
                pass
        return 2

    assert await trio.to_thread.run_sync(hold_twice) == 2


async def test_a_thread_is_a_holder_of_its_own() -> None:
    lock = structsync.Lock()
    owners: list[Any] = []

    def hold(token: trio.lowlevel.TrioToken | None) -> None:
        with threads.hold(lock, token=token):
            owners.append(lock.statistics().owner)

    token = current_trio_token()
    await trio.to_thread.run_sync(hold, None)
    await trio.to_thread.run_sync(hold, token)
    await Foreign(lambda: hold(token)).wait()
    assert len(set(owners)) == 3
    assert trio.lowlevel.current_task() not in owners
    assert all(owner.name.startswith("thread ") for owner in owners)
    assert not lock.locked()
    assert not lock.broken


async def test_a_task_waits_for_a_lock_that_its_own_thread_holds() -> None:
    lock = structsync.Lock()

    def hold() -> None:
        with threads.hold(lock):
            assert trio.from_thread.run_sync(lock.locked)
            with pytest.raises(trio.WouldBlock):
                trio.from_thread.run_sync(lock.acquire_nowait)

    await trio.to_thread.run_sync(hold)


async def test_a_thread_that_takes_its_own_lock_again_is_refused_as_a_task_is() -> None:
    lock = structsync.Lock()

    def hold() -> None:
        with threads.hold(lock):
            with pytest.raises(RuntimeError, match="re-acquire"), threads.hold(lock):
                pass
            assert lock.locked()

    await trio.to_thread.run_sync(hold)
    assert not lock.locked()


async def test_threads_and_tasks_wait_in_one_queue() -> None:
    lock = structsync.Lock()
    order: list[str] = []

    async def task(name: str) -> None:
        async with lock:
            order.append(name)

    def thread() -> None:
        with threads.hold(lock, token=token):
            order.append("thread")

    token = current_trio_token()
    async with trio.open_nursery() as nursery:
        async with lock:
            nursery.start_soon(task, "first")
            await until_waiting(lock)
            foreign = Foreign(thread)
            await until_waiting(lock, 2)
            nursery.start_soon(task, "last")
            await until_waiting(lock, 3)
        await foreign.wait()
    assert order == ["first", "thread", "last"]


async def test_what_is_free_is_taken_with_a_timeout_of_zero() -> None:
    def hold() -> None:
        with threads.hold(structsync.Lock(), timeout=0):
            pass

    await trio.to_thread.run_sync(hold)


@pytest.mark.parametrize("timeout", [0, 0.01])
async def test_what_is_not_free_in_time_is_a_timeout_error(timeout: float) -> None:
    lock = structsync.Lock()

    def hold() -> None:
        with pytest.raises(TimeoutError, match=f"Lock.* within {timeout} s"):
            with threads.hold(lock, timeout=timeout):
                raise AssertionError("it is held")

    async with lock:
        await trio.to_thread.run_sync(hold)
        assert lock.statistics().tasks_waiting == 0
    lock.acquire_nowait()
    lock.release()


async def test_the_time_of_the_wait_is_not_that_of_the_block(autojump_clock: object) -> None:
    semaphore = structsync.Semaphore(1)

    def hold() -> None:
        with threads.hold(semaphore, timeout=5):
            threads.call(trio.sleep, 10)
            threads.call(trio.sleep, 10)

    await trio.to_thread.run_sync(hold)
    assert semaphore.value == 1


async def test_the_value_and_the_error_of_a_block_are_those_of_async_with() -> None:
    told: list[Any] = []
    mine, its = ValueError("mine"), KeyError("its")

    def hold() -> None:
        with threads.hold(recording(told)) as value:
            assert value == "entered"
        with threads.hold(recording(told)):  # it suppresses the error
            raise mine
        with pytest.raises(KeyError) as raised:
            with threads.hold(recording(told, its)):
                raise mine
        assert raised.value is its
        with pytest.raises(ValueError, match="mine") as passed:
            with threads.hold(recording(told, mine)):
                raise mine
        assert passed.value is mine

    await trio.to_thread.run_sync(hold)
    assert told == [None, mine, mine, mine]


async def test_an_error_that_the_context_manager_raises_again_is_the_same_error() -> None:
    class RaisesAgain:
        async def __aenter__(self) -> None:
            pass

        async def __aexit__(self, kind: object, error: BaseException | None, _: object) -> None:
            assert error is not None
            raise error

    def hold() -> None:
        with threads.hold(RaisesAgain()):
            raise mine

    mine = ValueError("mine")
    with pytest.raises(ValueError, match="mine") as raised:
        await trio.to_thread.run_sync(hold)
    assert raised.value is mine


async def test_an_error_on_entering_is_raised_in_the_thread_and_nothing_is_held() -> None:
    lock = structsync.Lock()
    lock.close()

    def hold() -> None:
        with pytest.raises(trio.ClosedResourceError), threads.hold(lock):
            pass

    await trio.to_thread.run_sync(hold)


async def test_blocks_of_one_thread_have_one_holder() -> None:
    lock, semaphore = structsync.Lock(), structsync.Semaphore(1)
    condition = structsync.Condition(lock)

    async def notify() -> None:
        async with condition:
            condition.notify()

    def hold() -> None:
        with threads.hold(condition), threads.hold(semaphore):
            trio.from_thread.run_sync(nursery.start_soon, notify)
            threads.call(condition.wait)  # which gives back the lock of the block further out
            assert lock.locked()

    async with trio.open_nursery() as nursery:
        await trio.to_thread.run_sync(hold)
    assert semaphore.value == 1
    assert not lock.locked()


async def test_blocks_left_in_another_order_are_all_left() -> None:
    first, second = structsync.Lock(), structsync.Lock()

    def hold() -> None:
        outer = ExitStack()
        outer.enter_context(threads.hold(first))
        with threads.hold(second):
            with pytest.raises(RuntimeError, match="leave them first"):
                outer.close()
            assert first.locked()
        trio.from_thread.run(trio.testing.wait_all_tasks_blocked)
        assert not first.locked()

    await trio.to_thread.run_sync(hold)
    assert not second.locked()


async def test_a_block_that_was_left_too_early_may_be_left_again() -> None:
    def hold() -> None:
        first, second = threads.hold(structsync.Lock()), threads.hold(structsync.Lock())
        first.__enter__()
        with second:
            with pytest.raises(RuntimeError, match="leave them first"):
                first.__exit__(None, None, None)
            assert not first.__exit__(None, None, None)
        trio.from_thread.run(trio.testing.wait_all_tasks_blocked)
        assert not first.__exit__(None, None, None)

    await trio.to_thread.run_sync(hold)


async def test_a_failing_job_of_a_pool_that_a_thread_holds_is_heard_of_when_it_leaves() -> None:
    async def fail() -> None:
        raise KeyError("job")

    def hold() -> None:
        with threads.hold(structsync.open_pool(1)) as pool:
            trio.from_thread.run_sync(pool.submit_nowait, fail)
            threads.call(trio.sleep_forever)

    with pytest.RaisesGroup(pytest.RaisesExc(KeyError), flatten_subgroups=True):
        await trio.to_thread.run_sync(hold)


async def frame_that_holds(lock: structsync.Lock) -> Any:
    """Return a generator that a worker thread has left inside of its block."""

    def generator() -> Any:
        with threads.hold(lock):
            yield

    def begin() -> None:
        # Not as the result of the thread, which refers to that for a while after this task has it.
        frames.append(generator())
        next(frames[0])

    frames = list[Any]()
    await trio.to_thread.run_sync(begin)
    return frames.pop()


async def test_a_frame_that_is_finalized_in_the_thread_of_the_run_gives_back() -> None:
    lock = structsync.Lock()
    frame = await frame_that_holds(lock)
    assert lock.locked()
    frame.close()
    await trio.testing.wait_all_tasks_blocked()
    assert not lock.locked()


async def test_a_frame_that_is_finalized_in_another_thread_gives_back() -> None:
    lock = structsync.Lock()
    frame = await frame_that_holds(lock)
    await Foreign(frame.close).wait()
    assert not lock.locked()


async def test_a_frame_that_is_finalized_by_a_job_of_another_run_gives_back() -> None:
    lock = structsync.Lock()
    idents: list[int] = []

    def generator() -> Any:
        with threads.hold(lock):
            idents.append(threading.get_ident())
            yield

    def begin() -> Any:
        frame = generator()
        next(frame)
        return frame

    def end() -> None:
        idents.append(threading.get_ident())
        frame.close()

    async def close_in_thread() -> None:
        await trio.to_thread.run_sync(end)

    frame = await trio.to_thread.run_sync(begin)
    other_run = Foreign(lambda: trio.run(close_in_thread))
    while lock.locked():  # noqa: ASYNC110 - this run must not take the thread for something else
        await trio.sleep(0.001)
    other_run.result()
    assert idents[0] == idents[1], "trio did not use the thread again"


def test_in_the_thread_of_a_run_it_is_refused_between_two_steps_of_its_too() -> None:
    """A guest run leaves its thread to a host, whose callbacks are in no task; so are those of an instrument."""
    refused: list[str] = []

    class Host(trio.abc.Instrument):
        def before_io_wait(self, timeout: float) -> None:
            if not refused:
                with pytest.raises(RuntimeError) as raised, threads.hold(lock, token=token[0]):
                    pass
                refused.append(str(raised.value))

    async def main() -> None:
        token.append(current_trio_token())
        trio.lowlevel.add_instrument(Host())
        await trio.testing.wait_all_tasks_blocked()

    lock, token = structsync.Lock(), list[trio.lowlevel.TrioToken]()
    trio.run(main)
    assert refused[0].startswith("this would block the thread of a trio run")


async def test_a_frame_that_is_finalized_between_two_steps_of_the_run_gives_back() -> None:
    class Collector(trio.abc.Instrument):
        def before_io_wait(self, timeout: float) -> None:
            frames.clear()

    lock = structsync.Lock()
    frames = [await frame_that_holds(lock)]
    assert lock.locked()
    trio.lowlevel.add_instrument(Collector())
    await trio.testing.wait_all_tasks_blocked()
    assert not lock.locked()


async def test_a_block_is_left_in_the_context_in_which_it_was_entered() -> None:
    """A context manager that sets a context variable can reset it."""

    @asynccontextmanager
    async def tagged() -> AsyncIterator[None]:
        before = VARIABLE.set("tagged")
        yield
        left_with.append(VARIABLE.get())
        VARIABLE.reset(before)

    def hold() -> str:
        VARIABLE.set("the thread")
        with threads.hold(tagged()):
            VARIABLE.set("the body")
        return VARIABLE.get()

    left_with: list[str] = []
    assert await trio.to_thread.run_sync(hold) == "the body"
    assert left_with == ["tagged"]


async def test_a_block_is_left_once_however_often_that_is_asked_for() -> None:
    first, second = structsync.Lock(), structsync.Lock()

    def hold() -> None:
        with threads.hold(first):
            block = threads.hold(second)
            block.__enter__()
            leaves = [Leave(block._block, None) for _ in range(2)]
            trio.from_thread.run_sync(accept_all, leaves)
            assert leaves[0]._reply.get().unwrap() is False
            assert leaves[1]._reply.get().unwrap() is False
            assert not second.locked()
            assert first.locked()

    await trio.to_thread.run_sync(hold)


async def test_a_block_that_was_lost_between_its_ends_is_left() -> None:
    lock = structsync.Lock()

    def enter() -> None:
        block = threads.hold(lock)
        block.__enter__()  # as if Ctrl-C had come before the body
        assert lock.locked()
        del block
        gc.collect()

    await trio.to_thread.run_sync(enter)
    await trio.testing.wait_all_tasks_blocked()
    assert not lock.locked()


async def test_a_block_is_entered_once_and_not_copied() -> None:
    def hold() -> None:
        block = threads.hold(structsync.Lock())
        with block:
            pass
        with pytest.raises(RuntimeError, match=r"hold\(\) it again"), block:
            pass
        with pytest.raises(TypeError, match="copied"):
            copy.copy(block)
        assert "hold of <Lock" in repr(block)

    await trio.to_thread.run_sync(hold)


def test_what_is_no_block_is_refused_at_once() -> None:
    semaphore = structsync.Semaphore(1)
    with pytest.raises(TypeError, match=r"semaphore.permits"):
        threads.hold(semaphore.acquire)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="async context manager"):
        threads.hold(open)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="seconds"):
        threads.hold(semaphore, timeout="1")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="seconds"):
        threads.hold(semaphore, timeout=True)
    for timeout in (-1, float("nan"), 10**400):
        with pytest.raises(ValueError, match=">= 0"):
            threads.hold(semaphore, timeout=timeout)
    with pytest.raises(TypeError, match="current_trio_token"):
        threads.hold(semaphore, token=semaphore)  # type: ignore[arg-type]
    assert semaphore.value == 1

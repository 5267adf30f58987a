"""threads.call: an async function, called by a thread."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

import pytest
import trio
from trio.lowlevel import current_trio_token

import structsync
from structsync import PermitLeakError, threads
from structsync._runtime.thread_blocks import Call
from tests.thread_runs import Foreign, accept_all, run_elsewhere

VARIABLE: ContextVar[str] = ContextVar("VARIABLE", default="no task")


async def add(a: int, b: int) -> int:
    await trio.lowlevel.checkpoint()
    return a + b


async def variable() -> str:
    return VARIABLE.get()


async def test_a_call_returns_or_raises_what_the_function_does() -> None:
    async def fail() -> None:
        raise KeyError("mine")

    def calls() -> None:
        assert threads.call(add, 1, 2) == 3
        assert threads.call(add, 1, 2, token=token) == 3
        with pytest.raises(KeyError, match="mine"):
            threads.call(fail)

    token = current_trio_token()
    await trio.to_thread.run_sync(calls)


async def test_items_go_between_threads_and_tasks() -> None:
    buffer = structsync.Buffer[int](1)

    def produce() -> None:
        for item in range(5):
            threads.call(buffer.put, item, token=token)
        trio.from_thread.run_sync(buffer.complete, trio_token=token)

    token = current_trio_token()
    thread = Foreign(produce)
    assert [item async for item in buffer] == list(range(5))
    await thread.wait()


async def test_a_call_that_takes_too_long_is_a_timeout_error() -> None:
    def calls() -> None:
        with pytest.raises(TimeoutError, match=r"sleep_forever.* within 0.01 s"):
            threads.call(trio.sleep_forever, timeout=0.01)

    await trio.to_thread.run_sync(calls)


async def test_each_call_sees_the_context_of_its_thread_then() -> None:
    def calls() -> list[str]:
        found = [threads.call(variable)]
        with threads.hold(structsync.Lock()):
            for name in ("one", "two", "three"):
                VARIABLE.set(name)
                found.append(threads.call(variable))
        return found

    assert await trio.to_thread.run_sync(calls) == ["no task", "one", "two", "three"]


async def test_calls_that_come_in_one_step_see_each_the_context_of_its_time() -> None:
    def calls() -> list[str]:
        asked = []
        with threads.hold(structsync.Lock()):
            for name in ("one", "two"):
                VARIABLE.set(name)
                asked.append(Call(variable, (), None))
            trio.from_thread.run_sync(accept_all, asked)
        return [one._reply.get().unwrap() for one in asked]

    assert await trio.to_thread.run_sync(calls) == ["one", "two"]


async def test_a_call_that_is_dropped_does_not_end_the_next_one() -> None:
    def calls() -> str:
        dropped, called = Call(variable, (), None), Call(variable, (), None)

        def drop() -> None:
            dropped.accept()
            dropped._interrupt_from_thread()
            called.accept()

        trio.from_thread.run_sync(drop)
        name: str = called._reply.get().unwrap()
        return name

    assert await trio.to_thread.run_sync(calls) == "no task"
    assert await trio.to_thread.run_sync(threads.call, variable) == "no task"


async def test_a_call_cannot_leave_a_lock_locked_outside_of_any_block() -> None:
    lock, rwlock = structsync.Lock(), structsync.RWLock()
    own = structsync.Lock(name="mine")

    async def read() -> None:
        await rwlock.reading().__aenter__()

    def calls() -> None:
        with pytest.raises(PermitLeakError, match=r"Lock 'mine'.*hold"):
            threads.call(own.acquire)
        with pytest.raises(PermitLeakError, match="RWLock"):
            threads.call(read)
        with threads.hold(lock):
            threads.call(own.acquire)
            assert own.locked()

    with pytest.raises(PermitLeakError, match="mine"):
        await trio.to_thread.run_sync(calls)
    for one in (lock, own):
        assert not one.locked()
        assert not one.broken
    assert rwlock.statistics().readers == ()


async def test_a_call_that_fails_with_a_lock_locked_breaks_it_as_any_task_does() -> None:
    lock = structsync.Lock()

    async def fail() -> None:
        await lock.acquire()
        raise KeyError("half done")

    def calls() -> None:
        with pytest.raises(KeyError):
            threads.call(fail)

    await trio.to_thread.run_sync(calls)
    await trio.testing.wait_all_tasks_blocked()
    assert lock.broken


async def test_what_is_no_async_function_is_refused() -> None:
    def calls() -> None:
        with pytest.raises(TypeError, match=r"call\(fn, \*args\)"):
            threads.call(None)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match=r"async functions.*from_thread.run_sync"):
            threads.call(len, "abc")  # type: ignore[arg-type]
        with pytest.raises(ValueError, match=">= 0"):
            threads.call(add, 1, 2, timeout=-1)

    await trio.to_thread.run_sync(calls)


async def test_in_the_thread_of_a_run_it_is_refused_because_it_would_block_it() -> None:
    lock = structsync.Lock()
    with pytest.raises(RuntimeError, match="would block the thread of a trio run"):
        threads.call(add, 1, 2)
    with pytest.raises(RuntimeError, match="would block"), threads.hold(lock):
        pass
    with run_elsewhere() as (token, other):
        with pytest.raises(RuntimeError, match="would block"):
            with threads.hold(other, token=token):
                pass
    assert not lock.locked()


async def test_a_thread_that_trio_did_not_start_needs_a_token() -> None:
    def calls() -> None:
        with pytest.raises(RuntimeError, match="pass token="):
            threads.call(add, 1, 2)

    await Foreign(calls).wait()


async def test_a_token_of_an_ended_run_is_refused() -> None:
    async def token() -> Any:
        return current_trio_token()

    ended = await trio.to_thread.run_sync(trio.run, token)

    def calls() -> None:
        with pytest.raises(trio.RunFinishedError):
            threads.call(add, 1, 2, token=ended)
        with pytest.raises(trio.RunFinishedError), threads.hold(structsync.Lock(), token=ended):
            pass

    await trio.to_thread.run_sync(calls)


async def test_what_another_run_uses_is_refused_there() -> None:
    lock = structsync.Lock()

    def calls() -> None:
        with run_elsewhere() as (token, _):
            with pytest.raises(RuntimeError, match="another trio run"):
                with threads.hold(lock, token=token):
                    pass

    async with lock:
        await trio.to_thread.run_sync(calls)

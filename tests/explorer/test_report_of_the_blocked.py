"""Who is blocked at the end of a failing schedule, where it stands, and what it waits for."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Generator
from typing import Any

import pytest
import trio
from trio.lowlevel import checkpoint

import structsync

from .conftest import Program, failure_of


async def at_a_lock() -> None:
    lock = trio.Lock()
    await lock.acquire()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(lock.acquire)
        nursery.start_soon(lock.acquire)


async def at_our_lock() -> None:
    lock = structsync.Lock()
    await lock.acquire()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(lock.acquire)
        nursery.start_soon(checkpoint)


async def at_our_rwlock() -> None:
    rwlock = structsync.RWLock()
    await rwlock.acquire_read()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(rwlock.acquire_write)
        nursery.start_soon(checkpoint)


async def for_two_locks() -> None:
    near, far = structsync.Lock(), structsync.Lock()

    async def takes() -> None:
        async with structsync.acquire_all(near.claim(), far.claim()):
            pass

    await near.acquire()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(takes)
        nursery.start_soon(checkpoint)


async def for_one_of_two() -> None:
    semaphore = structsync.Semaphore(0)

    async def takes() -> None:
        async with structsync.acquire_any(semaphore.claim(), structsync.Semaphore(0).claim()):
            pass

    async with trio.open_nursery() as nursery:
        nursery.start_soon(takes)
        nursery.start_soon(checkpoint)


async def for_a_request_of_two() -> None:
    near, far = structsync.Lock(), structsync.Lock(name="the far one")
    await near.acquire()

    async def takes() -> None:
        with structsync.acquire_all(near.claim(), far.claim()).request() as request:
            await request.wait()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(takes)
        nursery.start_soon(checkpoint)


async def at_a_limiter() -> None:
    limiter = trio.CapacityLimiter(1)
    await limiter.acquire()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(limiter.acquire)
        nursery.start_soon(checkpoint)


async def at_our_wait_queue() -> None:
    queue = structsync.WaitQueue()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(queue.wait)
        nursery.start_soon(checkpoint)


async def at_a_condition() -> None:
    condition = trio.Condition()

    async def waits() -> None:
        async with condition:
            await condition.wait()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(waits)
        nursery.start_soon(checkpoint)


async def at_a_channel() -> None:
    send, receive = trio.open_memory_channel[int](1)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(receive.receive)
        nursery.start_soon(checkpoint)
        await trio.sleep_forever()
    send.close()


async def at_a_full_channel() -> None:
    send, receive = trio.open_memory_channel[int](1)
    send.send_nowait(1)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(send.send, 2)
        nursery.start_soon(checkpoint)
        await trio.sleep_forever()
    receive.close()


async def at_something_of_its_own() -> None:
    async def waits() -> None:
        await trio.lowlevel.wait_task_rescheduled(lambda _: trio.lowlevel.Abort.SUCCEEDED)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(waits)
        nursery.start_soon(checkpoint)


@pytest.mark.parametrize(
    ("program", "why"),
    [
        (at_a_lock, "waits for lock: held by main, 2 waiting"),
        (at_our_lock, "waits for lock: held by main, 1 waiting"),
        (at_our_rwlock, "waits for rwlock: read by main, 1 waiting"),
        (for_two_locks, "waits for all of near: held by main, 1 waiting; far: free, 1 waiting"),
        (for_one_of_two, "waits for any of semaphore: 0 free, 1 waiting; a Semaphore: 0 free"),
        (
            for_a_request_of_two,
            "waits for all of near: held by main, 1 waiting; the far one: free, 1 waiting",
        ),
        (at_a_limiter, "waits for limiter: 1 of 1 lent, 1 waiting"),
        (at_our_wait_queue, "waits for queue: "),
        (at_a_condition, "waits for condition: 1 waiting"),
        (at_a_channel, "waits for an item of a memory channel"),
        (at_a_full_channel, "waits for send: 1 of 1 buffered, 1 sending, 0 receiving"),
        (at_something_of_its_own, ""),
    ],
)
def test_a_blocked_task_is_said_to_wait_for_something(program: Program, why: str) -> None:
    blocked = failure_of(program).counterexample.blocked
    assert blocked[0].task == "main"
    assert blocked[1].why.startswith(why)
    assert bool(blocked[1].why) is bool(why)


async def _through_a_generator() -> AsyncIterator[int]:
    yield 1
    await trio.sleep_forever()


class _Awaitable:
    def __await__(self) -> Generator[Any, Any, None]:
        yield from trio.sleep_forever().__await__()  # noqa: ASYNC105 - what "await" does


async def in_a_generator() -> None:
    async for _ in _through_a_generator():
        pass


async def in_an_awaitable() -> None:
    await _Awaitable()


@contextlib.asynccontextmanager
async def _manager() -> AsyncIterator[None]:
    await trio.sleep_forever()
    yield


async def in_a_context_manager() -> None:
    async with _manager():
        pass


@pytest.mark.parametrize(
    ("function", "place", "source"),
    [
        (in_a_generator, "_through_a_generator", "await trio.sleep_forever()"),
        (in_an_awaitable, "__await__", "yield from trio.sleep_forever().__await__()"),
        (in_a_context_manager, "_manager", "await trio.sleep_forever()"),
    ],
)
@pytest.mark.filterwarnings("ignore:.*was garbage collected before it:ResourceWarning")
def test_the_stack_of_the_blocked_goes_through_everything_that_is_awaited(
    function: Callable[[], Awaitable[None]], place: str, source: str
) -> None:
    async def program() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(function)
            nursery.start_soon(checkpoint)

    [_, blocked] = failure_of(program).counterexample.blocked
    assert [frame.partition(" in ")[2] for frame in blocked.where] == [place, function.__name__]
    assert all(frame.startswith("test_report_of_the_blocked.py:") for frame in blocked.where)
    assert blocked.source == source


# ==== primitives by the names of the program ====


class Pool:
    def __init__(self) -> None:
        self.slots = trio.Semaphore(0)


def test_a_primitive_in_an_attribute_is_called_by_it() -> None:
    async def program() -> None:
        pool = Pool()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(pool.slots.acquire)
            nursery.start_soon(checkpoint)

    [_, blocked] = failure_of(program).counterexample.blocked
    assert blocked.why == "waits for pool.slots: 0 free, 1 waiting"


def test_a_primitive_without_a_name_is_called_by_its_class() -> None:
    async def program() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(trio.Event().wait)
            nursery.start_soon(checkpoint)

    [_, blocked] = failure_of(program).counterexample.blocked
    assert blocked.why.startswith("waits for an Event")


def test_only_what_is_still_there_is_told() -> None:
    async def program() -> None:
        ours, theirs = structsync.Semaphore(0), trio.Lock()

        async def worker() -> None:
            trio.Event().set()
            await ours.acquire()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(worker)
            nursery.start_soon(worker)
        assert not theirs.locked()

    shown = failure_of(program).counterexample
    assert set(shown.steps[-1].state) == {"ours", "theirs"}

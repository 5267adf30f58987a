"""trio's own primitives, explored to the end: all are right but Condition, which loses notifications.

They are not ours to test. But where the explorer says that they are right or wrong, it should know.
"""

from __future__ import annotations

from functools import partial

import trio
from trio.lowlevel import checkpoint

from structsync.testing import ExploredRun

from .sweeping import SIZES, Sweep, swept, together
from .test_condition import share_a_connection


async def one_at_a_time(x: ExploredRun, tasks: int, primitive: object) -> None:
    async def worker() -> None:
        async with primitive:  # type: ignore[attr-defined]  # one of trio's
            with x.exclusive("it"):
                await checkpoint()

    await together(*[worker] * tasks)


@swept(least=40, sizes=SIZES[:1])
async def test_trio_lock(x: ExploredRun, tasks: int) -> None:
    await one_at_a_time(x, tasks, trio.Lock())


@swept(least=40, sizes=SIZES[:1])
async def test_trio_strict_fifo_lock(x: ExploredRun, tasks: int) -> None:
    await one_at_a_time(x, tasks, trio.StrictFIFOLock())


@swept(least=40, sizes=SIZES[:1])
async def test_trio_semaphore(x: ExploredRun, tasks: int) -> None:
    await one_at_a_time(x, tasks, trio.Semaphore(1, max_value=1))


@swept(least=40, sizes=SIZES[:1])
async def test_trio_capacity_limiter(x: ExploredRun, tasks: int) -> None:
    await one_at_a_time(x, tasks, trio.CapacityLimiter(1))


@swept(least=20, sizes=SIZES[:1])
async def test_trio_event(x: ExploredRun, tasks: int) -> None:
    event = trio.Event()

    async def waiter() -> None:
        await event.wait()
        if not event.is_set():
            x.fail("woken by no task")

    async def setter() -> None:
        try:
            await checkpoint()
        finally:
            event.set()

    await together(setter, *[waiter] * (tasks - 1))


async def senders_and_a_receiver(x: ExploredRun, tasks: int, buffered: int) -> None:
    send, receive = trio.open_memory_channel[None](buffered)
    sent = received = 0
    stopped = False
    x.finally_(lambda: stopped or sent == received, "what was sent was received once")

    async def sender(end: trio.MemorySendChannel[None]) -> None:
        nonlocal sent
        with end:
            try:
                await end.send(None)
            except trio.BrokenResourceError:
                if not stopped:
                    x.fail("told that no task receives, but a task does")
            else:
                sent += 1

    async def receiver() -> None:
        nonlocal received, stopped
        try:
            with receive:
                async for _ in receive:
                    received += 1
        except trio.Cancelled:
            stopped = True
            raise

    senders = [partial(sender, send.clone()) for _ in range(tasks - 1)]
    send.close()
    await together(receiver, *senders)


@swept(least=190, sizes=SIZES[:1])
async def test_trio_memory_channel_without_a_buffer(x: ExploredRun, tasks: int) -> None:
    await senders_and_a_receiver(x, tasks, 0)


@swept(least=220, sizes=SIZES[:1])
async def test_trio_memory_channel_with_a_buffer_of_one(x: ExploredRun, tasks: int) -> None:
    await senders_and_a_receiver(x, tasks, 1)


def test_trio_condition_loses_a_notification() -> None:
    """N1, trio up to 0.35 at least: when this fails, trio has fixed it, and our pages are out of date."""

    async def program(x: ExploredRun, tasks: int) -> None:
        await share_a_connection(tasks, trio.Condition())

    failure = Sweep(program, {}).explore(SIZES[0]).failure
    assert failure is not None
    assert failure.kind == "deadlock"
    assert failure.replayed == "same"

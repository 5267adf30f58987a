"""Programs that ask the same of several libraries: a lock, permits, a condition, a channel."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import trio
from trio.lowlevel import checkpoint

from structsync.testing import ExploredRun

from ._rows import Program

Block = AbstractAsyncContextManager[object]


def no_more_than(limit: int, make: Callable[[], Block], workers: int = 3) -> Program:
    """Return a program of workers of whom no more than ``limit`` may be in the block at once.

    At its end every task has been in there, or was cancelled, and it can be entered again.
    """

    async def workers_in_a_block(x: ExploredRun) -> None:
        block = make()

        async def worker() -> None:
            async with block:
                with x.exclusive("the block", limit):
                    await checkpoint()

        async with trio.open_nursery() as nursery:
            for _ in range(workers):
                nursery.start_soon(worker)
        with x.not_cancelled():
            await worker()

    return workers_in_a_block


def notification_goes_to_who_is_left(make: Callable[[], Any]) -> Program:
    """Return a program in which one of two waiters is cancelled while something is there for one."""

    async def one_of_two_is_cancelled() -> None:
        condition: Any = make()
        items: list[str] = []
        scope, over = trio.CancelScope(), trio.Event()
        taken: list[str] = []

        async def take() -> None:
            async with condition:
                while not items:
                    await condition.wait()
                taken.append(items.pop())

        async def put() -> None:
            async with condition:
                items.append("an item")
                condition.notify()
                await checkpoint()  # so that it has something to wait for who was notified

        async def first() -> None:
            with scope:
                await take()
            over.set()

        async def canceller() -> None:
            scope.cancel()
            await over.wait()
            if not scope.cancelled_caught:
                await put()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(first)
            nursery.start_soon(take)
            nursery.start_soon(put)
            nursery.start_soon(canceller)

    return one_of_two_is_cancelled


def nothing_is_lost(open_channel: Callable[[], tuple[Any, Any]]) -> Program:
    """Return a program in which what was sent is received once, although a receiver is cancelled."""

    async def a_sender_and_two_receivers() -> None:
        sending, receiving = open_channel()
        sent: list[int] = []
        received: list[int] = []

        async def sender() -> None:
            async with sending:
                for number in (1, 2):
                    await sending.send(number)
                    sent.append(number)

        async def receiver(channel: Any) -> None:
            async with channel:
                async for number in channel:
                    received.append(number)  # noqa: PERF401 - each counts at once

        async with trio.open_nursery() as nursery:
            nursery.start_soon(sender)
            nursery.start_soon(in_a_scope, receiver, receiving.clone())
            nursery.start_soon(receiver, receiving)
        assert sorted(received) == sent, f"sent {sent}, received {received}"

    return a_sender_and_two_receivers


async def in_a_scope(fn: Callable[..., Awaitable[object]], *args: Any) -> None:
    """Call a function in a cancel scope of its own."""
    with trio.CancelScope():
        await fn(*args)

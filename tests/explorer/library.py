"""What stands for a library in tests of what may be cancelled: it keeps scopes and tasks to itself."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import trio
from trio.lowlevel import checkpoint


async def ask_a_helper() -> str:
    """Return the answer of a task of the library's own, which no other task can cancel."""
    answers: list[str] = []

    async def helper() -> None:
        await checkpoint()
        answers.append("yes")

    async with trio.open_nursery() as nursery:
        nursery.start_soon(helper)
    assert answers, "the helper has not answered"
    return answers[0]


@asynccontextmanager
async def service() -> AsyncIterator[Callable[[Callable[[], Awaitable[object]]], None]]:
    """Yield what starts tasks in a nursery of the library's."""
    async with trio.open_nursery() as nursery:

        def start(fn: Callable[[], Awaitable[object]]) -> None:
            async def wrapped() -> None:
                await fn()

            nursery.start_soon(wrapped)

        yield start

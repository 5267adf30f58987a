"""trio.CapacityLimiter: two tasks wait on behalf of one borrower, and both get its one token."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import trio

import structsync
from structsync.testing import Settings

from .exhibit import Exhibit

if TYPE_CHECKING:
    from structsync.testing import ExploredRun

Limiter: TypeAlias = trio.CapacityLimiter | structsync.CapacityLimiter


async def work_on_behalf(x: ExploredRun, limiter: Limiter) -> None:
    x.watch(limiter=limiter)

    async def other() -> None:
        async with limiter:
            await trio.lowlevel.checkpoint()
            limiter.total_tokens = 3

    async def on_behalf_of_the_job() -> None:
        try:
            await limiter.acquire_on_behalf_of("job")
        except RuntimeError:
            return  # the job has its token already, or is in the queue for it
        await trio.lowlevel.checkpoint()
        limiter.release_on_behalf_of("job")

    async with trio.open_nursery() as nursery:
        nursery.start_soon(other)
        nursery.start_soon(on_behalf_of_the_job)
        nursery.start_soon(on_behalf_of_the_job)


async def trio_limiter(x: ExploredRun) -> None:
    await work_on_behalf(x, trio.CapacityLimiter(1))


async def structsync_limiter(x: ExploredRun) -> None:
    await work_on_behalf(x, structsync.CapacityLimiter(1))


EXHIBIT = Exhibit(
    name="double grant to one borrower",
    source="O5, trio.CapacityLimiter up to 0.35 at least",
    mechanism="That a borrower has a token already is tested before the wait and not at the grant; "
    "two grants lend one token, and the second release fails.",
    buggy=trio_limiter,
    fixed=structsync_limiter,
    settings=Settings(cancels=0),
    finds="error",
    culprit="this borrower isn't holding any",
    budget=100,
)

"""In a program, too, only so many later arrivals may overtake."""

from collections.abc import Awaitable, Callable

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

import structsync


@pytest.mark.parametrize("nowait", [False, True])
async def test_arrivals_that_overtake_without_waiting_count_against_the_ageing(
    nowait: bool,
) -> None:
    semaphore = structsync.Semaphore(1, policy="priority", ageing=3)
    overtakers = 0

    async def patient() -> None:
        await semaphore.acquire(2, priority=1)

    async def eager() -> None:
        nonlocal overtakers
        while overtakers < 10:
            if nowait:
                semaphore.acquire_nowait()
            else:
                await semaphore.acquire()
            overtakers += 1
            semaphore.release()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(patient)
        await wait_all_tasks_blocked()
        nursery.start_soon(eager_until_it_must_wait, eager)
        await wait_all_tasks_blocked()
        assert overtakers == 2
        nursery.cancel_scope.cancel()


async def eager_until_it_must_wait(eager: Callable[[], Awaitable[None]]) -> None:
    try:
        await eager()
    except trio.WouldBlock:
        pass

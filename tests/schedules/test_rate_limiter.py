"""RateLimiter: every schedule of a few tasks, any of them cancelled anywhere, and time that is early."""

from __future__ import annotations

from functools import partial

import trio
from trio.lowlevel import checkpoint

from structsync import PrimitiveEvent, RateLimiter, RequestWithdrawn, observe
from structsync.testing import ExploredRun

from .closing import closed_meanwhile
from .sweeping import Size, swept, together


@swept(least=20)
async def test_no_more_is_granted_than_time_has_brought(x: ExploredRun, tasks: int) -> None:
    """And no less: a task that is still there at the end has waited no longer than for those before."""
    limiter = RateLimiter(1, burst=2)
    granted: list[int] = []

    def note(event: PrimitiveEvent) -> None:
        if event.kind == "granted":
            granted.append(event.claim)

    def on_hand() -> int:
        return 2 + int(trio.current_time()) - sum(granted)

    x.always(lambda: on_hand() >= 0, "nothing is granted on credit")

    async def worker(claim: int) -> None:
        await limiter.acquire(claim)

    with observe(note):
        await together(*[partial(worker, 2 if place == 1 else 1) for place in range(tasks)])
        if trio.current_time() > max(0, sum(granted) - 2):
            x.fail("a task waited longer than for what was granted")


@swept(least=40, sizes=(Size(2, 1), Size(3, 0)), clock="explore", long=True)
async def test_who_gives_up_in_time_takes_nothing(x: ExploredRun, tasks: int) -> None:
    limiter = RateLimiter(1, burst=1)
    granted = 0

    async def worker(patience: float) -> None:
        nonlocal granted
        with trio.move_on_after(patience) as scope:
            await limiter.acquire()
        granted += not scope.cancelled_caught

    await together(*[partial(worker, 1 + place / 2) for place in range(tasks)])
    await trio.sleep_until(10)  # by then the bucket is full, whatever was taken
    limiter.acquire_nowait()
    await limiter.acquire()
    if trio.current_time() != 11:
        x.fail("a permit has come early, or late")


@swept(least=30)
async def test_closing_sends_every_waiting_task_away(x: ExploredRun, tasks: int) -> None:
    limiter = RateLimiter(1)

    async def use() -> None:
        await limiter.acquire()
        await checkpoint()

    await closed_meanwhile(x, limiter, *[use] * (tasks - 1))


@swept(least=30)
async def test_a_request_is_granted_in_its_turn_whichever_task_waits_for_it(
    x: ExploredRun, tasks: int
) -> None:
    limiter = RateLimiter(1, burst=1)
    request = limiter.request()
    later = limiter.request()
    x.always(lambda: request.status == "granted", "what is granted stays so")

    async def wait() -> None:
        try:
            await later.wait()
        except RequestWithdrawn:
            return
        if trio.current_time() < 1:
            x.fail("a permit has come early")

    async def acquire() -> None:
        await limiter.acquire()
        if trio.current_time() < 1 or (later.status == "granted" and trio.current_time() < 2):
            x.fail("a permit was granted twice")

    async def give_up() -> None:
        await checkpoint()
        later.close()

    await together(wait, *[acquire, give_up][: tasks - 1])


@swept(least=10)
async def test_who_sleeps_behind_a_request_is_woken_in_time(x: ExploredRun, tasks: int) -> None:
    limiter = RateLimiter(1, burst=1)
    limiter.acquire_nowait()
    ahead = limiter.request()  # no task waits for it
    granted = 0

    async def acquire() -> None:
        nonlocal granted
        await limiter.acquire()
        granted += 1
        if trio.current_time() < 2:
            x.fail("a permit has come before its turn")

    await together(*[acquire] * (tasks - 1))
    if trio.current_time() > 1 + granted:
        x.fail("a task waited longer than for those before it")
    ahead.close()

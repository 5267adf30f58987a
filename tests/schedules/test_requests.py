"""Requests of locks, limiters and groups: every schedule, and any task cancelled anywhere."""

from __future__ import annotations

from functools import partial

from trio.lowlevel import checkpoint

from structsync import (
    GroupRequest,
    Holding,
    Lock,
    RequestWithdrawn,
    RWLock,
    Semaphore,
    acquire_all,
    acquire_any,
)
from structsync.testing import ExploredRun

from .sweeping import swept, together


@swept(least=100, long=True)
async def test_a_request_of_a_group_is_all_of_it_or_nothing(x: ExploredRun, tasks: int) -> None:
    lock, permits = Lock(), Semaphore(2, max_value=2)
    x.always(lambda: permits.value >= 0, "no more permits than there are")

    async def both() -> None:
        with acquire_all(lock.claim(), permits.claim(2)).request() as request:
            await checkpoint()
            held = await request.wait()
            with x.exclusive("the lock"), x.exclusive("the permits"):
                await checkpoint()
            if len(held.claims) != 2:
                x.fail("granted in part")

    async def one() -> None:
        async with permits.permits(2):
            with x.exclusive("the permits"):
                await checkpoint()

    await together(one, *[both] * (tasks - 1))


@swept(least=100, long=True)
async def test_a_request_may_be_closed_by_any_task_at_any_time(x: ExploredRun, tasks: int) -> None:
    """A task that is told that it waits in vain holds nothing, and nothing is given back twice."""
    permits, other = Semaphore(1, max_value=1), Semaphore(1, max_value=1)
    requests: list[GroupRequest[object]] = []

    async def worker() -> None:
        with acquire_any(permits.claim(), other.claim(1)).request() as request:
            requests.append(request)  # type: ignore[arg-type]  # covariant in what it is asked for
            try:
                await request.wait()
            except RequestWithdrawn:
                return
            await checkpoint()

    async def closer() -> None:
        await checkpoint()
        for request in reversed(requests):
            was = request.status
            request.close()
            if request.released is not (was == "granted"):
                x.fail(f"a request that was {was}: released is {request.released}")

    async def taker() -> None:
        async with permits, other:
            await checkpoint()

    await together(closer, *[(worker, taker)[place % 2] for place in range(tasks - 1)])


@swept(least=60)
async def test_what_is_given_back_early_lets_others_in_and_the_rest_does_not(
    x: ExploredRun, tasks: int
) -> None:
    lock, permit = Lock(), Semaphore(1, max_value=1)

    async def early() -> None:
        first = lock.claim()
        async with acquire_all(first, permit.claim()) as held:
            with x.exclusive("the lock"), x.exclusive("the permit"):
                await checkpoint()
            held.release(first)
            with x.exclusive("the permit"):
                await checkpoint()

    async def one() -> None:
        async with lock:
            with x.exclusive("the lock"):
                await checkpoint()

    await together(one, *[early] * (tasks - 1))


@swept(least=60)
async def test_what_is_kept_is_held_until_it_is_closed(x: ExploredRun, tasks: int) -> None:
    permit, other = Semaphore(1, max_value=1), Semaphore(1, max_value=1)

    async def take() -> Holding:
        async with acquire_all(permit.claim(), other.claim()) as held:
            return held.keep()

    async def keeper() -> None:
        with await take():
            with x.exclusive("the permit"):
                await checkpoint()

    async def one() -> None:
        async with permit:
            with x.exclusive("the permit"):
                await checkpoint()

    await together(one, *[keeper] * (tasks - 1))


@swept(least=60)
async def test_readers_and_writers_by_request_are_apart(x: ExploredRun, tasks: int) -> None:
    lock = RWLock()
    inside: list[str] = []

    async def use(mode: str) -> None:
        request = lock.read_request() if mode == "read" else lock.write_request()
        with request:
            await request.wait()
            inside.append(mode)
            if "write" in inside and len(inside) > 1:
                x.fail(f"inside at once: {inside}")
            try:
                await checkpoint()
            finally:
                inside.remove(mode)

    await together(*[partial(use, ("read", "write")[place % 2]) for place in range(tasks)])

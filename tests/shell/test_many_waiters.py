"""A hundred thousand waiters, all cancelled: in a time that grows with their number, without a rest."""

import gc
import weakref
from typing import Any

import pytest
import trio
import trio.testing

from structsync import CapacityLimiter, Lock, Semaphore, WaitQueue

MANY = 100_000
FEWER = 10_000  # for what differs from the first in the core alone


async def queue_and_cancel(
    primitive: Any, wait: Any, occupy: Any, tasks: int
) -> list[weakref.ref[Any]]:
    """Let many tasks wait and cancel them all at once; return references to some of them."""
    occupy()
    some = []

    async def waiter(number: int) -> None:
        if number % 1000 == 0:
            some.append(weakref.ref(trio.lowlevel.current_task()))
        await wait()

    async with trio.open_nursery() as nursery:
        for number in range(tasks):
            nursery.start_soon(waiter, number)
        await trio.testing.wait_all_tasks_blocked()
        assert primitive.statistics().tasks_waiting == tasks
        nursery.cancel_scope.cancel()
    return some


def make(name: str) -> tuple[Any, Any, Any]:
    if name == "lock":
        lock = Lock()
        return lock, lock.acquire, lock.acquire_nowait
    if name == "limiter":
        limiter = CapacityLimiter(0)
        return limiter, limiter.acquire, lambda: None
    if name == "wait queue":
        queue = WaitQueue()
        return queue, queue.wait, lambda: None
    semaphore = Semaphore(0, policy=name)  # type: ignore[arg-type]
    return semaphore, semaphore.acquire, lambda: None


@pytest.mark.parametrize(
    ("name", "tasks"),
    [
        ("fifo", FEWER),
        pytest.param("fifo", MANY, marks=pytest.mark.nightly),
        ("priority", FEWER),
        ("eligible", FEWER),
        ("lock", FEWER),
        ("limiter", FEWER),
        ("wait queue", FEWER),
    ],
)
def test_cancelled_waiters_leave_nothing_behind(name: str, tasks: int) -> None:
    primitive, wait, occupy = make(name)
    some = trio.run(queue_and_cancel, primitive, wait, occupy, tasks)
    gc.collect()
    assert len(some) == tasks / 1000
    assert [reference for reference in some if reference() is not None] == []
    assert primitive.statistics().tasks_waiting == 0


@pytest.mark.timeout(100)  # a queue that is searched for each withdrawal takes hours
@pytest.mark.parametrize("newest_first", [False, True])
@pytest.mark.parametrize("policy", ["fifo", "priority", "eligible"])
def test_a_hundred_thousand_withdrawals_search_no_queue(policy: Any, newest_first: bool) -> None:
    semaphore = Semaphore(1, policy=policy)

    async def main() -> int:
        requests = [semaphore.request(2) for _ in range(MANY)]
        for request in reversed(requests) if newest_first else requests:
            request.withdraw()
        return semaphore.statistics().tasks_waiting

    assert trio.run(main) == 0


def test_one_release_grants_a_hundred_thousand_requests() -> None:
    semaphore = Semaphore(0)

    async def main() -> set[str]:
        requests = [semaphore.request() for _ in range(MANY)]
        semaphore.release(MANY)
        return {request.status for request in requests}

    assert trio.run(main) == {"granted"}

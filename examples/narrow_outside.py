"""Two limits for each page: ten pages at once, and one page of each host at once.

A group waits in both queues at once, and the requests behind it wait for it in both. So the pages of one slow
host block all others in the wide queue. Nested, with the narrow limit outside, pages wait only where they
must, and the wide queue has only pages that may be fetched. Groups are for locks, where holding one while
waiting for the next can complete a cycle.

Prints::

    acquire_all: the other hosts after 13 s, all after 13 s
    the wide limit outside: the other hosts after 9 s, all after 10 s
    the narrow limit outside: the other hosts after 4 s, all after 12 s
"""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import trio
import trio.testing

from structsync import Semaphore, acquire_all

PAGES = ["slow"] * 10 + [f"host {number}" for number in range(30)]
Limits = Callable[[Semaphore, Semaphore], AbstractAsyncContextManager[Any]]


def as_a_group(wide: Semaphore, narrow: Semaphore) -> AbstractAsyncContextManager[Any]:
    return acquire_all(wide.claim(), narrow.claim())


@asynccontextmanager
async def one_in_the_other(outside: Semaphore, inside: Semaphore) -> AsyncIterator[None]:
    async with outside, inside:
        yield


async def crawl(limits: Limits) -> tuple[float, float]:
    """Return when the last page of the other hosts was there, and when the last of all."""
    others = 0.0
    start = trio.current_time()
    wide = Semaphore(10, max_value=10)
    hosts = {host: Semaphore(1, max_value=1) for host in PAGES}

    async def fetch(host: str) -> None:
        nonlocal others
        async with limits(wide, hosts[host]):
            await trio.sleep(1)
        if host != "slow":
            others = trio.current_time() - start

    async with trio.open_nursery() as nursery:
        for host in PAGES:
            nursery.start_soon(fetch, host)
            await trio.lowlevel.checkpoint()
    return others, trio.current_time() - start


WAYS: dict[str, Limits] = {
    "acquire_all": as_a_group,
    "the wide limit outside": one_in_the_other,
    "the narrow limit outside": lambda wide, narrow: one_in_the_other(narrow, wide),
}
for name, limits in WAYS.items():
    clock = trio.testing.MockClock(autojump_threshold=0)
    others, all_of_them = trio.run(crawl, limits, clock=clock)
    print(f"{name}: the other hosts after {others:.0f} s, all after {all_of_them:.0f} s")

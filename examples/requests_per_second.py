"""Calls to a service that allows only so many per second: exact, and first come, first served.

Two calls may be made at once, and then one every half second. A large call waits for all of its permits; a
call that gives up delays no other.

Prints::

    0.0 s: page 1
    0.0 s: page 2
    0.5 s: page 3
    1.0 s: page 4
    2.0 s: two pages at once
    2.2 s: gave up
    2.5 s: page 5
"""

import trio
from trio.testing import MockClock

import structsync


async def main() -> None:
    limiter = structsync.RateLimiter(2, burst=2, name="pages")
    began = trio.current_time()

    def tell(text: str) -> None:
        print(f"{trio.current_time() - began:.1f} s: {text}")

    for number in (1, 2, 3, 4):
        await limiter.acquire()
        tell(f"page {number}")
    await limiter.acquire(2)
    tell("two pages at once")
    with trio.move_on_after(0.2) as scope:
        await limiter.acquire(2)
    if scope.cancelled_caught:
        tell("gave up")
    await limiter.acquire()
    tell("page 5")


trio.run(main, clock=MockClock(autojump_threshold=0))

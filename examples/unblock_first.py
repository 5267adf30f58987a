"""An unblock that comes before the block, and is not lost.

A worker is told twice that there is work, before it looks once. An unpark of trio's ParkingLot that
finds no waiter is lost; an Event remembers that it was set, not how often, and cannot be used again.
Each unblock of a Parker lets one block pass, in any order.

Prints::

    trio.lowlevel.ParkingLot: 0 of 2
    trio.Event: passes forever
    structsync.Parker: 2 of 2
"""

from collections.abc import Awaitable, Callable

import trio
from trio.testing import MockClock

import structsync


async def passes(wait: Callable[[], Awaitable[object]]) -> int:
    """Return how often ``wait`` returns within a minute, counting to 10."""
    count = 0
    with trio.move_on_after(60):
        while count < 10:
            await wait()
            count += 1
    return count


async def main() -> None:
    lot = trio.lowlevel.ParkingLot()
    lot.unpark()
    lot.unpark()
    print(f"trio.lowlevel.ParkingLot: {await passes(lot.park)} of 2")

    event = trio.Event()
    event.set()
    event.set()
    print("trio.Event:", "passes forever" if await passes(event.wait) == 10 else "counts")

    parker = structsync.Parker()
    parker.unblock()
    parker.unblock()
    print(f"structsync.Parker: {await passes(parker.block)} of 2")


trio.run(main, clock=MockClock(autojump_threshold=0))

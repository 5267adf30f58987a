"""One monitor over functions in two processes: of two lamps one stays on.

Each lamp is in a process of its own, and turns off only if its neighbour is on, so it has to ask. Without the
monitor both may ask, and both turn off. The functions are ordinary ones, put under the monitor by its name.

Prints::

    both are on
    both are told to turn off
    1 of 2 is on
"""

import sys
import tempfile
from functools import partial
from pathlib import Path

import trio

from structsync.distributed import Session, SharedEntry, open_session


class Lamp:
    """What is hosted: the monitor is what ``off`` is put under, and the lamp knows nothing of it."""

    off: SharedEntry[[], None]

    def __init__(self) -> None:
        self.on = True

    async def is_on(self) -> bool:
        return self.on

    async def turn_off(self) -> None:
        await self.off()


async def turn_off_unless_alone(lamp: Lamp, neighbour: Lamp) -> None:
    if await neighbour.is_on():
        lamp.on = False


def put_under_monitor(session: Session, lamp: Lamp, neighbour: str) -> Lamp:
    """Put the function of this process under the monitor of both, and return the neighbour."""
    other = session.connect(neighbour, Lamp)
    lamp.off = session.monitor("lamps").entry(partial(turn_off_unless_alone, lamp, other))
    return other


async def child(url: str) -> None:
    async with open_session(url, namespace="example") as session:
        lamp = Lamp()
        put_under_monitor(session, lamp, "lamps/left")
        async with session.host("lamps/right", lamp):
            await trio.sleep_forever()


async def parent(url: str) -> None:
    async with open_session(url, namespace="example") as session, trio.open_nursery() as nursery:
        nursery.start_soon(trio.run_process, [sys.executable, __file__, url])
        left = Lamp()
        right = put_under_monitor(session, left, "lamps/right")
        async with session.host("lamps/left", left):
            if left.on and await right.is_on():
                print("both are on")
            print("both are told to turn off")
            async with trio.open_nursery() as both:
                both.start_soon(left.turn_off)
                both.start_soon(right.turn_off)
            print(f"{left.on + await right.is_on()} of 2 is on")
        nursery.cancel_scope.cancel()


if len(sys.argv) > 1:
    trio.run(child, sys.argv[1])
elif sys.platform != "linux":
    sys.exit("sqlite:// needs Linux")
else:
    with tempfile.TemporaryDirectory() as folder:
        trio.run(parent, f"sqlite://{Path(folder).resolve()}/lamps.db")

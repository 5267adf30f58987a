"""Whichever of two mirrors is free first, and never both.

With trio you would start a task for each, cancel the slower one, and release what it may have taken
meanwhile. ``acquire_any`` has a position in both queues, is granted in one of them, and leaves the other in
the same step.

Prints::

    after 2 s: far, and 0 wait for near
    after 5 s: near has 1, far has 1
"""

import trio
from trio.testing import MockClock

from structsync import Semaphore, acquire_any


async def release_after(mirror: Semaphore, seconds: float) -> None:
    await trio.sleep(seconds)
    mirror.release()


async def main() -> None:
    began = trio.current_time()
    near, far = Semaphore(1, max_value=1), Semaphore(1, max_value=1)
    near.acquire_nowait()
    far.acquire_nowait()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(release_after, near, 3)
        nursery.start_soon(release_after, far, 2)
        async with acquire_any(near.claim(), far.claim()) as claim:
            name = "far" if claim.primitive is far else "near"
            waiting = near.statistics().tasks_waiting
            seconds = trio.current_time() - began
            print(f"after {seconds:.0f} s: {name}, and {waiting} wait for near")
            await trio.sleep(3)
    seconds = trio.current_time() - began
    print(f"after {seconds:.0f} s: near has {near.value}, far has {far.value}")


trio.run(main, clock=MockClock(autojump_threshold=0))

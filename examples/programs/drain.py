"""A service that shuts down without dropping a request half-way.

Each request holds a read lock while it is served. To drain the service is to write: that waits for all requests
being served, and later requests wait behind it. Then the lock is closed, and they, like all that come afterwards,
are sent elsewhere. A request that takes longer than the grace period is cancelled. The deadline ends the wait, not the
position in the queue: with ``writing()`` under the deadline, those behind would get in when it passes.

Prints::

    2 s: the short one is done
    3 s: drained
    3 s: the late one is sent elsewhere
    3 s: the long one is cancelled
"""

from collections.abc import Awaitable, Callable
from functools import partial

import trio
from trio.testing import MockClock

from structsync import RWLock
from structsync.testing import ExploredRun, explore


class Service:
    """Serves requests until it is drained."""

    def __init__(self) -> None:
        self.open = RWLock(name="open")
        self.at_work: list[trio.CancelScope] = []

    async def serve(self, request: Callable[[], Awaitable[None]]) -> str:
        """Serve a request; return what became of it."""
        with trio.CancelScope() as scope:
            # Now, not after the lock is taken: its holder may have to be cancelled before it runs.
            self.at_work.append(scope)
            try:
                async with self.open.reading():
                    await request()
                return "done"
            except trio.ClosedResourceError:
                return "sent elsewhere"
            finally:
                self.at_work.remove(scope)
        return "cancelled"

    async def drain(self, grace: float) -> bool:
        """Wait at most that many seconds for all requests being served; return whether it was enough."""
        with self.open.write_request() as request:
            with trio.move_on_after(grace) as scope:
                await request.wait()
            self.open.close()  # no task got in meanwhile: a request keeps its position
        for one in self.at_work:
            one.cancel()
        return not scope.cancelled_caught


async def main() -> None:
    service = Service()
    lines: list[str] = []

    def tell(text: str) -> None:
        lines.append(f"{trio.current_time() - began:.0f} s: {text}")

    async def request(name: str, begins: float, takes: float) -> None:
        await trio.sleep(begins)
        tell(f"{name} is {await service.serve(partial(trio.sleep, takes))}")

    began = trio.current_time()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(request, "the short one", 0, 2)
        nursery.start_soon(request, "the long one", 0, 9)
        nursery.start_soon(request, "the late one", 2, 1)
        await trio.sleep(1)
        await service.drain(grace=2)
        tell("drained")
    print(*sorted(lines), sep="\n")


@explore(exhaustive=True)
async def test_no_request_is_served_after_the_drain_and_none_is_dropped_before(
    x: ExploredRun,
) -> None:
    service = Service()
    is_drained = False

    async def answer() -> None:
        await trio.sleep(1)
        assert not is_drained

    async def request() -> None:
        with x.not_cancelled():
            said.append(await service.serve(answer))

    said: list[str] = []
    async with trio.open_nursery() as nursery:
        nursery.start_soon(request)
        nursery.start_soon(request)
        await trio.lowlevel.checkpoint()  # so that some are served already, in some schedules
        in_time = await service.drain(grace=5)
        is_drained = True
    assert len(said) == 2
    assert not in_time or "cancelled" not in said


if __name__ == "__main__":
    trio.run(main, clock=MockClock(autojump_threshold=0))

"""A service reports its health, clients wait for the state that they need, and a monitor records each change.

A client waits for "ready", or for "failed", whichever comes; it is told which of the two it was, although the state
may be another one by the time it runs. The monitor misses no state, however short.

Prints::

    the client was told: ready
    by then it was: failed
    the monitor saw: ready, failed
"""

from collections.abc import Awaitable, Callable

import trio
from trio.testing import wait_all_tasks_blocked

from structsync import Changes, Value
from structsync.testing import ExploredRun, explore


class Service:
    """Something that takes a while to start, and may fail."""

    def __init__(self) -> None:
        self.state = Value("starting", name="state")

    async def run(self, start: Callable[[], Awaitable[None]]) -> None:
        try:
            await start()
            self.state.value = "ready"
            await trio.lowlevel.checkpoint()
        finally:
            self.state.value = "failed"

    async def ready(self) -> bool:
        """Wait until it is known whether the service has started."""
        return await self.state.wait_for(lambda state: state != "starting") == "ready"

    async def watch(self, changes: Changes[str], saw: list[str]) -> None:
        async for state in changes:
            saw.append(state)
            if state == "failed":
                return


async def main() -> None:
    service, saw = Service(), list[str]()

    async def client() -> None:
        print("the client was told:", "ready" if await service.ready() else "failed")
        print("by then it was:", service.state.value)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(service.watch, service.state.changes(), saw)
        nursery.start_soon(client)
        await wait_all_tasks_blocked()
        service.state.value = "ready"
        service.state.value = "failed"
    print("the monitor saw:", ", ".join(saw))


@explore(exhaustive=True, search="states")
async def test_every_client_learns_what_became_of_the_service(x: ExploredRun) -> None:
    service = Service()
    changes = service.state.changes()  # from here on, whenever the monitor begins

    async def start() -> None:
        await trio.lowlevel.checkpoint()

    async def run() -> None:
        with trio.CancelScope():  # it may be stopped at any moment
            await service.run(start)

    async def client() -> None:
        with x.not_cancelled():
            await service.ready()

    async def watch() -> None:
        saw: list[str] = []
        with trio.CancelScope() as scope:
            await service.watch(changes, saw)
        assert scope.cancelled_caught or saw in (["ready", "failed"], ["failed"])

    async with trio.open_nursery() as nursery:
        nursery.start_soon(client)
        nursery.start_soon(watch)
        nursery.start_soon(run)


if __name__ == "__main__":
    trio.run(main)

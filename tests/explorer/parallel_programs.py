"""Programs that worker processes import by their names."""

from collections.abc import Awaitable, Callable

import trio

from structsync.testing import ExploredRun, explore


async def with_a_semaphore(count: int = 3) -> None:
    semaphore = trio.Semaphore(1)

    async def worker() -> None:
        async with semaphore:
            await trio.lowlevel.checkpoint()

    async with trio.open_nursery() as nursery:
        for _ in range(count):
            nursery.start_soon(worker)


async def one_order_in_many_fails() -> None:
    """Only where b goes on twice between two steps of a, and a third one is last."""
    log: list[str] = []

    async def writes(name: str) -> None:
        for _ in range(2):
            await trio.lowlevel.checkpoint()
            log.append(name)

    async with trio.open_nursery() as nursery:
        for name in "abc":
            nursery.start_soon(writes, name)
    assert "".join(log) != "cbbcaa", "the order that nobody expects"


@explore(search="plain", cancels=0)
async def decorated(x: ExploredRun) -> None:
    await with_a_semaphore()


class Group:
    @explore(cancels=0)
    async def method(self) -> None:
        await with_a_semaphore()


def _with_a_lambda() -> Callable[[], Awaitable[None]]:
    return lambda: with_a_semaphore()


handler = _with_a_lambda()
handler.__qualname__ = "with_a_semaphore"

"""Uploads within a memory budget: each takes what it needs in one step, and large ones are not passed over.

A semaphore whose permits are megabytes. An upload larger than the budget is refused at once, instead of
waiting forever; when the machine is short of memory, the budget is made smaller while uploads wait.

Prints::

    0 s: 60 MB, 30 MB
    1 s: 80 MB
    2 s: 40 MB, with a budget of 50 MB
    120 MB is refused
"""

from collections.abc import Awaitable, Callable

import trio
from trio.testing import MockClock

from structsync import Semaphore
from structsync.testing import ExploredRun, explore


class Uploader:
    """Keeps in memory what it sends, and no more than the budget."""

    def __init__(self, budget: int, send: Callable[[int], Awaitable[None]]) -> None:
        self.memory = Semaphore(budget, max_value=budget, name="MB")
        self.send = send

    async def upload(self, size: int) -> None:
        async with self.memory.permits(size):
            await self.send(size)


async def main() -> None:
    began = trio.current_time()
    sent: dict[int, list[str]] = {}

    async def send(size: int) -> None:
        sent.setdefault(round(trio.current_time() - began), []).append(f"{size} MB")
        await trio.sleep(1)

    uploader = Uploader(100, send)
    async with trio.open_nursery() as nursery:
        for size in (60, 30, 80, 40):
            nursery.start_soon(uploader.upload, size)
            await trio.lowlevel.checkpoint()
        await trio.sleep(1.5)
        uploader.memory.resize(50)
    for second, sizes in sent.items():
        print(f"{second} s: {', '.join(sizes)}" + ", with a budget of 50 MB" * (second == 2))
    try:
        await uploader.upload(120)
    except ValueError:
        print("120 MB is refused")


@explore(exhaustive=True, search="states")
async def test_the_budget_is_kept_and_every_upload_gets_its_turn(x: ExploredRun) -> None:
    used = 0

    async def send(size: int) -> None:
        nonlocal used
        used += size
        try:
            await trio.lowlevel.checkpoint()
        finally:
            used -= size

    async def upload(size: int) -> None:
        with trio.CancelScope():
            await uploader.upload(size)

    uploader = Uploader(3, send)
    x.always(lambda: used <= 3, "the budget is kept")
    async with trio.open_nursery() as nursery:
        for size in (2, 3, 2):
            nursery.start_soon(upload, size)


if __name__ == "__main__":
    trio.run(main, clock=MockClock(autojump_threshold=0))

"""Items in hand: every schedule of a few workers, and any of them cancelled anywhere."""

from __future__ import annotations

from contextlib import suppress

import trio
from trio.lowlevel import checkpoint

from structsync import Buffer
from structsync.testing import ExploredRun

from .closing import closed_meanwhile
from .sweeping import Size, swept, together


class StopError(Exception):
    """What ends a block."""


class Jobs:
    """Jobs, and which of them were done."""

    def __init__(self, x: ExploredRun, count: int) -> None:
        self.x = x
        self.buffer = Buffer[int](count)
        self.buffer.put_many_nowait(range(count))
        self.count = count
        self.done: list[int] = []

    async def work(self, *, until_the_end: bool = True) -> None:
        try:
            while True:
                async with self.buffer.item() as job:
                    with self.x.exclusive(f"job {job}"):
                        await checkpoint()
                    self.done.append(job)
                if not until_the_end:
                    return
        except trio.EndOfChannel:
            statistics = self.buffer.statistics()
            if statistics.items or statistics.lent:
                self.x.fail("sent home while a job may come back")

    async def fail(self) -> None:
        with suppress(StopError, trio.EndOfChannel):
            async with self.buffer.item():
                await checkpoint()
                raise StopError

    def check(self) -> None:
        """Each job was done once, or is there; those that are, in their order."""
        statistics = self.buffer.statistics()
        left = self.buffer.get_many_nowait(self.count) if statistics.items else []
        if statistics.lent or sorted(self.done + left) != [*range(self.count)]:
            self.x.fail(f"done {self.done}, left {left}, {statistics.lent} in hand")
        if left != sorted(left):
            self.x.fail(f"left in this order: {left}")


@swept(least=60, long=True)
async def test_a_job_is_done_once_or_is_there_whichever_worker_is_stopped(
    x: ExploredRun, tasks: int
) -> None:
    jobs = Jobs(x, 3)  # of two that are left in the end the order is seen

    async def one_job() -> None:
        await jobs.work(until_the_end=False)

    with trio.move_on_after(10):
        await together(jobs.fail, *[one_job] * (tasks - 1))
    jobs.check()


@swept(least=30)
async def test_workers_end_when_nothing_can_come_back(x: ExploredRun, tasks: int) -> None:
    jobs = Jobs(x, 1)

    async def complete() -> None:
        jobs.buffer.complete()

    with trio.fail_after(1):
        await together(complete, jobs.fail, *[jobs.work] * (tasks - 2))
    jobs.check()


@swept(least=30)
async def test_who_puts_finds_no_room_until_an_item_is_used_up(x: ExploredRun, tasks: int) -> None:
    jobs, put = Jobs(x, 1), list[int]()

    async def put_another() -> None:
        await jobs.buffer.put(1)
        put.append(1)
        jobs.count = 2

    async def one_job() -> None:
        await jobs.work(until_the_end=False)

    x.always(
        lambda: jobs.buffer.statistics().items + jobs.buffer.statistics().lent <= 1, "one at most"
    )
    with trio.move_on_after(10):
        await together(put_another, *[one_job] * (tasks - 1))
    jobs.check()


@swept(least=30, sizes=(Size(2, 1),))
async def test_closing_sends_every_waiting_task_away(x: ExploredRun, tasks: int) -> None:
    buffer = Buffer[int](1)
    buffer.put_nowait(1)

    async def exchange() -> None:
        async with buffer.item():
            await checkpoint()

    with trio.move_on_after(10):
        await closed_meanwhile(x, buffer, *[exchange] * tasks)

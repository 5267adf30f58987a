"""A queue that loses no job: the job of a worker that is stopped returns to its position.

A worker is stopped by cancelling its scope, at any moment. What it had begun is taken up again by another
worker, or is still in the queue at the end; what was done is done once. A queue that is complete lets its
workers go when nothing is left, and nothing in hand that may come back.

Prints::

    a was stopped with the 1st job in hand
    b did 1, 2, 3
    0 jobs are left
"""

import math
from contextlib import suppress

import trio
from trio.testing import MockClock

from structsync import Buffer
from structsync.testing import ExploredRun, explore


class WorkQueue:
    """Jobs that are to be done, and those that were."""

    def __init__(self) -> None:
        self.jobs = Buffer[int](math.inf, policy="priority", key=lambda job: job)
        self.done: list[int] = []

    async def work(self, takes: float) -> None:
        """Do one job after another, until all are done."""
        with suppress(trio.EndOfChannel):
            while True:
                async with self.jobs.item() as job:
                    await trio.sleep(takes)
                    self.done.append(job)


async def main() -> None:
    queue = WorkQueue()
    queue.jobs.put_many_nowait((1, 2, 3))
    queue.jobs.complete()
    with trio.move_on_after(1):
        await queue.work(takes=2)
    if not queue.done:
        print("a was stopped with the 1st job in hand")
    await queue.work(takes=2)
    print("b did", ", ".join(map(str, queue.done)))
    print(f"{queue.jobs.statistics().items} jobs are left")


@explore(exhaustive=True)
async def test_a_job_is_done_once_or_is_still_in_the_queue(x: ExploredRun) -> None:
    queue = WorkQueue()
    jobs = (1, 2)

    def every_job_is_in_one_place() -> bool:
        left = queue.jobs.statistics().items
        return len(queue.done) + left == len(jobs) == len({*queue.done}) + left

    async def worker() -> None:
        with trio.CancelScope():
            await queue.work(takes=1)

    queue.jobs.put_many_nowait(jobs)
    queue.jobs.complete()
    x.finally_(every_job_is_in_one_place, "every job is done or in the queue")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(worker)
        nursery.start_soon(worker)


if __name__ == "__main__":
    trio.run(main, clock=MockClock(autojump_threshold=0))

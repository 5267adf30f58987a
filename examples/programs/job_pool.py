"""Thumbnails: a pool of workers makes them, the urgent ones first, and a broken image fails only for its caller.

``run`` hands the error of a job to the task that asked for it; the pool goes on. A job writes to a scratch
file first, and whatever happens to it, cancellation included, the scratch file is gone when it has ended.

Prints::

    cover.png, small
    broken.png is no image
    second.png, small
    cover.png was made before second.png; 0 scratch files are left
"""

import trio
from trio.testing import MockClock

from structsync import TaskPool, open_pool
from structsync.testing import ExploredRun, explore


class Thumbnails:
    """Makes small images by the workers of a pool."""

    def __init__(self, pool: TaskPool) -> None:
        self.pool = pool
        self.scratch: set[str] = set()
        self.made: list[str] = []

    async def make(self, image: str, *, urgent: bool = False) -> str:
        return await self.pool.run(self._make, image, priority=0 if urgent else 1)

    async def _make(self, image: str) -> str:
        self.scratch.add(image)
        try:
            await trio.sleep(1)  # as long as it takes
            if image.startswith("broken"):
                raise ValueError(f"{image} is no image")
            self.made.append(image)
            return f"{image}, small"
        finally:
            self.scratch.remove(image)


async def main() -> None:
    async def ask(image: str, urgent: bool) -> None:
        try:
            said = await thumbnails.make(image, urgent=urgent)
        except ValueError as error:
            said = str(error)
        answers.append(said)

    answers: list[str] = []
    async with open_pool(1, policy="priority", max_queued=9) as pool:
        thumbnails = Thumbnails(pool)
        async with trio.open_nursery() as nursery:
            for image in ("broken.png", "second.png", "cover.png"):
                nursery.start_soon(ask, image, image == "cover.png")
                await trio.lowlevel.checkpoint()
    print(*sorted(answers, key=lambda text: "bcs".index(text[0]) != 1), sep="\n")
    first, second = thumbnails.made
    print(f"{first} was made before {second}; {len(thumbnails.scratch)} scratch files are left")


@explore(exhaustive=True)
async def test_no_scratch_file_is_left(x: ExploredRun) -> None:
    kept: list[Thumbnails] = []
    x.finally_(lambda: not kept[0].scratch if kept else True, "no scratch file is left")

    async def ask(image: str) -> None:
        with trio.CancelScope():  # one of them may give up
            try:
                await kept[0].make(image)
            except ValueError:
                assert image == "broken.png"

    async with open_pool(1, policy="priority", max_queued=2) as pool:
        kept.append(Thumbnails(pool))
        async with trio.open_nursery() as nursery:
            nursery.start_soon(ask, "broken.png")
            nursery.start_soon(ask, "cover.png")


if __name__ == "__main__":
    trio.run(main, clock=MockClock(autojump_threshold=0))

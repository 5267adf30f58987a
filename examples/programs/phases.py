"""A rod that cools, step by step: each worker computes one piece, and the next step begins when all have.

At the end of a step the last of them puts the new temperatures in place of the old ones: the
barrier's action, while all are still inside. A worker that ends leaves the barrier; the others go on.

Prints::

    0 0 90 0 0
    0 30 30 30 0
    10 20 30 20 10
"""

import trio

from structsync import Barrier
from structsync.testing import ExploredRun, explore


class Rod:
    """Temperatures, and a barrier for the workers that compute the next ones."""

    def __init__(self, pieces: list[int]) -> None:
        self.now = pieces
        self.next = [*pieces]
        self.history = [[*pieces]]
        self.step = Barrier(len(pieces), action=self._turn)

    def _turn(self) -> None:
        self.now, self.next = self.next, self.now
        self.history.append([*self.now])

    async def work(self, piece: int, steps: int) -> None:
        """Compute one piece, as the mean of itself and its neighbours."""
        try:
            for _ in range(steps):
                near = self.now[max(piece - 1, 0) : piece + 2]
                await trio.lowlevel.checkpoint()
                self.next[piece] = sum(near) // 3
                await self.step.wait()
        finally:
            self.step.leave()


async def main() -> None:
    rod = Rod([0, 0, 90, 0, 0])
    async with trio.open_nursery() as nursery:
        for piece in range(5):
            nursery.start_soon(rod.work, piece, 2)
    for pieces in rod.history:
        print(*pieces)


@explore(exhaustive=True)
async def test_a_step_is_made_by_all_that_are_left_and_none_waits_for_one_that_is_gone(
    x: ExploredRun,
) -> None:
    rod = Rod([9, 0])
    stopped: list[int] = []

    def no_step_was_computed_from_half_of_another() -> bool:
        return bool(stopped) or rod.history in ([[9, 0], [3, 3]], [[9, 0], [3, 3], [2, 2]])

    async def worker(piece: int) -> None:
        with trio.CancelScope() as scope:
            try:
                await rod.work(piece, 2)
            except trio.Cancelled:
                stopped.append(piece)
                raise
        assert scope.cancelled_caught or piece not in stopped

    async with trio.open_nursery() as nursery:
        nursery.start_soon(worker, 0)
        nursery.start_soon(worker, 1)
    assert no_step_was_computed_from_half_of_another()


if __name__ == "__main__":
    trio.run(main)

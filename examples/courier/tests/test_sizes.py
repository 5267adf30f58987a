"""The outbox in two sizes: a small one each time, a larger one when there is time."""

from __future__ import annotations

import pytest
import trio
from courier import Outbox

from structsync.testing import ExploredRun, explore


@pytest.mark.parametrize(
    ("workers", "letters"),
    [(1, 2), (2, 2), pytest.param(3, 3, marks=pytest.mark.nightly)],
)
@explore()
async def test_each_letter_is_taken_once(x: ExploredRun, workers: int, letters: int) -> None:
    outbox = Outbox(room=1)
    put: list[str] = []
    taken: list[str] = []

    async def worker() -> None:
        while True:
            try:
                taken.append(await outbox.take())
            except trio.EndOfChannel:
                return
            outbox.done()

    # Not behind the block, which is never reached if the whole test is cancelled.
    x.finally_(
        lambda: sorted([*taken, *outbox.drain()]) == sorted(put), "each letter is taken once"
    )
    async with trio.open_nursery() as nursery:
        for _ in range(workers):
            nursery.start_soon(worker)
        for number in range(letters):
            await outbox.put(f"letter {number}")
            put.append(f"letter {number}")
        outbox.close()

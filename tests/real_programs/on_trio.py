"""trio: its own primitives and channels."""

from __future__ import annotations

from functools import partial

import trio
import trio.testing
from trio.lowlevel import checkpoint

from structsync.testing import ExploredRun

from ._rows import SLOW, Row
from ._shared import no_more_than, nothing_is_lost, notification_goes_to_who_is_left


async def two_wait_for_one_borrower() -> None:
    limiter = trio.CapacityLimiter(1)
    borrower = object()

    async def waits() -> None:
        try:
            await limiter.acquire_on_behalf_of(borrower)
        except RuntimeError:  # it holds a token already
            return
        await checkpoint()
        limiter.release_on_behalf_of(borrower)

    async with limiter, trio.open_nursery() as nursery:
        nursery.start_soon(waits)
        nursery.start_soon(waits)
        await checkpoint()
        limiter.total_tokens = 3


async def who_was_unparked_has_left(x: ExploredRun) -> None:
    lot = trio.lowlevel.ParkingLot()
    passed: list[str] = []

    async def parks() -> None:
        with trio.CancelScope():
            await lot.park()
            passed.append("one")

    async def unparks() -> None:
        for _ in range(2):
            await checkpoint()
            unparked = lot.unpark(count=1)
            assert len(unparked) <= 1

    async with trio.open_nursery() as nursery:
        nursery.start_soon(parks)
        nursery.start_soon(parks)
        nursery.start_soon(unparks)
        with x.not_cancelled():
            await trio.testing.wait_all_tasks_blocked()
            lot.unpark_all()


ROWS = [
    Row(
        library="trio",
        what="Lock",
        holds="one of three workers is inside, and none is left behind",
        program=no_more_than(1, trio.Lock),
    ),
    Row(
        library="trio",
        what="StrictFIFOLock",
        holds="one of three workers is inside, and none is left behind",
        program=no_more_than(1, trio.StrictFIFOLock),
    ),
    Row(
        library="trio",
        what="Semaphore",
        holds="two of three workers are inside, and none is left behind",
        program=no_more_than(2, partial(trio.Semaphore, 2)),
    ),
    Row(
        library="trio",
        what="CapacityLimiter",
        holds="one of three workers is inside, and none is left behind",
        program=no_more_than(1, partial(trio.CapacityLimiter, 1)),
    ),
    Row(
        library="trio",
        what="CapacityLimiter, one borrower twice",
        holds="a borrower that was granted a token can release it",
        program=two_wait_for_one_borrower,
        verdict="refuted",
        script="trio_limiter_one_borrower.py",
        judgement="bug: a borrower that waits twice is granted two tokens, of which one is counted",
    ),
    Row(
        library="trio",
        what="Condition",
        holds="a notification is not lost with the task that it was for",
        program=notification_goes_to_who_is_left(trio.Condition),
        verdict="refuted",
        script="trio_condition.py",
        options={"cancels": 0},
        judgement="bug: a waiter that is cancelled between notify() and the lock takes the notification along",
    ),
    Row(
        library="trio",
        what="lowlevel.ParkingLot",
        holds="who was unparked is not parked any more, cancelled or not",
        program=who_was_unparked_has_left,
    ),
    Row(
        library="trio",
        what="open_memory_channel(0)",
        holds="what was sent is received, once",
        program=nothing_is_lost(partial(trio.open_memory_channel[int], 0)),
        verdict="not finished",
        judgement=SLOW,
    ),
]

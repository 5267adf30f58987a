"""H: the head of a queue is cancelled, and those behind it must be let in by that very step."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from structsync import Condition, Semaphore

if TYPE_CHECKING:
    from tests.peers.conftest import OneStep, Start

# A semaphore whose writers claim all of it is a reader-writer lock: the recipes about those apply.
READER, WRITER = 1, 5


def half_taken(policy: str = "fifo") -> Semaphore:
    semaphore = Semaphore(2, max_value=2, policy=policy)  # type: ignore[arg-type]
    semaphore.acquire_nowait()
    return semaphore


@pytest.mark.parametrize("policy", ["fifo", "priority"])
async def test_cancelling_a_large_head_lets_in_a_small_one(start: Start, policy: str) -> None:
    """H1, golang/go#37852: a release notified the front waiter only."""
    semaphore = half_taken(policy)
    large = await start(semaphore.acquire, 2)
    small = await start(semaphore.acquire, 1)
    large.cancel()
    assert semaphore.value == 0  # granted in the step of the cancellation
    await wait_all_tasks_blocked()
    assert (large.ended, small.ended) == ("cancelled", "done")


async def test_one_cancelled_head_lets_in_all_that_fit(start: Start) -> None:
    """H1, golang/go#37852: with a claim for 3 before claims for 1, 1 and 3."""
    semaphore = Semaphore(3, max_value=3)
    semaphore.acquire_nowait()
    head = await start(semaphore.acquire, 3)
    behind = [await start(semaphore.acquire, n) for n in (1, 1, 3)]
    head.cancel()
    await wait_all_tasks_blocked()
    assert [waiter.ended for waiter in behind] == ["done", "done", "waiting"]


async def test_a_head_cancelled_after_a_middle_one_lets_in_the_rest(start: Start) -> None:
    """H2, embassy-rs/embassy#6964: cancelling cleared the slot and did not look at the new head."""
    semaphore = half_taken()
    head = await start(semaphore.acquire, 2)
    middle = await start(semaphore.acquire, 2)
    last = await start(semaphore.acquire, 1)
    middle.cancel()
    await wait_all_tasks_blocked()
    assert last.ended == "waiting"  # the head still blocks it
    head.cancel()
    await wait_all_tasks_blocked()
    assert last.ended == "done"


async def test_two_cancelled_in_one_step_let_in_the_third(start: Start, one_step: OneStep) -> None:
    """H2, embassy-rs/embassy#6964: both orders of two cancellations."""
    semaphore = half_taken()
    first = await start(semaphore.acquire, 2)
    second = await start(semaphore.acquire, 2)
    third = await start(semaphore.acquire, 1)
    await one_step(first.cancel, second.cancel)
    assert third.ended == "done"


async def test_withdrawing_a_large_head_request_lets_in_a_small_one(start: Start) -> None:
    """H3, awslabs/shuttle#167: the same hole in a model checker's own strictly fair semaphore."""
    semaphore = half_taken()
    with semaphore.request(2) as large:
        small = await start(semaphore.acquire, 1)
        assert large.withdraw()
        assert semaphore.value == 0
        await wait_all_tasks_blocked()
        assert small.ended == "done"


async def test_a_cancelled_writer_lets_in_the_readers_behind_it(start: Start) -> None:
    """H4, StephenCleary/AsyncEx#134; H7, sgl-project/sglang#31657; H9, aiorwlock 1.5.1: they slept on
    until the first reader left."""
    semaphore = Semaphore(WRITER, max_value=WRITER)
    await start(semaphore.acquire, READER)
    writer = await start(semaphore.acquire, WRITER)
    readers = [await start(semaphore.acquire, READER) for _ in range(2)]
    writer.cancel()
    await wait_all_tasks_blocked()
    assert [reader.ended for reader in readers] == ["done", "done"]


async def test_a_reader_that_waits_for_one_behind_a_cancelled_writer_goes_on(start: Start) -> None:
    """H4, StephenCleary/AsyncEx#134: the first reader waits for the second; forever, there."""
    semaphore = Semaphore(WRITER, max_value=WRITER)
    second_reads = trio.Event()

    async def first() -> None:
        async with semaphore.permits(READER):
            await second_reads.wait()

    async def second() -> None:
        async with semaphore.permits(READER):
            second_reads.set()

    waiting = await start(first)
    writer = await start(semaphore.acquire, WRITER)
    await start(second)
    writer.cancel()
    await wait_all_tasks_blocked()
    assert waiting.ended == "done"


async def test_of_two_writers_only_the_last_to_be_cancelled_lets_in_the_reader(
    start: Start,
) -> None:
    """H5, microsoft/vs-threading#252: cancelling one of two writers must not let readers in."""
    semaphore = Semaphore(WRITER, max_value=WRITER)
    await start(semaphore.acquire, READER)
    writers = [await start(semaphore.acquire, WRITER) for _ in range(2)]
    reader = await start(semaphore.acquire, READER)
    writers[0].cancel()
    await wait_all_tasks_blocked()
    assert reader.ended == "waiting"
    writers[1].cancel()
    await wait_all_tasks_blocked()
    assert reader.ended == "done"


async def test_a_writer_whose_time_is_up_lets_in_the_reader(
    start: Start, autojump_clock: MockClock
) -> None:
    """H6, .NET Framework 4.7.1 note 216022: the same by a deadline."""
    semaphore = Semaphore(WRITER, max_value=WRITER)
    await start(semaphore.acquire, READER)

    async def write() -> None:
        with trio.fail_after(1):
            await semaphore.acquire(WRITER)

    writer = await start(write)
    await semaphore.acquire(READER)  # granted when the time is up, else never
    await wait_all_tasks_blocked()
    assert writer.ended == "TooSlowError"


async def test_a_newcomer_does_not_pass_a_reader_behind_a_cancelled_writer(start: Start) -> None:
    """H8, tricycle 0.4.1: a newcomer was admitted while the older reader slept."""
    semaphore = Semaphore(2, max_value=2)
    semaphore.acquire_nowait()
    writer = await start(semaphore.acquire, 2)
    old = await start(semaphore.acquire, 1)
    writer.cancel()
    with pytest.raises(trio.WouldBlock):
        semaphore.acquire_nowait()  # in the step of the cancellation; the permit is the old one's
    await wait_all_tasks_blocked()
    assert old.ended == "done"


async def test_no_cancelled_waiter_on_a_condition_is_still_counted(start: Start) -> None:
    """H10, rustfs/rustfs#2795: before the notification and after it."""
    condition = Condition()
    waiters = [await start(wait_once, condition) for _ in range(2)]
    async with condition:
        condition.notify()
        for waiter in waiters:
            waiter.cancel()
        assert condition.statistics().tasks_waiting == 0
    await wait_all_tasks_blocked()
    assert condition.statistics().lock_statistics.tasks_waiting == 0


async def wait_once(condition: Condition) -> None:
    async with condition:
        await condition.wait()

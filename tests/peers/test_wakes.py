"""N, without a lock: a wake is spent on a task that is cancelled, or on one that has waited already."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from structsync import Parker, WaitQueue

if TYPE_CHECKING:
    from tests.peers.conftest import OneStep, Start


async def test_one_cancelled_waiter_does_not_keep_the_others_from_waking(
    start: Start, one_step: OneStep
) -> None:
    """N9, agronholm/anyio#536: wake all and cancel one in one step, first, middle and last."""
    for place in range(3):
        queue = WaitQueue()
        waiters = [await start(queue.wait) for _ in range(3)]
        cancel_first = await one_step(waiters[place].cancel, queue.wake_all)
        ends = ["done"] * 3
        if cancel_first:
            ends[place] = "cancelled"
        assert [waiter.ended for waiter in waiters] == ends


async def test_a_cancelled_block_leaves_the_stored_unblock(start: Start, one_step: OneStep) -> None:
    """N11, tokio#3652: a stored permit was overwritten when a notified waiter was dropped."""
    parker = Parker()
    blocked = await start(parker.block)
    cancel_first = await one_step(blocked.cancel, parker.unblock)
    assert blocked.ended == ("cancelled" if cancel_first else "done")
    assert parker.statistics().unblocks == (1 if cancel_first else 0)


async def test_stored_unblocks_add_up(start: Start) -> None:
    """N11, tokio#3652: three unblocks let three blocks pass, and no fourth."""
    parker = Parker()
    for _ in range(3):
        parker.unblock()
    blocks = [await start(parker.block) for _ in range(4)]
    assert [block.ended for block in blocks] == ["done", "done", "done", "waiting"]


async def test_a_wake_after_a_wake_of_all_reaches_who_was_not_woken(
    start: Start, one_step: OneStep
) -> None:
    """N11, tokio#3652: wake all, then wake one, cancel one, and wait again."""
    queue = WaitQueue()
    old = await start(queue.wait)
    queue.wake_all()
    first = await start(queue.wait)
    second = await start(queue.wait)
    cancel_first = await one_step(first.cancel, queue.wake)
    assert old.ended == "done"
    assert (first.ended, second.ended) == (
        ("cancelled", "done") if cancel_first else ("done", "waiting")
    )


async def test_wakes_beyond_those_who_wait_are_not_stored(start: Start) -> None:
    """N11, tokio#3652: here nothing is stored that a later call could overwrite; a Parker stores."""
    queue = WaitQueue()
    first = await start(queue.wait)
    queue.wake(5)
    late = await start(queue.wait)
    assert (first.ended, late.ended) == ("done", "waiting")


@pytest.mark.parametrize("count", [1, 3, 40])
async def test_who_waits_again_is_not_woken_by_the_same_call(start: Start, count: int) -> None:
    """N12, tokio#5396: waking in batches of 32 woke a task that waited again twice."""
    queue = WaitQueue()

    async def wait_twice() -> None:
        await queue.wait()
        await queue.wait()

    waiters = [await start(wait_twice) for _ in range(count)]
    queue.wake_all()
    await wait_all_tasks_blocked()
    assert {waiter.ended for waiter in waiters} == {"waiting"}
    assert queue.statistics().tasks_waiting == count


async def test_a_wake_after_a_wake_of_all_is_not_used_up_by_those_woken(
    nursery: trio.Nursery, start: Start, run_order: str
) -> None:
    """N13, tokio#7965: a later notification was consumed by a waiter that a broadcast covered."""
    queue = WaitQueue()
    newcomer_woken = False

    async def wake_all_and_wait() -> None:
        nonlocal newcomer_woken
        queue.wake_all()
        await queue.wait()
        newcomer_woken = True

    async def wake_one() -> None:
        assert {waiter.ended for waiter in woken} == {"waiting"}  # none of them has run yet
        queue.wake()

    woken = [await start(queue.wait) for _ in range(2)]
    tasks = [wake_all_and_wait, wake_one]
    for task in tasks if run_order == "arrival" else reversed(tasks):
        nursery.start_soon(task)
    await wait_all_tasks_blocked()
    assert newcomer_woken


async def test_a_wake_and_a_cancellation_in_one_step_wake_exactly_one(
    start: Start, one_step: OneStep
) -> None:
    """N14, tokio#4618: a notified future was dropped, and the notification with it."""
    queue = WaitQueue()
    first = await start(queue.wait)
    second = await start(queue.wait)
    cancel_first = await one_step(first.cancel, queue.wake)
    assert (first.ended, second.ended) == (
        ("cancelled", "done") if cancel_first else ("done", "waiting")
    )

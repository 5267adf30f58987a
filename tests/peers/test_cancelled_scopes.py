"""P, without a wait: the cancellation is there before the acquire waits, or comes after it is done."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from structsync import Lock, Semaphore

if TYPE_CHECKING:
    from tests.peers.conftest import OneStep

each_checkpoint_mode = pytest.mark.parametrize("checkpoint", ["always", "budget"])


@each_checkpoint_mode
async def test_a_cancellation_between_the_call_and_the_wait_takes_nothing(
    nursery: trio.Nursery, one_step: OneStep, checkpoint: Literal["always", "budget"]
) -> None:
    """P7, kotlinx#2380: the lock became free between the attempt and the suspension."""
    semaphore = Semaphore(0, max_value=1, checkpoint=checkpoint)
    scope = trio.CancelScope()

    async def acquire() -> None:
        with scope:
            await semaphore.acquire()

    nursery.start_soon(acquire)  # runs after the step below
    await one_step(scope.cancel, semaphore.release)
    assert scope.cancelled_caught
    assert semaphore.value == 1


@pytest.mark.parametrize("busy", [False, True])
async def test_a_request_made_after_its_cancellation_leaves_the_lock_as_it_was(
    nursery: trio.Nursery, busy: bool
) -> None:
    """P9, microsoft/vs-threading#201: a lock issued to a cancelled request, and one asked for in a
    cancelled scope and never dequeued."""
    lock = Lock()
    if busy:
        lock.acquire_nowait()
    before = lock.statistics()

    async def acquire() -> None:
        with trio.CancelScope() as scope:
            scope.cancel()
            await lock.acquire()
        assert scope.cancelled_caught

    nursery.start_soon(acquire)
    await wait_all_tasks_blocked()
    assert lock.statistics() == before


@pytest.mark.parametrize("schedule_points", range(8))
async def test_cancelling_workers_in_every_phase_brings_all_permits_back(
    schedule_points: int,
) -> None:
    """P18, typelevel/fs2#3595: a cancelled pool kept the permits of its tasks."""
    semaphore = Semaphore(3, max_value=3)

    async def work(claim: int) -> None:
        for _ in range(3):
            async with semaphore.permits(claim):
                await trio.lowlevel.checkpoint()

    async with trio.open_nursery() as nursery:
        for claim in (1, 3, 1, 2):
            nursery.start_soon(work, claim)
        for _ in range(schedule_points):
            await trio.lowlevel.checkpoint()
        nursery.cancel_scope.cancel()
    assert (semaphore.value, semaphore.statistics().tasks_waiting) == (3, 0)


@each_checkpoint_mode
@pytest.mark.parametrize("permits", [0, 1])
async def test_acquiring_in_a_cancelled_scope_takes_nothing(
    permits: int, checkpoint: Literal["always", "budget"]
) -> None:
    """P19, aiologic 0.15.0: neither where a permit is free nor where the acquire would wait."""
    semaphore = Semaphore(permits, max_value=1, checkpoint=checkpoint)
    with trio.CancelScope() as scope:
        scope.cancel()
        await semaphore.acquire()
    assert scope.cancelled_caught
    assert (semaphore.value, semaphore.statistics().tasks_waiting) == (permits, 0)


async def test_a_cancellation_after_an_acquire_without_waiting_does_not_undo_it(
    nursery: trio.Nursery, run_order: str
) -> None:
    """P19, aiologic 0.15.0: a cancellation at the checkpoint after the acquire raised and kept the
    permit. Here that checkpoint is shielded: the acquire returns, and has happened."""
    semaphore = Semaphore(1, max_value=1)
    scope = trio.CancelScope()
    returned = False

    async def acquire() -> None:
        nonlocal returned
        with scope:
            await semaphore.acquire()
            returned = True

    async def cancel() -> None:
        assert semaphore.value == 0  # it has acquired, and is at its checkpoint
        scope.cancel()

    tasks = [acquire, cancel]
    for task in tasks if run_order == "arrival" else reversed(tasks):
        nursery.start_soon(task)
    await wait_all_tasks_blocked()
    assert (returned, semaphore.value) == (True, 0)

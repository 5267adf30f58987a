"""D: the mechanism itself gets stuck: callbacks that call back, re-entry, floods of deadlines."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

import structsync
from structsync import (
    CapacityLimiter,
    Condition,
    Lock,
    Parker,
    PrimitiveEvent,
    Semaphore,
    WaitQueue,
)

if TYPE_CHECKING:
    from tests.peers.conftest import Start


class World:
    """One of everything, and the calls that would change it."""

    def __init__(self) -> None:
        self.semaphore = Semaphore(1, max_value=2)
        self.condition = Condition()
        self.queue = WaitQueue()
        self.parker = Parker()

    def state(self) -> tuple[int, int, bool]:
        unblocks = self.parker.statistics().unblocks
        return self.semaphore.value, unblocks, self.condition.locked()

    REFUSED: tuple[Callable[[World], object], ...] = (
        lambda world: world.semaphore.acquire_nowait(),
        lambda world: world.semaphore.request(),
        lambda world: world.semaphore.resize(5),
        lambda world: world.semaphore.close(),
        lambda world: world.condition.notify(),
        lambda world: world.queue.wake(),
    )
    # What a finalizer may do in the middle of a step: nothing of it may be lost.
    RELEASES: tuple[tuple[Callable[[World], object], object], ...] = (
        (lambda world: world.semaphore.release(), (2, 0, True)),
        (lambda world: world.condition.release(), (1, 0, False)),
        (lambda world: world.parker.unblock(), (1, 1, True)),
    )


each_change = pytest.mark.parametrize("call", range(len(World.REFUSED)))
each_release = pytest.mark.parametrize("call", range(len(World.RELEASES)))


@each_change
async def test_a_predicate_that_calls_back_is_refused_and_changes_nothing(call: int) -> None:
    """D1, microsoft/vs-threading#1000; D2, tokio#5429: a callback that re-entered deadlocked, as it
    ran under the internal lock."""
    world = World()
    async with world.condition:
        before = repr(world.semaphore)
        with pytest.raises(RuntimeError, match="must not change a structsync primitive"):
            await world.condition.wait_for(lambda: World.REFUSED[call](world))
        assert repr(world.semaphore) == before
        assert world.condition.locked()


@each_release
async def test_a_predicate_that_releases_does_so_right_after_its_step(call: int) -> None:
    """D1, D2: nothing changes while it is evaluated, and the permit is not lost."""
    world = World()
    release, released = World.RELEASES[call]
    seen: list[object] = []

    def predicate() -> bool:
        release(world)
        seen.append(world.state())
        return True

    await world.condition.acquire()
    await world.condition.wait_for(predicate)
    assert [*seen, world.state()] == [(1, 0, True), released]


@each_change
async def test_an_observer_that_calls_back_is_removed_and_changes_nothing(
    call: int, caplog: pytest.LogCaptureFixture
) -> None:
    """D1, microsoft/vs-threading#1000: the observed call itself succeeds."""
    world = World()
    told: list[PrimitiveEvent] = []

    def observer(event: PrimitiveEvent) -> None:
        told.append(event)
        World.REFUSED[call](world)

    lock = Lock()
    await world.condition.acquire()
    with caplog.at_level(logging.CRITICAL, "structsync"), structsync.observe(observer):
        await lock.acquire()
        lock.release()
    assert len(told) == 1
    assert world.state() == (1, 0, True)


@each_release
async def test_an_observer_that_releases_does_so_right_after_the_step_it_hears_of(
    call: int,
) -> None:
    """D1, microsoft/vs-threading#1000: it stays, and hears of its own release, too."""
    world = World()
    release, released = World.RELEASES[call]
    told: list[tuple[str, object]] = []

    def observer(event: PrimitiveEvent) -> None:
        if event.kind == "granted":
            release(world)
        told.append((event.kind, world.state()))

    lock = Lock()
    await world.condition.acquire()
    with structsync.observe(observer):
        await lock.acquire()
    unchanged = (1, 0, True)
    assert told == [("requested", unchanged), ("granted", unchanged), ("released", released)]


async def test_an_observer_that_cancels_the_waiter_it_hears_of_loses_no_permit(
    start: Start,
) -> None:
    """D2, tokio#5429: user code that cancels in the middle of a step. The grant is complete by then,
    and beats the cancellation."""
    semaphore = Semaphore(0, max_value=1)
    first = await start(semaphore.acquire)
    second = await start(semaphore.acquire)

    def observer(event: PrimitiveEvent) -> None:
        if event.kind == "granted":
            first.cancel()
            second.cancel()

    with structsync.observe(observer):
        semaphore.release()
        await wait_all_tasks_blocked()
    assert (first.ended, second.ended, semaphore.value) == ("done", "cancelled", 0)


async def test_a_predicate_that_raises_leaves_the_condition_in_order(start: Start) -> None:
    """D2, tokio#5429: user code that raises in the middle; the lock is owned, and others go on."""
    condition = Condition()

    answers = [False]

    async def wait_for_trouble() -> None:
        async with condition:
            await condition.wait_for(answers.pop)  # raises when it is asked again

    async def wait() -> None:
        async with condition:
            await condition.wait()

    first = await start(wait_for_trouble)
    second = await start(wait)
    async with condition:
        condition.notify_all()
    await wait_all_tasks_blocked()
    assert (first.ended, second.ended) == ("IndexError", "done")


async def test_reentry_is_refused_also_while_others_wait(start: Start) -> None:
    """D3, tokio#2849: a second acquire by the owner, behind a waiter, deadlocked."""
    lock, limiter = Lock(), CapacityLimiter(1)
    await lock.acquire()
    await limiter.acquire()
    await start(lock.acquire)
    await start(limiter.acquire)
    with pytest.raises(RuntimeError, match="already held"):
        await lock.acquire()
    with pytest.raises(RuntimeError, match="already holding"):
        await limiter.acquire()


async def test_a_granted_request_that_no_task_awaits_blocks_the_queue_until_its_block_ends(
    start: Start,
) -> None:
    """D4, tokio#6450: expected, and documented: a grant holds its permits whether or not any task
    waits for it. Leaving its block gives them back."""
    semaphore = Semaphore(1, max_value=1)
    with semaphore.request():
        behind = await start(semaphore.acquire)
        assert behind.ended == "waiting"
    await wait_all_tasks_blocked()
    assert behind.ended == "done"


async def test_a_flood_of_short_blocks_and_unblocks_ends(autojump_clock: MockClock) -> None:
    """D5, dotnet/dotNext#275: a reset event with timeouts of a millisecond deadlocked."""
    parker = Parker()
    passed = 0

    async def block_with_timeouts() -> None:
        nonlocal passed
        while passed < 100:
            with trio.move_on_after(0.001):
                await parker.block()
                passed += 1

    async with trio.open_nursery() as nursery:
        nursery.start_soon(block_with_timeouts)
        for _ in range(100):
            parker.unblock()
            await trio.sleep_until(trio.current_time() + 0.001)
    assert (passed, parker.statistics().unblocks) == (100, 0)


@pytest.mark.parametrize("policy", ["fifo", "eligible", "priority"])
async def test_a_flood_of_acquires_whose_time_is_up_leaves_the_semaphore_in_order(
    autojump_clock: MockClock, policy: Any
) -> None:
    """D6, JDK-8386085: many short timed acquires with no permit there ended in a livelock."""
    semaphore = Semaphore(0, max_value=3, policy=policy)
    given_up = 0

    async def try_for(seconds: float, claim: int) -> None:
        nonlocal given_up
        with trio.move_on_after(seconds) as scope:
            await semaphore.acquire(claim)
        given_up += scope.cancelled_caught

    async with trio.open_nursery() as nursery:
        for place in range(300):
            nursery.start_soon(try_for, (place * 7 % 10) / 1_000, 1 + place % 3)
    assert (given_up, semaphore.value, semaphore.statistics().tasks_waiting) == (300, 0, 0)


async def test_a_claim_that_can_never_be_granted_blocks_no_task(start: Start) -> None:
    """D8, zio#11187: withPermits(5) on a semaphore of 2 killed the whole semaphore."""
    semaphore = Semaphore(2, max_value=2)
    with pytest.raises(ValueError, match="never had more than 2"):
        await semaphore.acquire(5)
    behind = await start(semaphore.acquire, 2)
    assert behind.ended == "done"


@pytest.mark.parametrize("schedule_points", range(4))
async def test_two_tasks_that_take_all_permits_cannot_hold_half_each(schedule_points: int) -> None:
    """D9, tokio PR 1973: taking n permits one by one deadlocks; here it is all or nothing."""
    semaphore = Semaphore(1, max_value=2)
    finished = 0

    async def take_both() -> None:
        nonlocal finished
        async with semaphore.permits(2):
            finished += 1
            await trio.lowlevel.checkpoint()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(take_both)
        nursery.start_soon(take_both)
        for _ in range(schedule_points):
            await trio.lowlevel.checkpoint()
        assert semaphore.value == 1  # none of them has begun to gather
        semaphore.release()
    assert finished == 2

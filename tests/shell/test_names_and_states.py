"""What every primitive has: a name, whether it is closed or broken, and what is to be seen of its state."""

from collections.abc import Callable
from typing import Any

import pytest
import trio
import trio.testing

from structsync import (
    Barrier,
    CapacityLimiter,
    Condition,
    Latch,
    Lock,
    Monitor,
    Parker,
    PermitLeakError,
    RWLock,
    Semaphore,
    Synchronizer,
    WaitQueue,
    entry,
    open_scope,
)

settle = trio.testing.wait_all_tasks_blocked

CONSTRUCTORS: dict[str, Callable[[str], Any]] = {
    "Semaphore": lambda name: Semaphore(1, name=name),
    "Lock": lambda name: Lock(name=name),
    "Condition": lambda name: Condition(name=name),
    "RWLock": lambda name: RWLock(name=name),
    "CapacityLimiter": lambda name: CapacityLimiter(1, name=name),
    "WaitQueue": lambda name: WaitQueue(name=name),
    "Parker": lambda name: Parker(name=name),
    "Barrier": lambda name: Barrier(2, name=name),
    "Latch": lambda name: Latch(1, name=name),
    "Monitor": lambda name: Monitor(name=name),
    "MonitorCondition": lambda name: Monitor().condition(name=name),
    "Synchronizer": lambda name: Synchronizer(name=name),
}


@pytest.mark.parametrize("kind", CONSTRUCTORS)
def test_each_constructor_takes_a_name_and_repr_shows_it(kind: str) -> None:
    assert repr(CONSTRUCTORS[kind]("the one")).startswith(f"<{kind} 'the one' at 0x")


@pytest.mark.parametrize("kind", CONSTRUCTORS)
def test_a_name_that_is_no_text_is_refused(kind: str) -> None:
    with pytest.raises(TypeError, match="name must be a str or None, not 5"):
        CONSTRUCTORS[kind](5)  # type: ignore[arg-type]  # what is refused


async def test_a_leak_is_reported_by_its_name() -> None:
    with pytest.raises(PermitLeakError, match="Semaphore 'connections'"):
        async with open_scope() as scope:
            scope.own(Semaphore(1, max_value=1, name="connections")).acquire_nowait()


async def test_the_error_of_a_lock_whose_owner_ended_has_its_name(nursery: trio.Nursery) -> None:
    lock = Lock(name="the Door")
    nursery.start_soon(lock.acquire)
    await settle()
    with pytest.raises(trio.BrokenResourceError, match="Owner of this lock 'the Door' exited"):
        await lock.acquire()


async def test_a_lock_whose_owner_ended_is_broken_with_its_condition(nursery: trio.Nursery) -> None:
    lock = Lock()
    condition = Condition(lock)
    nursery.start_soon(lock.acquire)
    await settle()
    assert (lock.broken, lock.closed) == (True, False)
    assert (condition.broken, condition.closed) == (True, False)


def test_a_condition_is_closed_with_its_lock_and_alone() -> None:
    lock = Lock()
    one, other = Condition(lock), Condition(lock)
    one.close()
    assert (one.closed, other.closed, lock.closed) == (True, False, False)
    lock.close()
    assert other.closed


def test_a_condition_is_closed_with_its_monitor_and_alone() -> None:
    monitor = Monitor()
    one, other = monitor.condition(), monitor.condition()
    one.close()
    assert (one.closed, other.closed, monitor.closed) == (True, False, False)
    monitor.close()
    assert other.closed


def test_a_broken_barrier_is_mended_by_a_reset_and_ended_by_a_close() -> None:
    barrier = Barrier(2)
    barrier.abort()
    assert (barrier.broken, barrier.closed) == (True, False)
    barrier.reset()
    assert not barrier.broken
    barrier.abort()
    barrier.close()
    assert (barrier.broken, barrier.closed) == (False, True)


def test_a_monitor_of_the_users_may_have_a_name_of_its_own() -> None:
    class Account(Monitor):
        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

    assert "Account 'savings'" in repr(Account("savings"))


async def test_a_wait_queue_shows_who_is_woken_next(nursery: trio.Nursery) -> None:
    queue = WaitQueue()
    for name in ("a", "b"):
        nursery.start_soon(queue.wait, name=name)
        await settle()
    assert [task.name for task in queue.statistics().waiters] == ["a", "b"]
    queue.wake_all()


async def test_a_condition_of_a_monitor_shows_who_waits_and_how_many_want_to_get_in(
    nursery: trio.Nursery,
) -> None:
    class Room(Monitor):
        def __init__(self) -> None:
            super().__init__()
            self.nice = self.condition()

        @entry
        async def enter(self) -> None:
            await self.nice.wait()

        @entry
        def notify(self) -> int:
            self.nice.notify()
            return self.nice.statistics().tasks_waiting_to_enter

    room = Room()
    nursery.start_soon(room.enter, name="visitor")
    await settle()
    statistics = room.nice.statistics()
    assert [task.name for task in statistics.waiters] == ["visitor"]
    assert (statistics.tasks_waiting, statistics.tasks_waiting_to_enter) == (1, 0)
    assert await room.notify() == 1

"""What the primitives take and return: for mypy, for pyright, and when it runs."""

# pyright: reportUnnecessaryTypeIgnoreComment=error

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import assert_type

import trio
from trio.lowlevel import Task

from structsync import (
    Access,
    AllOf,
    AnyOf,
    Barrier,
    BarrierStatistics,
    CapacityLimiter,
    CapacityLimiterStatistics,
    CheckpointMode,
    Claim,
    Condition,
    ConditionStatistics,
    Discipline,
    EntryDecorator,
    EntryMethod,
    GuardFunction,
    Held,
    Latch,
    LatchStatistics,
    Lock,
    Locked,
    LockStatistics,
    Monitor,
    MonitorCondition,
    MonitorConditionStatistics,
    MonitorStatistics,
    Parker,
    ParkerStatistics,
    PolicyName,
    PrimitiveStatistics,
    Request,
    RWLock,
    RWLockStatistics,
    RWPolicyName,
    Semaphore,
    SemaphoreStatistics,
    WaitQueue,
    WaitQueueStatistics,
    WhenCancelled,
    acquire_all,
    acquire_any,
    entry,
)


async def test_a_semaphore_takes_numbers_and_returns_nothing() -> None:
    policy: PolicyName = "priority"
    checkpoint: CheckpointMode = "budget"
    semaphore = Semaphore(3, max_value=3, policy=policy, ageing=None, checkpoint=checkpoint)
    assert_type(await semaphore.acquire(2, priority=1), None)
    assert_type(semaphore.acquire_nowait(), None)
    assert_type(semaphore.release(3), None)
    assert_type(semaphore.resize(4), None)
    assert isinstance(assert_type(semaphore.permits(2), Held[int]), Held)
    assert type(assert_type(semaphore.claim(), Claim[Semaphore])) is Claim
    assert assert_type(semaphore.value, int) == 4
    assert assert_type(semaphore.max_value, int | None) == 4
    statistics: PrimitiveStatistics = assert_type(semaphore.statistics(), SemaphoreStatistics)
    assert assert_type(statistics.tasks_waiting, int) == 0
    assert type(assert_type(semaphore.closed, bool)) is bool
    assert type(assert_type(semaphore.broken, bool)) is bool
    assert assert_type(semaphore.name, str | None) is None


async def test_a_lock_and_its_condition_know_their_owner() -> None:
    lock = Lock(name="lock")
    condition = Condition(lock)
    async with condition:
        assert type(assert_type(lock.locked(), bool)) is bool
        assert isinstance(assert_type(lock.statistics().owner, Task | None), Task)
        found = await condition.wait_for(lambda: 3)
        assert assert_type(found, int) == 3
        assert_type(condition.notify(2), None)
        assert_type(condition.notify_all(), None)
        statistics = assert_type(condition.statistics(), ConditionStatistics)
        assert assert_type(statistics.lock_statistics, LockStatistics).locked
    with lock.request() as request:
        assert isinstance(assert_type(request, Request[Task]), Request)


async def test_a_limiter_has_borrowers_of_any_kind() -> None:
    limiter = CapacityLimiter(2)
    assert_type(await limiter.acquire_on_behalf_of("a borrower"), None)
    assert_type(limiter.acquire_on_behalf_of_nowait(3), None)
    assert assert_type(limiter.total_tokens, float) == 2
    assert assert_type(limiter.borrowed_tokens, int) == 2
    assert assert_type(limiter.available_tokens, float) == 0
    statistics = assert_type(limiter.statistics(), CapacityLimiterStatistics)
    assert len(assert_type(statistics.borrowers, list[Task | object])) == 2
    limiter.release_on_behalf_of("a borrower")
    limiter.release_on_behalf_of(3)


async def test_a_read_write_lock_has_blocks_and_requests_of_two_kinds() -> None:
    policy: RWPolicyName = "writers"
    lock = RWLock(policy=policy)
    blocks = assert_type(lock.reading(), Locked), assert_type(lock.writing(), Locked)
    managers: tuple[AbstractAsyncContextManager[None], ...] = blocks
    assert len(managers) == 2
    with lock.read_request() as request:
        assert isinstance(assert_type(request, Request[Access]), Request)
        statistics = assert_type(lock.statistics(), RWLockStatistics)
        assert len(assert_type(statistics.readers, tuple[Task, ...])) == 1
        assert assert_type(statistics.writer, Task | None) is None
    assert type(assert_type(lock.write_claim(), Claim[RWLock])) is Claim


async def test_who_waits_for_others_gets_a_number_or_nothing() -> None:
    cancelled: WhenCancelled = "breaks"
    barrier = Barrier(1, cancelled=cancelled, action=lambda: "ignored")
    assert assert_type(await barrier.wait(), int) == 0
    assert assert_type(barrier.statistics(), BarrierStatistics).parties == 1
    latch = Latch(2)
    assert_type(latch.count_down(2), None)
    assert_type(await latch.wait(), None)
    assert assert_type(latch.count, int) == 0
    assert assert_type(latch.statistics(), LatchStatistics).count == 0
    parker = Parker()
    assert_type(parker.unblock(), None)
    assert_type(await parker.block(), None)
    assert assert_type(parker.statistics(), ParkerStatistics).unblocks == 0
    queue = WaitQueue()
    assert assert_type(await queue.wait_for(lambda: "found"), str) == "found"
    assert_type(queue.wake(3), None)
    statistics = assert_type(queue.statistics(), WaitQueueStatistics)
    assert assert_type(statistics.waiters, tuple[Task, ...]) == ()


async def test_the_condition_of_a_monitor_returns_what_its_predicate_found() -> None:
    discipline: Discipline = "mesa"
    guard: GuardFunction = lambda: True  # noqa: E731 - the alias is what is looked at

    class Shelf(Monitor):
        def __init__(self) -> None:
            super().__init__(discipline=discipline)
            self.filled = self.condition()
            self.items = ["a"]

        @entry
        async def take(self) -> str:
            assert_type(self.filled, MonitorCondition)
            items = await self.filled.wait_for(lambda: self.items)
            self.filled.notify_all()
            return assert_type(items, list[str]).pop()

    shelf = Shelf()
    assert assert_type(await shelf.take(), str) == "a"
    assert isinstance(Shelf.take, EntryMethod)
    marks: EntryDecorator = entry(when=guard)
    assert callable(marks)
    assert assert_type(shelf.statistics(), MonitorStatistics).owner is None
    conditions = assert_type(shelf.filled.statistics(), MonitorConditionStatistics)
    assert conditions.tasks_waiting == 0


async def test_groups_are_blocks_of_their_own_types() -> None:
    semaphore, lock = Semaphore(1), Lock()
    both = assert_type(acquire_all(semaphore.claim(), lock.claim()), AllOf)
    either = assert_type(acquire_any(semaphore.claim(), lock.claim()), AnyOf[Semaphore | Lock])
    async with both:
        assert lock.locked()
    async with either as claim:
        assert_type(claim.primitive, Semaphore | Lock)
        assert type(assert_type(claim, Claim[Semaphore | Lock])) is Claim
    async with acquire_any(lock.claim(), Lock().claim(), Lock().claim()) as one_lock:
        assert assert_type(one_lock, Claim[Lock]).primitive is lock
    several = acquire_any(*[lock.claim()])
    async with assert_type(several, AnyOf[Lock]):
        assert lock.locked()


# Each line must be refused by both: an ignore that is not needed is an error, too.
async def refused(semaphore: Semaphore, lock: Lock, barrier: Barrier, queue: WaitQueue) -> None:
    Semaphore(1, 1)  # type: ignore[call-arg]  # by keyword, as trio's
    Semaphore(1, policy="lifo")  # type: ignore[arg-type]  # no such policy
    Semaphore(1, checkpoint="never")  # type: ignore[arg-type]  # no such mode
    await semaphore.acquire("1")  # type: ignore[arg-type]  # no int
    await semaphore.acquire(1, 2)  # type: ignore[call-arg]  # by keyword
    with semaphore.permits():  # type: ignore[attr-defined]  # async with
        pass
    lock.acquire_nowait(priority=1)  # type: ignore[call-arg]  # no task is in its way
    Condition(trio.Lock())  # type: ignore[arg-type]  # ours
    CapacityLimiter("1")  # type: ignore[arg-type]  # no number
    RWLock(policy="priority")  # type: ignore[arg-type]  # no such policy
    RWLock().reading(True)  # type: ignore[call-arg]  # takes nothing
    Barrier(2, cancelled="waits")  # type: ignore[arg-type]  # no such option
    Barrier(2, "breaks")  # type: ignore[call-arg]  # by keyword
    nothing: str = await barrier.wait()  # type: ignore[assignment]  # an int
    Latch()  # type: ignore[call-arg]  # how many?
    queue.wake("all")  # type: ignore[arg-type]  # wake_all()
    Monitor(discipline="java")  # type: ignore[arg-type]  # no such
    acquire_all(semaphore, lock)  # type: ignore[arg-type]  # their claims
    acquire_any(lock.acquire())  # type: ignore[call-overload]  # its claim
    permits: Claim[Lock] = semaphore.claim()  # type: ignore[assignment]  # of a semaphore
    del permits
    del nothing

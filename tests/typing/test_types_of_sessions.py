"""What is shared by name between processes, and what goes wrong there, to a type checker."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import assert_type

import pytest

from structsync import Monitor, entry, otel, threads
from structsync.distributed import (
    CallOutcomeUnknown,
    Deliveries,
    Grant,
    LeaseLost,
    RemoteError,
    ReplicasDiffer,
    Session,
    SharedBarrier,
    SharedBlock,
    SharedClaim,
    SharedCondition,
    SharedEntry,
    SharedEvent,
    SharedLatch,
    SharedLock,
    SharedMonitor,
    SharedPrimitive,
    SharedRWLock,
    SharedSemaphore,
    SharedStatistics,
    SharedSynchronizer,
    open_session,
)

pytest.importorskip("msgspec")


class Counter(Monitor):
    """What a synchronizer has a stand-in for."""

    number = 0

    @entry
    def increase(self) -> int:
        self.number += 1
        return self.number


def letters(word: str) -> int:
    return len(word)


async def test_each_primitive_has_its_type_and_its_blocks_give_grants() -> None:
    events = list[SharedEvent]()
    deliveries = Deliveries(lambda what: "in time")
    async with open_session(
        "memory://", namespace="types", observer=events.append, deliveries=deliveries
    ) as session:
        assert_type(session, Session)
        semaphore = assert_type(session.semaphore("desk/permits", 2), SharedSemaphore)
        lock = assert_type(session.lock("desk/lock"), SharedLock)
        rwlock = assert_type(session.rwlock("desk/rwlock"), SharedRWLock)
        latch = assert_type(session.latch("latch", 1), SharedLatch)
        barrier = assert_type(session.barrier("barrier", 1), SharedBarrier)
        condition = assert_type(session.condition("desk/condition", lock), SharedCondition)
        monitor = assert_type(session.monitor("monitor"), SharedMonitor)
        primitives: list[SharedPrimitive] = [semaphore, lock, rwlock, latch, barrier]
        assert_type(semaphore.permits(2), SharedBlock)
        claims = [assert_type(semaphore.claim(), SharedClaim), lock.claim(), rwlock.read_claim()]
        async with session.acquire_all(*claims) as grant:
            assert_type(grant, Grant)
            assert_type(grant.token, int)
        async with rwlock.writing(), lock:
            await condition.notify_all()
        await latch.count_down()
        await latch.wait()
        assert_type(await barrier.wait(), int)
        length: SharedEntry[[str], int] = monitor.entry(letters)
        assert_type(await length("you"), int)
        for primitive in primitives:
            assert_type(await primitive.statistics(), SharedStatistics)
    assert_type(events[0].token, int)


async def test_a_synchronizer_has_stand_ins_of_the_type_of_their_interface() -> None:
    async with open_session("memory://", namespace="types") as session:
        async with session.host("counter", Counter()), session.synchronizer("rules") as rules:
            assert_type(rules, SharedSynchronizer)
            assert_type(rules.stand_in("counter", Counter), Counter)


def test_what_goes_wrong_is_an_exception() -> None:
    errors: list[type[Exception]] = [CallOutcomeUnknown, LeaseLost, RemoteError, ReplicasDiffer]
    assert all(issubclass(one, Exception) for one in errors)


def test_a_thread_holds_what_a_block_gives() -> None:
    def hold(lock: SharedLock) -> threads.Hold[Grant]:
        return threads.hold(lock)

    assert callable(hold)


def test_an_export_is_a_context() -> None:
    pytest.importorskip("opentelemetry")
    with assert_type(otel.export(), AbstractContextManager[None]):
        pass

"""What an attack on the shell once broke, one claim each."""

from __future__ import annotations

import gc
import math
import types
import weakref
from collections.abc import Callable, Coroutine, Generator
from typing import Any, cast

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from structsync import (
    Barrier,
    CapacityLimiter,
    Condition,
    Lock,
    LockMap,
    Monitor,
    PermitLeakError,
    Primitive,
    RWLock,
    Semaphore,
    Synchronizer,
    acquire_all,
    acquire_any,
    open_scope,
)
from structsync._core.primitives.rwlock import WRITE, Access
from structsync._runtime import ownership

from ..threads import in_thread  # noqa: TID252 - both folders use it

# ==== the one who misuses gets the error, not the one who holds ====

HELD: dict[str, Callable[[], Any]] = {
    "bounded semaphore": lambda: Semaphore(2, max_value=2),
    "limiter": lambda: CapacityLimiter(2),
    "lock": Lock,
    "read-write lock": RWLock,
}


def take(primitive: Any) -> None:
    (primitive.acquire_read_nowait if isinstance(primitive, RWLock) else primitive.acquire_nowait)()


@pytest.mark.parametrize("make", HELD.values(), ids=HELD.keys())
async def test_what_is_known_to_be_held_is_bound_to_its_run(make: Callable[[], Any]) -> None:
    primitive = make()
    take(primitive)

    async def use() -> None:
        take(primitive)

    with pytest.raises(RuntimeError, match="in use by another trio run"):
        in_thread(lambda: trio.run(use)).unwrap()
    primitive.release()  # and the holder is not the one who pays
    in_thread(lambda: trio.run(use)).unwrap()


def test_what_a_run_held_when_its_thread_ended_binds_no_task() -> None:
    semaphore = Semaphore(2, max_value=2)
    in_thread(semaphore.acquire_nowait).unwrap()
    semaphore.acquire_nowait()
    assert semaphore.value == 0


# ==== Ctrl-C between the call of __aexit__ and its await ====

BLOCKS: dict[str, tuple[Callable[[], Any], Callable[[Any], Any]]] = {
    "semaphore": (lambda: Semaphore(1), lambda p: p),
    "permits": (lambda: Semaphore(2), lambda p: p.permits(2)),
    "lock": (Lock, lambda p: p),
    "condition": (Condition, lambda p: p),
    "limiter": (lambda: CapacityLimiter(1), lambda p: p),
    "writing": (RWLock, lambda p: p.writing()),
    "reading": (RWLock, lambda p: p.reading()),
    "key of a map": (LockMap, lambda p: p["key"]),
    "all of a group": (Lock, lambda p: acquire_all(p.claim())),
    "any of a group": (Lock, lambda p: acquire_any(p.claim())),
}


@pytest.mark.parametrize("name", BLOCKS)
async def test_a_block_releases_in_the_call_of_its_exit(name: str) -> None:
    make, block_of = BLOCKS[name]
    primitive = make()
    before = repr(primitive)
    block = block_of(primitive)
    for _ in range(2):
        await block.__aenter__()
        assert repr(primitive) != before
        left = block.__aexit__(None, None, None)
        assert repr(primitive) == before
        await left


async def test_a_synchronizer_takes_its_rules_back_in_the_call_of_its_exit() -> None:
    monitor, synchronizer = Monitor(), Synchronizer()
    entry = monitor.entry(lambda: None)
    await synchronizer.__aenter__()
    synchronizer.disable(entry, when=lambda: True)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(entry)
        await wait_all_tasks_blocked()
        left = synchronizer.__aexit__(None, None, None)
        assert monitor.statistics().tasks_waiting == 0
        await entry()
        await left


# ==== nothing is kept that has ended ====


async def test_a_lock_request_that_a_close_broke_does_not_keep_its_lock() -> None:
    locks = [Lock() for _ in range(20)]
    seen = [weakref.ref(lock) for lock in locks]
    for lock in locks:
        lock.acquire_nowait()
        lock.release()
        lock.request()
        lock.close()
    del lock
    locks.clear()
    gc.collect()
    assert [ref() for ref in seen] == [None] * 20


async def test_a_task_that_outlives_many_locks_forgets_them() -> None:
    for _ in range(200):
        async with Lock():
            pass
    touched = ownership._by_task[trio.lowlevel.current_task()]
    assert len(touched) <= 2 * 16 + 1


async def test_what_a_request_was_granted_later_binds_the_run() -> None:
    """It may outlive its task, so that it is known by its run and not by its thread."""
    semaphore = Semaphore(1, max_value=1)
    semaphore.acquire_nowait()
    with semaphore.request() as request:
        semaphore.release()
        assert request.status == "granted"

        async def takes() -> None:
            semaphore.acquire_nowait()

        with pytest.raises(RuntimeError, match="in use by another trio run"):
            in_thread(lambda: trio.run(takes)).unwrap()


async def test_a_task_notes_a_lock_once_however_it_takes_it() -> None:
    one, other = Lock(), Lock()
    for _ in range(3):
        async with acquire_all(one.claim(), other.claim()):
            pass
        async with one:
            pass
        other.acquire_nowait()
        other.release()
        with one.request():
            pass
    touched = ownership._by_task[trio.lowlevel.current_task()]
    assert {reference() for reference, _ in touched} == {one, other}
    assert len(touched) == 2


async def test_a_finalizer_may_use_a_lock_while_another_one_is_noted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A note outside of a transition may be interrupted, at any call in it."""
    one, other, calls = Lock(), Lock(), list[object]()

    def finalizer(task: trio.lowlevel.Task, lot: trio.lowlevel.ParkingLot) -> None:
        calls.append(lot)
        if len(calls) == 1:
            with other.request():
                pass
        trio.lowlevel.add_parking_lot_breaker(task, lot)

    async def end_as_owner() -> None:
        await one.acquire()
        await other.acquire()

    one.acquire_nowait()
    monkeypatch.setattr(ownership, "add_parking_lot_breaker", finalizer)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(end_as_owner)
        await wait_all_tasks_blocked()
        one.release()
    assert (one.broken, other.broken) == (True, True)
    assert len(calls) == 1


async def test_a_finalizer_may_use_a_lock_while_those_that_are_gone_are_forgotten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    other = Lock()
    finalizers = [other.request]

    class Gone:
        """A reference to a lock that is gone; a finalizer runs when it is looked at."""

        def __call__(self) -> None:
            if finalizers:
                with finalizers.pop()():
                    pass

    async def end_as_owner() -> None:
        task = trio.lowlevel.current_task()
        async with Lock():
            pass
        ownership._by_task[task].append(cast(Any, (Gone(), task)))
        monkeypatch.setattr(ownership, "_purge_at", {task: 0})
        ownership.note(Lock(), task)
        await other.acquire()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(end_as_owner)
    assert other.broken


# ==== a cancelled task gets Cancelled ====


async def test_a_cancelled_wait_is_cancelled_though_the_lock_closes_first() -> None:
    condition = Condition(lock := Lock())

    async def wait() -> None:
        async with condition:
            await condition.wait()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(wait)
        await wait_all_tasks_blocked()
        lock.acquire_nowait()
        nursery.cancel_scope.cancel()  # the waiter needs the lock before it can raise
        lock.close()


@types.coroutine
def taken_back(scope: trio.CancelScope, wait: Coroutine[Any, Any, int]) -> Generator[Any, Any, int]:
    """Take a deadline back when the task is about to sleep, and before trio has looked at it."""
    try:
        trap = wait.send(None)
        scope.deadline = math.inf
        while True:
            trap = wait.send((yield trap))
    except StopIteration as stop:
        return cast(int, stop.value)


async def test_a_deadline_that_is_set_and_taken_back_cancels_no_task_at_a_barrier() -> None:
    barrier, numbers = Barrier(2), list[int]()

    async def come() -> None:
        with trio.CancelScope() as scope:
            scope.deadline = -math.inf
            numbers.append(await taken_back(scope, barrier.wait()))

    with trio.fail_after(60):
        async with trio.open_nursery() as nursery:
            for _ in range(2):
                nursery.start_soon(come)
                await wait_all_tasks_blocked()
    assert sorted(numbers) == [0, 1]


# ==== wrong arguments ====


@pytest.mark.parametrize("core", [None, object(), Semaphore, Lock])
def test_a_core_that_is_no_arbiter_is_refused(core: Any) -> None:
    with pytest.raises(TypeError, match="core must be an object of a subclass of Arbiter"):
        Primitive(core)


# ==== checks that were not watched ====


LEAKS: dict[str, Callable[[], Any]] = {"lock": Lock, "limiter": lambda: CapacityLimiter(1)}


@pytest.mark.parametrize("make", LEAKS.values(), ids=LEAKS.keys())
async def test_a_leak_of_what_is_claimed_by_tasks_names_the_task(make: Callable[[], Any]) -> None:
    with pytest.raises(PermitLeakError, match=r"test_a_leak_of_what_is_claimed.* took 1 too many"):
        async with open_scope() as scope:
            scope.own(make()).acquire_nowait()


async def test_what_a_scope_owned_can_be_owned_by_another_after_its_end() -> None:
    limiter = CapacityLimiter(1)
    async with open_scope() as scope:
        scope.own(limiter)
    async with open_scope() as other:
        with pytest.raises(trio.ClosedResourceError):
            other.own(limiter)


class Odd(Primitive[int]):
    """Its balance is known at one end of a scope only."""

    __slots__ = ("known",)
    known: list[int | None]

    def __init__(self, known: list[int | None]) -> None:
        super().__init__(Semaphore(3)._core)
        self.known = known

    def _balance(self) -> int | None:
        return self.known.pop(0)


@pytest.mark.parametrize("known", [[5, None], [None, 5]])
async def test_a_balance_that_is_known_at_one_end_only_is_not_used(known: list[int | None]) -> None:
    async with open_scope() as scope:
        odd = scope.own(Odd(list(known)))
        odd._acquire_nowait(1)
        odd._release(1)
    with pytest.raises(PermitLeakError, match="1 not returned"):
        async with open_scope() as scope:
            scope.own(Odd(list(known)))._acquire_nowait(1)


LEFT_BEHIND: dict[str, Callable[[], tuple[Any, Any]]] = {
    "semaphore": lambda: (Semaphore(0), 1),
    "read-write lock": lambda: (held_lock(), Access(WRITE, "other")),
}


def held_lock() -> RWLock:
    lock = RWLock()
    lock._core.submit(Access(WRITE, "holder"))
    return lock


@pytest.mark.parametrize("make", LEFT_BEHIND.values(), ids=LEFT_BEHIND.keys())
def test_a_request_of_an_ended_run_can_be_left_in_another_thread(
    make: Callable[[], tuple[Any, Any]],
) -> None:
    primitive, claim = make()

    async def ask() -> Any:
        return primitive._request(claim)

    request = trio.run(ask)
    if request.status == "pending":
        in_thread(lambda: request.__exit__(None, None, None)).unwrap()
    assert request.status == "withdrawn"
    assert primitive.statistics().tasks_waiting == 0

"""deadlock_guard(): an error where a cycle closes, for every kind of owner; silence where a way out is."""

from __future__ import annotations

import gc
import math
import threading
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

import structsync
from structsync import DeadlockError, DeadlockWarning, deadlock_guard
from structsync._runtime import watching

Block = Callable[[], AbstractAsyncContextManager[Any]]


async def crossing(one: Block, other: Block, more: Block | None = None) -> list[DeadlockError]:
    """Two tasks (or three) enter the blocks, each within the one of its neighbour; what was raised."""
    raised: list[DeadlockError] = []
    blocks = [one, other] if more is None else [one, other, more]

    async def worker(outer: Block, inner: Block) -> None:
        try:
            async with outer():
                await wait_all_tasks_blocked()
                async with inner():
                    pass
        except DeadlockError as error:
            raised.append(error)

    with trio.fail_after(5):  # a wait without an end is red, too
        with trio.CancelScope(shield=True):
            async with trio.open_nursery() as nursery:
                for number, outer in enumerate(blocks):
                    inner = blocks[(number + 1) % len(blocks)]
                    nursery.start_soon(worker, outer, inner, name=f"task {number}")
    return raised


def _nothing() -> None:
    """What an entry does here."""


def kinds() -> dict[str, Callable[[], Block]]:
    """For each kind of owner a maker of blocks, each of an object of its own."""

    def semaphore() -> Block:
        one = structsync.Semaphore(1, max_value=1)
        return lambda: one

    def permits() -> Block:
        one = structsync.Semaphore(3, max_value=3)
        return lambda: one.permits(2)

    def lock() -> Block:
        one = structsync.Lock()
        return lambda: one

    def writing() -> Block:
        one = structsync.RWLock()
        return one.writing

    def limiter() -> Block:
        one = structsync.CapacityLimiter(1)
        return lambda: one

    def grouped() -> Block:
        one, other = structsync.Lock(), structsync.Semaphore(1, max_value=1)
        return lambda: structsync.acquire_all(one.claim(), other.claim())

    def alternative() -> Block:
        one = structsync.Semaphore(1, max_value=1)
        return lambda: structsync.acquire_any(one.claim())

    def requested() -> Block:
        one = structsync.Lock()

        @asynccontextmanager
        async def block() -> AsyncIterator[None]:
            with one.request() as request:
                await request.wait()
                yield

        return block

    return {
        each.__name__: each
        for each in (
            semaphore,
            permits,
            lock,
            writing,
            limiter,
            grouped,
            alternative,
            requested,
        )
    }


@pytest.mark.parametrize("one", kinds())
@pytest.mark.parametrize("other", ["lock", "semaphore"])
async def test_two_that_cross_are_told_by_the_one_that_closes_the_cycle(
    one: str, other: str
) -> None:
    with deadlock_guard():
        raised = await crossing(kinds()[one](), kinds()[other]())
    assert len(raised) == 1
    assert "each of these waits for the next" in str(raised[0])


async def test_a_cycle_of_three_names_the_three_their_lines_and_what_to_do() -> None:
    lock = kinds()["lock"]
    with deadlock_guard():
        (error,) = await crossing(lock(), lock(), lock())
    assert {task.name for task in error.tasks} == {"task 0", "task 1", "task 2"}
    lines = str(error).splitlines()
    assert len(lines) == 5
    for line in lines[1:4]:
        assert " waits for Lock at 0x" in line
        assert "(test_deadlock_guard.py:" in line
        assert " in worker)" in line
        assert "holds since test_deadlock_guard.py:" in line
    assert lines[-1] == "Acquire in the same order everywhere, or together by acquire_all()."
    assert len(error.graph.edges) == 3


async def test_a_task_that_waits_for_itself_is_a_cycle() -> None:
    semaphore = structsync.Semaphore(2, max_value=2)
    with deadlock_guard():
        async with semaphore:
            with pytest.raises(DeadlockError, match=r"which .* holds"):
                async with semaphore.permits(2):
                    pass
        assert semaphore.value == 2


async def test_who_gets_on_is_no_part_of_the_knot() -> None:
    semaphore = structsync.Semaphore(3, max_value=3)
    with deadlock_guard():
        async with trio.open_nursery() as nursery:

            async def goes_on() -> None:
                async with semaphore:
                    await wait_all_tasks_blocked(0.01)

            nursery.start_soon(goes_on)
            await wait_all_tasks_blocked()
            async with semaphore:
                with pytest.raises(DeadlockError) as raised:
                    await semaphore.acquire(3)
    ((edge,), (task,)) = raised.value.graph.edges, raised.value.tasks
    assert edge.waiter == edge.holder
    assert task is trio.lowlevel.current_task()


async def test_readers_that_both_want_to_write_elsewhere_are_a_cycle() -> None:
    one, other = structsync.RWLock(), structsync.RWLock(policy="phase")
    reading_one: Block = one.reading
    raised: list[str] = []

    async def worker(outer: Block, inner: Block) -> None:
        try:
            async with outer():
                await wait_all_tasks_blocked()
                async with inner():
                    pass
        except DeadlockError as error:
            raised.append(str(error))

    with deadlock_guard():
        async with trio.open_nursery() as nursery:
            nursery.start_soon(worker, reading_one, other.writing)
            nursery.start_soon(worker, other.reading, one.writing)
    assert len(raised) == 1


async def test_a_reader_behind_a_writer_waits_for_those_who_read() -> None:
    rwlock, lock = structsync.RWLock(), structsync.Lock()
    with deadlock_guard():
        async with trio.open_nursery() as nursery:

            async def holds_and_reads() -> None:
                async with lock:
                    await wait_all_tasks_blocked(0.01)
                    async with rwlock.reading():  # behind the writer
                        pass

            async def writes() -> None:
                await wait_all_tasks_blocked(0.001)
                async with rwlock.writing():
                    pass

            nursery.start_soon(holds_and_reads)
            nursery.start_soon(writes)
            async with rwlock.reading():
                await wait_all_tasks_blocked(0.05)
                with pytest.raises(DeadlockError):
                    await lock.acquire()


async def test_monitors_are_owned_by_the_task_inside() -> None:
    one, other = structsync.Monitor(), structsync.Monitor()
    raised: list[DeadlockError] = []

    async def inside(inner: structsync.Monitor) -> None:
        await wait_all_tasks_blocked()
        await inner.entry(_nothing)()

    async def worker(outer: structsync.Monitor, inner: structsync.Monitor) -> None:
        try:
            await outer.entry(inside)(inner)
        except DeadlockError as error:
            raised.append(error)

    with deadlock_guard():
        async with trio.open_nursery() as nursery:
            nursery.start_soon(worker, one, other)
            nursery.start_soon(worker, other, one)
    assert len(raised) == 1


async def test_a_monitor_may_be_a_dataclass_and_have_no_hash() -> None:
    @dataclass
    class Account(structsync.Monitor):
        balance: int = 0

        def __post_init__(self) -> None:
            super().__init__()

        @structsync.entry
        async def pay(self, other: Account) -> None:
            await wait_all_tasks_blocked()
            await other.receive()

        @structsync.entry
        def receive(self) -> None:
            self.balance += 1

    one, other = Account(), Account()
    told: list[DeadlockError] = []

    async def pays(source: Account, target: Account) -> None:
        try:
            await source.pay(target)
        except DeadlockError as error:
            told.append(error)

    with deadlock_guard():
        async with trio.open_nursery() as nursery:
            nursery.start_soon(pays, one, other)
            nursery.start_soon(pays, other, one)
    assert len(told) == 1
    assert one.balance + other.balance == 1
    assert structsync.snapshot([one]).primitives[0].primitive is one


async def test_an_entry_under_a_rule_waits_for_the_task_inside() -> None:
    room, lock = structsync.Monitor(), structsync.Lock()
    outer, inner = room.entry(lock.acquire), room.entry(_nothing)
    async with structsync.Synchronizer() as rules:
        rules.disable(inner, when=lambda: False)
        with deadlock_guard():
            async with lock, trio.open_nursery() as nursery:

                async def enters() -> None:
                    await outer()
                    lock.release()

                nursery.start_soon(enters)
                await wait_all_tasks_blocked()
                with pytest.raises(DeadlockError):
                    await inner()
                lock.release()
                await wait_all_tasks_blocked()
                await lock.acquire()


async def test_a_guard_that_is_false_may_become_true() -> None:
    open_ = False

    class Door(structsync.Monitor):
        @structsync.entry(when=lambda self: open_)
        def enter(self) -> None:
            """Wait for the door."""

    door, lock = Door(), structsync.Lock()
    with deadlock_guard():
        async with trio.open_nursery() as nursery:

            async def passes() -> None:
                async with lock:
                    await door.enter()

            nursery.start_soon(passes)
            await wait_all_tasks_blocked()
            nursery.start_soon(passes)
            await wait_all_tasks_blocked()
            open_ = True
            door.changed()


# ==== no alarm ====


async def finishes(*workers: Callable[[], Awaitable[object]]) -> None:
    """Run tasks that end although some of them wait for each other meanwhile."""
    with deadlock_guard():
        async with trio.open_nursery() as nursery:
            for worker in workers:
                nursery.start_soon(worker)


async def test_a_deadline_is_a_way_out() -> None:
    one, other = structsync.Lock(), structsync.Lock()

    async def gives_up() -> None:
        async with one:
            await wait_all_tasks_blocked()
            with trio.move_on_after(0.01):
                await other.acquire()

    async def waits() -> None:
        async with other:
            await wait_all_tasks_blocked()
            async with one:
                pass

    await finishes(gives_up, waits)
    await finishes(waits, gives_up)


async def test_a_permit_of_no_block_may_be_released_by_anybody() -> None:
    semaphore, lock = structsync.Semaphore(1, max_value=1), structsync.Lock()

    async def holds() -> None:
        await semaphore.acquire()
        async with lock:
            pass

    async def waits() -> None:
        async with lock:
            await wait_all_tasks_blocked()
            async with semaphore:
                pass

    async def releases() -> None:
        await wait_all_tasks_blocked(0.01)
        semaphore.release()

    await finishes(holds, waits, releases)


async def test_an_unbounded_semaphore_may_be_released_by_anybody() -> None:
    semaphore = structsync.Semaphore(1)

    async def releases() -> None:
        await wait_all_tasks_blocked()
        semaphore.release()

    async def twice() -> None:
        async with semaphore, semaphore:
            pass

    await finishes(twice, releases)


async def test_a_resize_may_follow() -> None:
    semaphore, limiter = structsync.Semaphore(2, max_value=2), structsync.CapacityLimiter(0)

    async def waits() -> None:
        async with semaphore.permits(2):
            async with limiter:
                pass

    semaphore.acquire_nowait()
    semaphore.resize(1)

    async def resizes() -> None:
        await wait_all_tasks_blocked()
        semaphore.release()
        semaphore.resize(2)
        await wait_all_tasks_blocked()
        limiter.total_tokens = 1

    await finishes(resizes, waits)


async def test_more_than_there_are_now_may_be_had_after_a_resize() -> None:
    semaphore = structsync.Semaphore(3, max_value=3)

    async def shrinks() -> None:
        async with semaphore:
            semaphore.resize(1)
            await wait_all_tasks_blocked()
            semaphore.resize(4)

    async def waits() -> None:
        await trio.lowlevel.checkpoint()
        async with semaphore.permits(3):
            pass

    await finishes(shrinks, waits)


async def test_a_task_that_does_something_else_may_go_on() -> None:
    one, other = structsync.Lock(), structsync.Lock()
    send, receive = trio.open_memory_channel[None](0)

    async def holds() -> None:
        async with one:
            await receive.receive()

    async def waits() -> None:
        async with other, one:
            pass

    async def sends() -> None:
        await wait_all_tasks_blocked()
        await send.send(None)

    await finishes(holds, waits, sends)


async def test_one_of_two_alternatives_is_enough() -> None:
    near, far, lock = structsync.Lock(), structsync.Lock(), structsync.Lock()

    async def holds_near() -> None:
        async with near:
            await wait_all_tasks_blocked(0.01)
            async with lock:
                pass

    async def holds_far() -> None:
        async with far:
            await wait_all_tasks_blocked(0.02)

    async def takes_either() -> None:
        async with lock:
            await wait_all_tasks_blocked()
            async with structsync.acquire_any(near.claim(), far.claim()):
                pass

    await finishes(holds_near, holds_far, takes_either)


async def test_an_alternative_that_is_not_known_is_a_way_out() -> None:
    lock, signal = structsync.Lock(), structsync.Semaphore(0)

    async def takes_either() -> None:
        async with structsync.Semaphore(1, max_value=1):
            async with structsync.acquire_any(lock.claim(), signal.claim()):
                pass

    async def signals() -> None:
        async with lock:
            await wait_all_tasks_blocked()
            signal.release()

    await finishes(signals, takes_either)


async def test_a_knot_of_alternatives_is_a_deadlock() -> None:
    near, far, lock = structsync.Lock(), structsync.Lock(), structsync.Lock()
    raised: list[DeadlockError] = []

    async def holds(one: structsync.Lock) -> None:
        try:
            async with one:
                await wait_all_tasks_blocked()
                async with lock:
                    pass
        except DeadlockError as error:
            raised.append(error)

    with deadlock_guard():
        async with trio.open_nursery() as nursery:
            nursery.start_soon(holds, near)
            nursery.start_soon(holds, far)
            try:
                async with lock:
                    await wait_all_tasks_blocked(0.001)
                    async with structsync.acquire_any(near.claim(), far.claim()):
                        pass
            except DeadlockError as error:
                raised.append(error)
    assert len(raised) == 1
    assert "every other way out leads to these 3 tasks" in str(raised[0])


async def test_whoever_stands_ahead_in_the_queue_with_a_group_holds_up_those_behind() -> None:
    free, taken, lock = structsync.Lock(), structsync.Lock(), structsync.Lock()
    with deadlock_guard():
        async with trio.open_nursery() as nursery:

            async def group() -> None:
                async with structsync.acquire_all(free.claim(), taken.claim()):
                    pass

            async def behind() -> None:
                async with lock, free:
                    pass

            async with taken:
                nursery.start_soon(group)
                await wait_all_tasks_blocked()
                nursery.start_soon(behind)
                await wait_all_tasks_blocked()
                with pytest.raises(DeadlockError, match="in whose queue"):
                    await lock.acquire()


async def test_a_request_that_nobody_waits_for_may_be_withdrawn_by_anybody() -> None:
    one, other = structsync.Semaphore(1, max_value=1), structsync.Lock()

    async def worker() -> None:
        async with other:
            await wait_all_tasks_blocked()
            async with one.permits(1):
                pass

    with deadlock_guard():
        async with trio.open_nursery() as nursery:
            async with one:
                request = one.request()
                nursery.start_soon(worker)
                await wait_all_tasks_blocked(0.01)
                assert request.withdraw()


async def test_a_grant_to_a_task_that_waits_elsewhere_closes_a_cycle() -> None:
    """The cycle is closed by a release; the error comes to the task whose request was granted."""
    one, other = structsync.Lock(), structsync.Lock()
    raised: list[str] = []

    async def requests() -> None:
        with one.request():
            try:
                async with other:
                    pass
            except DeadlockError as error:
                raised.append(str(error))

    async def waits() -> None:
        async with other:
            await wait_all_tasks_blocked()
            async with one:
                pass

    with deadlock_guard():
        async with trio.open_nursery() as nursery:
            async with one:
                nursery.start_soon(waits)
                await wait_all_tasks_blocked(0.001)
                nursery.start_soon(requests)
                await wait_all_tasks_blocked(0.01)
                assert not raised
    assert len(raised) <= 1


async def test_a_condition_may_be_notified_by_anybody_and_its_lock_has_an_owner() -> None:
    lock, other = structsync.Lock(), structsync.Lock()
    condition = structsync.Condition(lock)
    scope = trio.CancelScope()
    with deadlock_guard():
        async with trio.open_nursery() as nursery:

            async def waits() -> None:
                with scope:
                    async with other, condition:
                        await condition.wait()

            nursery.start_soon(waits)
            await wait_all_tasks_blocked()
            async with condition:
                scope.cancel()
                await wait_all_tasks_blocked()  # it sleeps on: it has to own the lock to raise
                with pytest.raises(DeadlockError):
                    await other.acquire()


async def test_what_is_not_known_of_a_primitive_of_the_users_is_a_way_out() -> None:
    latch, lock = structsync.Latch(1), structsync.Lock()

    async def waits() -> None:
        async with lock:
            await latch.wait()

    async def opens() -> None:
        await wait_all_tasks_blocked()
        latch.count_down()
        async with lock:
            pass

    await finishes(waits, opens)


async def behind_a_group(free: Block, claim: structsync.Claim) -> None:
    """Somebody waits for what is free, behind a group that waits elsewhere; all of them finish."""
    taken = structsync.Lock()
    with deadlock_guard():
        async with trio.open_nursery() as nursery:

            async def group() -> None:
                async with structsync.acquire_all(claim, taken.claim()):
                    pass

            async def behind() -> None:
                async with free():
                    pass

            async with taken:
                nursery.start_soon(group)
                await wait_all_tasks_blocked()
                nursery.start_soon(behind)
                await wait_all_tasks_blocked()


async def test_behind_a_group_somebody_waits_for_what_is_free() -> None:
    rwlock, lock = structsync.RWLock(), structsync.Lock()
    limiter = structsync.CapacityLimiter(math.inf)
    await behind_a_group(rwlock.reading, rwlock.write_claim())
    await behind_a_group(lambda: lock, lock.claim())
    await behind_a_group(lambda: limiter, limiter.claim())


async def test_a_limiter_that_is_paused_goes_on_when_it_has_more_tokens() -> None:
    limiter, lock = structsync.CapacityLimiter(1), structsync.Lock()

    async def borrows() -> None:
        async with limiter:
            await wait_all_tasks_blocked()
            limiter.total_tokens = 0
            async with lock:
                pass

    async def waits() -> None:
        async with lock:
            await wait_all_tasks_blocked(0.001)
            async with limiter:
                pass

    async def resumes() -> None:
        await wait_all_tasks_blocked(0.01)
        limiter.total_tokens = 2

    await finishes(borrows, waits, resumes)


async def test_more_permits_than_there_are_may_be_had_later_although_a_holder_waits() -> None:
    semaphore, lock = structsync.Semaphore(2, max_value=2), structsync.Lock()

    async def holds() -> None:
        async with semaphore:
            await wait_all_tasks_blocked()
            semaphore.resize(1)
            async with lock:
                pass

    async def waits() -> None:
        async with lock:
            await wait_all_tasks_blocked(0.001)
            async with semaphore.permits(2):
                pass

    async def resizes() -> None:
        await wait_all_tasks_blocked(0.01)
        semaphore.resize(3)

    await finishes(holds, waits, resizes)


async def test_somebody_ahead_whose_deadline_ends_is_not_in_the_way() -> None:
    semaphore, lock = structsync.Semaphore(2, max_value=2), structsync.Lock()
    scope = trio.CancelScope(deadline=trio.current_time() + 1000)

    async def holds() -> None:
        async with semaphore:
            await wait_all_tasks_blocked(0.01)
            async with lock:
                pass

    async def gives_up() -> None:
        with scope:
            async with semaphore.permits(2):
                pass

    async def ends() -> None:
        await wait_all_tasks_blocked(0.03)
        scope.cancel()

    async def waits() -> None:
        async with lock:
            await wait_all_tasks_blocked(0.02)
            async with semaphore:
                pass

    await finishes(holds, gives_up, waits, ends)


async def test_whoever_only_leads_to_a_deadlock_closes_none() -> None:
    told: list[DeadlockError] = []
    lock, semaphore = structsync.Lock(), structsync.Semaphore(1, max_value=1)
    with deadlock_guard(told.append), trio.CancelScope() as scope:
        async with trio.open_nursery() as nursery:

            async def closes() -> None:
                async with lock, semaphore, semaphore:
                    pass

            nursery.start_soon(closes)
            await wait_all_tasks_blocked()
            nursery.start_soon(lock.acquire)
            await wait_all_tasks_blocked()
            scope.cancel()
    assert len(told) == 1


async def test_where_several_hold_the_permits_the_graph_has_each_once() -> None:
    semaphore, lock = structsync.Semaphore(2, max_value=2), structsync.Lock()
    raised: list[DeadlockError] = []

    async def worker() -> None:
        try:
            async with semaphore:
                await wait_all_tasks_blocked()
                async with lock:
                    async with semaphore.permits(2):
                        pass
        except DeadlockError as error:
            raised.append(error)

    with deadlock_guard():
        async with trio.open_nursery() as nursery:
            nursery.start_soon(worker)
            nursery.start_soon(worker)
    assert len(raised[0].graph.edges) == 3
    assert {edge.holder for edge in raised[0].graph.edges} == {"worker #1", "worker #2"}


async def test_cancelled_in_a_condition_it_waits_behind_others_for_the_lock() -> None:
    lock, other = structsync.Lock(), structsync.Lock()
    condition, scope = structsync.Condition(lock), trio.CancelScope()
    with deadlock_guard():
        async with trio.open_nursery() as nursery:

            async def waits() -> None:
                with scope:
                    async with other, condition:
                        await condition.wait()

            nursery.start_soon(waits)
            await wait_all_tasks_blocked()
            async with lock:
                nursery.start_soon(_use, lock)
                await wait_all_tasks_blocked()
                scope.cancel()
                with pytest.raises(DeadlockError, match="waits for"):
                    await other.acquire()


async def _use(lock: structsync.Lock) -> None:
    async with lock:
        pass


async def test_a_watcher_that_fails_is_logged_and_removed(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> float:
        monkeypatch.undo()
        raise ZeroDivisionError

    lock = structsync.Lock()
    with deadlock_guard():
        async with trio.open_nursery() as nursery:
            async with lock:
                monkeypatch.setattr(trio, "current_effective_deadline", fail)
                nursery.start_soon(_use, lock)
                await wait_all_tasks_blocked()
                assert not watching.watchers
    assert "failed and was removed" in caplog.text
    watching._log.removeHandler(caplog.handler)
    watcher: Any = object()
    with watching._removing(watcher):  # it was removed by itself
        raise ZeroDivisionError


# ==== what is done about it ====


def two_locks() -> tuple[Block, Block]:
    return kinds()["lock"](), kinds()["lock"]()


async def test_a_function_is_called_and_the_tasks_go_on_waiting() -> None:
    told: list[DeadlockError] = []
    with deadlock_guard(told.append), trio.move_on_after(1) as scope:
        async with trio.open_nursery() as nursery:
            one, other = structsync.Lock(), structsync.Lock()

            async def worker(outer: structsync.Lock, inner: structsync.Lock) -> None:
                with trio.CancelScope(shield=True) as shield:
                    scopes.append(shield)
                    async with outer:
                        await wait_all_tasks_blocked()
                        await inner.acquire()

            scopes: list[trio.CancelScope] = []
            nursery.start_soon(worker, one, other)
            nursery.start_soon(worker, other, one)
            await wait_all_tasks_blocked(0.01)
            assert len(told) == 1
            for shield in scopes:
                shield.cancel()
    assert not scope.cancelled_caught
    assert one.statistics().tasks_waiting == 0


async def test_what_the_function_raises_is_raised_in_the_task() -> None:
    class Own(Exception):
        pass

    def refuse(error: DeadlockError) -> None:
        raise Own from error

    semaphore = structsync.Semaphore(1, max_value=1)
    with deadlock_guard(refuse):
        async with semaphore:
            with pytest.raises(Own):
                await semaphore.acquire()


async def test_what_the_function_has_ended_already_stays_so() -> None:
    def close(error: DeadlockError) -> None:
        semaphore.close()
        raise error

    semaphore = structsync.Semaphore(1, max_value=1)
    with deadlock_guard(close):
        async with semaphore:
            with pytest.raises(trio.ClosedResourceError):
                await semaphore.acquire()


async def test_a_warning_is_an_error_where_a_filter_makes_it_one() -> None:
    semaphore = structsync.Semaphore(1, max_value=1)
    with deadlock_guard("warn"):
        async with semaphore:
            with pytest.raises(DeadlockWarning, match="would never end"):
                await semaphore.acquire()


async def test_a_warning_lets_the_tasks_wait() -> None:
    semaphore = structsync.Semaphore(1, max_value=1)
    with warnings.catch_warnings(record=True) as caught, trio.CancelScope() as scope:
        warnings.simplefilter("always")
        with deadlock_guard("warn"):
            async with semaphore, trio.open_nursery() as nursery:

                async def cancel() -> None:
                    await wait_all_tasks_blocked()
                    scope.cancel()

                nursery.start_soon(cancel)
                await semaphore.acquire()
    assert [one.category for one in caught] == [DeadlockWarning]


async def test_what_has_ended_before_it_is_told_is_not_told() -> None:
    """Right after the step the request is withdrawn; the guard comes later than that."""
    semaphore = structsync.Semaphore(1, max_value=1)

    def close(event: structsync.PrimitiveEvent) -> None:
        if event.kind == "requested" and not done:
            done.append(event)
            watching.after_this_step(semaphore.close)

    done: list[Any] = [None]
    with deadlock_guard(), structsync.observe(close):
        async with semaphore:
            done.clear()
            with pytest.raises(trio.ClosedResourceError):
                await semaphore.acquire()


@pytest.mark.parametrize("wrong", ["stop", 3, None])
def test_what_is_to_be_done_must_be_known(wrong: Any) -> None:
    with pytest.raises(TypeError, match="on_deadlock"), deadlock_guard(wrong):
        pass


def test_another_thread_is_not_guarded() -> None:
    told: list[Any] = []
    ended: list[str] = []

    async def main() -> None:
        semaphore = structsync.Semaphore(1, max_value=1)
        with trio.CancelScope() as scope:
            async with semaphore, trio.open_nursery() as nursery:

                async def cancel() -> None:
                    await wait_all_tasks_blocked()
                    scope.cancel()

                nursery.start_soon(cancel)
                await semaphore.acquire()
        ended.append("ended")

    with deadlock_guard(told.append):
        thread = threading.Thread(target=trio.run, args=(main,))
        thread.start()
        thread.join(timeout=10)
    assert (ended, told) == (["ended"], [])


async def test_nothing_is_kept_of_tasks_that_have_gone_on() -> None:
    lock = structsync.Lock()
    with deadlock_guard():

        async def worker() -> None:
            async with lock:
                await trio.lowlevel.checkpoint()

        for _ in range(4):
            async with trio.open_nursery() as nursery:
                for _ in range(100):
                    nursery.start_soon(worker)
        guard: Any = watching.watchers[-1]
        assert len(guard._parked) <= 300


async def test_a_guard_around_a_guard_leaves_when_it_ends() -> None:
    with deadlock_guard(), deadlock_guard():
        assert len(watching.watchers) == 2
    assert not watching.watchers
    gc.collect()

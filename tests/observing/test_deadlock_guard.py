"""deadlock_guard(): an error where a cycle closes, for every kind of owner."""

from __future__ import annotations

import math
from dataclasses import dataclass

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

import structsync
from structsync import DeadlockError, deadlock_guard

from .crossing import Block, crossing, kinds, nothing


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
        assert "(crossing.py:" in line
        assert " in worker)" in line
        assert "holds since crossing.py:" in line
    assert lines[-1] == "Acquire in the same order everywhere, or together by acquire_all()."
    assert len(error.graph.edges) == 3


async def test_a_task_that_waits_for_itself_is_a_cycle() -> None:
    semaphore = structsync.Semaphore(2, max_value=2)
    with deadlock_guard():
        async with semaphore:
            with pytest.raises(DeadlockError, match=r"which .* holds") as raised:
                async with semaphore.permits(2):
                    pass
        assert semaphore.value == 2
    assert "this task waits for itself" in str(raised.value)
    assert "acquire_all" not in str(raised.value)


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
        await inner.entry(nothing)()

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
    outer, inner = room.entry(lock.acquire), room.entry(nothing)
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


async def test_a_cycle_closes_behind_a_task_that_has_a_deadline() -> None:
    one, other = structsync.Lock(), structsync.Lock()
    raised: list[DeadlockError] = []
    both_wait = trio.Event()

    async def closes_it() -> None:
        async with one:
            await both_wait.wait()
            try:
                await other.acquire()
            except DeadlockError as error:
                raised.append(error)

    async def gives_up() -> None:
        with trio.move_on_after(1000):
            async with one:
                pass

    async def is_behind() -> None:
        async with other, one:
            pass

    with deadlock_guard():
        async with trio.open_nursery() as nursery:
            for each in (closes_it, gives_up, is_behind):
                nursery.start_soon(each)
                await wait_all_tasks_blocked()
            both_wait.set()
    assert len(raised) == 1


async def test_a_deadline_that_was_lifted_is_no_way_out() -> None:
    one, other = structsync.Lock(), structsync.Lock()
    scope = trio.CancelScope(deadline=trio.current_time() + 1000)

    async def waits() -> None:
        with scope:
            async with one, other:
                pass

    with deadlock_guard():
        async with trio.open_nursery() as nursery, other:
            nursery.start_soon(waits)
            await wait_all_tasks_blocked()
            scope.deadline = math.inf
            with pytest.raises(DeadlockError):
                await one.acquire()

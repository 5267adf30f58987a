"""RWLock: many readers or one writer, by four policies; broken by a holder that ends (C5)."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest
import trio
import trio.testing

from structsync import PermitLeakError, PrimitiveEvent, RWLock, observe, open_scope

settle = trio.testing.wait_all_tasks_blocked
POLICIES = ["fifo", "phase", "readers", "writers"]
each_policy = pytest.mark.parametrize("policy", POLICIES)


class Tasks:
    """Tasks that want the lock, by name ("r1" reads, "w1" writes), and who got it in which order."""

    def __init__(self, lock: RWLock, nursery: trio.Nursery) -> None:
        self.lock = lock
        self.nursery = nursery
        self.scopes: dict[str, trio.CancelScope] = {}
        self.leaving: dict[str, trio.Event] = {}
        self.errors: dict[str, Exception] = {}

    async def come(self, *names: str) -> None:
        for name in names:
            self.nursery.start_soon(self._hold, name, name=name)
            await settle()

    async def leave(self, *names: str) -> None:
        for name in names:
            self.leaving[name].set()
        await settle()

    async def cancel(self, name: str) -> None:
        self.scopes[name].cancel()
        await settle()

    def inside(self) -> set[str]:
        numbers = self.lock.statistics()
        return {task.name for task in (*numbers.readers, numbers.writer) if task is not None}

    async def _hold(self, name: str) -> None:
        self.leaving[name] = trio.Event()
        with trio.CancelScope() as self.scopes[name]:
            try:
                async with self.lock.reading() if name[0] == "r" else self.lock.writing():
                    await self.leaving[name].wait()
            except (trio.BrokenResourceError, trio.ClosedResourceError) as error:
                self.errors[name] = error


@asynccontextmanager
async def tasks(policy: str = "fifo") -> AsyncIterator[Tasks]:
    async with trio.open_nursery() as nursery:
        yield Tasks(RWLock(policy=policy), nursery)  # type: ignore[arg-type]  # a plain str
        nursery.cancel_scope.cancel()


async def forget(acquire: Callable[[], None]) -> None:
    acquire()


async def run_to_its_end(acquire: Callable[[], None]) -> None:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(forget, acquire, name="forgetful")


# ==== who goes before whom ====


@each_policy
async def test_readers_share_and_a_writer_is_alone(policy: str) -> None:
    async with tasks(policy) as t:
        await t.come("r1", "r2", "w1")
        assert t.inside() == {"r1", "r2"}
        await t.leave("r1")
        assert t.inside() == {"r2"}
        await t.leave("r2")
        assert t.inside() == {"w1"}
        await t.come("w2", "r3")
        assert t.inside() == {"w1"}


WHO_IS_NEXT = {"fifo": {"w2"}, "phase": {"r1", "r2"}, "readers": {"r1", "r2"}, "writers": {"w2"}}


@each_policy
async def test_where_a_writer_leaves_the_policy_says_who_is_next(policy: str) -> None:
    async with tasks(policy) as t:
        await t.come("w1", "w2", "r1", "w3", "r2")
        await t.leave("w1")
        assert t.inside() == WHO_IS_NEXT[policy]


@pytest.mark.parametrize("policy", ["fifo", "phase", "writers"])
async def test_a_reader_behind_a_waiting_writer_waits(policy: str) -> None:
    async with tasks(policy) as t:
        await t.come("r1", "w1", "r2")
        assert t.inside() == {"r1"}
        with pytest.raises(trio.WouldBlock):
            t.lock.acquire_read_nowait()


async def test_a_reader_passes_a_waiting_writer_where_readers_are_preferred() -> None:
    async with tasks("readers") as t:
        await t.come("r1", "w1", "r2")
        assert t.inside() == {"r1", "r2"}
        t.lock.acquire_read_nowait()
        t.lock.release()


async def test_phases_take_turns() -> None:
    async with tasks("phase") as t:
        await t.come("r1", "w1", "w2", "r2", "r3")
        await t.leave("r1")
        assert t.inside() == {"w1"}
        await t.come("r4")
        await t.leave("w1")
        assert t.inside() == {"r2", "r3", "r4"}
        await t.come("r5")
        await t.leave("r2", "r3", "r4")
        assert t.inside() == {"w2"}


async def test_adjacent_readers_enter_together_in_the_order_of_arrival() -> None:
    async with tasks() as t:
        await t.come("w1", "r1", "r2", "w2", "r3")
        await t.leave("w1")
        assert t.inside() == {"r1", "r2"}


# ==== cancellation ====


@each_policy
async def test_a_cancelled_writer_lets_the_readers_behind_it_in(policy: str) -> None:
    async with tasks(policy) as t:
        await t.come("r1", "w1", "r2", "r3")
        await t.cancel("w1")
        assert t.inside() == {"r1", "r2", "r3"}


@pytest.mark.parametrize("policy", ["fifo", "phase", "writers"])
async def test_a_second_writer_keeps_readers_out_when_the_first_is_cancelled(policy: str) -> None:
    async with tasks(policy) as t:
        await t.come("r1", "w1", "w2", "r2")
        await t.cancel("w1")
        assert t.inside() == {"r1"}
        await t.cancel("w2")
        assert t.inside() == {"r1", "r2"}


async def test_a_cancelled_reader_between_writers_leaves_the_queue_alone() -> None:
    async with tasks("phase") as t:
        await t.come("w1", "r1", "w2", "r2")
        await t.cancel("r1")
        await t.leave("w1")
        assert t.inside() == {"r2"}


# ==== misuse ====


@each_policy
async def test_a_reader_cannot_become_a_writer(policy: str) -> None:
    lock = RWLock(policy=policy)  # type: ignore[arg-type]  # a plain str
    async with lock.reading():
        with pytest.raises(
            RuntimeError, match="two readers that upgrade would wait for each other"
        ):
            await lock.acquire_write()
        with pytest.raises(RuntimeError, match="upgrade"):
            lock.acquire_write_nowait()
    assert not lock.locked()


@each_policy
async def test_it_is_not_reentrant(policy: str) -> None:
    lock = RWLock(policy=policy)  # type: ignore[arg-type]  # a plain str
    async with lock.reading():
        with pytest.raises(RuntimeError, match="for reading that this task already holds for read"):
            await lock.acquire_read()
    async with lock.writing():
        with pytest.raises(RuntimeError, match="release\\(\\) first"):
            await lock.acquire_write()
        with pytest.raises(RuntimeError, match="downgrade\\(\\) to read on"):
            lock.acquire_read_nowait()


async def test_who_does_not_hold_it_cannot_release_or_downgrade() -> None:
    async with tasks() as t:
        await t.come("w1")
        with pytest.raises(RuntimeError, match="can't release an RWLock you don't hold"):
            t.lock.release()
        with pytest.raises(RuntimeError, match="can't downgrade an RWLock you don't hold"):
            t.lock.downgrade()
        assert t.inside() == {"w1"}


async def test_a_reader_cannot_downgrade() -> None:
    lock = RWLock()
    async with lock.reading():
        with pytest.raises(RuntimeError, match="don't hold for writing"):
            lock.downgrade()


def test_an_unknown_policy_is_refused() -> None:
    with pytest.raises(ValueError, match=r"policy must be 'fifo', 'phase'.*not 'random'"):
        RWLock(policy="random")  # type: ignore[arg-type]  # the mistake


# ==== downgrade ====

ENTER_BESIDE = {"fifo": {"r1"}, "phase": {"r1", "r2"}, "readers": {"r1", "r2"}, "writers": set()}


@each_policy
async def test_a_writer_that_becomes_a_reader_lets_in_whom_the_policy_says(policy: str) -> None:
    async with tasks(policy) as t:
        async with t.lock.writing():
            await t.come("r1", "w1", "r2")
            t.lock.downgrade()
            assert t.inside() - {trio.lowlevel.current_task().name} == ENTER_BESIDE[policy]
            assert t.lock.statistics().writer is None
            await t.leave(*ENTER_BESIDE[policy])
            assert "w1" not in t.inside()
        assert t.inside() <= {"w1", "r2"}


async def test_observers_hear_of_a_downgrade_as_a_release_and_a_grant() -> None:
    heard: list[str] = []

    def note(event: PrimitiveEvent) -> None:
        who = event.task.name if event.task is not me else "me"  # type: ignore[union-attr]  # in a run
        heard.append(f"{who} {event.kind} {event.claim.mode}")

    me = trio.lowlevel.current_task()
    async with tasks() as t:
        with observe(note):
            async with t.lock.writing():
                await t.come("r1")
                del heard[:]
                t.lock.downgrade()
                assert heard == ["me released write", "me granted read", "r1 granted read"]


# ==== the end of a holder, and of the lock ====


@pytest.mark.parametrize("mode", ["read", "write"])
async def test_a_holder_that_ends_breaks_the_lock_and_is_named(mode: str) -> None:
    async with tasks() as t:
        if mode == "read":
            await t.come("r1")
        await run_to_its_end(getattr(t.lock, f"acquire_{mode}_nowait"))
        assert "broken" in repr(t.lock)
        await t.come("r2", "w1")
        assert {*t.errors} == {"r2", "w1"}
        assert "forgetful" in str(t.errors["w1"])
        with pytest.raises(trio.BrokenResourceError, match=r"exited without releasing.*forgetful"):
            t.lock.acquire_read_nowait()
        if mode == "read":
            await t.leave("r1")  # who holds it still may release it
            assert "r1" not in t.errors


@pytest.mark.parametrize("mode", ["read", "write"])
async def test_waiters_hear_of_a_holder_that_ends(mode: str) -> None:
    async with tasks() as t:

        async def hold_and_forget() -> None:
            getattr(t.lock, f"acquire_{mode}_nowait")()
            await t.come("w1", "r1")

        async with trio.open_nursery() as nursery:
            nursery.start_soon(hold_and_forget, name="forgetful")
        await settle()
        assert [type(one) for one in t.errors.values()] == [trio.BrokenResourceError] * 2
        assert t.lock.statistics().tasks_waiting == 0


async def test_a_task_that_released_may_end_without_harm() -> None:
    lock = RWLock()

    async def use() -> None:
        async with lock.writing():
            lock.downgrade()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(use)
    assert "unlocked" in repr(lock)
    lock.acquire_write_nowait()


async def test_a_scope_finds_a_reader_that_does_not_release() -> None:
    with pytest.raises(PermitLeakError, match=r"1 not returned.*read by .*: <Task .* took 1"):
        async with open_scope() as scope:
            lock = scope.own(RWLock())
            async with lock.writing():
                lock.downgrade()
            lock.acquire_read_nowait()


# ==== what it says of itself ====


async def test_repr_and_statistics_name_readers_and_writer() -> None:
    async with tasks("phase") as t:
        assert "unlocked, 0 waiting, policy='phase'" in repr(t.lock)
        await t.come("r1", "r2", "w1", "r3")
        numbers = t.lock.statistics()
        assert [task.name for task in numbers.readers] == ["r1", "r2"]
        assert (numbers.tasks_waiting, numbers.writers_waiting, numbers.writer) == (2, 1, None)
        assert f"read by {numbers.readers[0]!r}, {numbers.readers[1]!r}" in repr(t.lock)
        await t.leave("r1", "r2")
        numbers = t.lock.statistics()
        assert f"written by {numbers.writer!r}" in repr(t.lock)


async def test_one_block_object_may_be_entered_by_several_tasks() -> None:
    lock = RWLock()
    reading = lock.reading()
    entered = 0

    async def read() -> None:
        nonlocal entered
        async with reading:
            entered += 1
            await settle()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(read)
        nursery.start_soon(read)
        await settle()
        assert entered == 2
    assert not lock.locked()


async def test_its_statistics_count_the_writers_among_those_who_wait() -> None:
    lock = RWLock()
    async with trio.open_nursery() as nursery:
        await lock.acquire_write()
        nursery.start_soon(lock.acquire_write)
        for _ in range(2):
            nursery.start_soon(lock.acquire_read)
        await trio.testing.wait_all_tasks_blocked()
        assert lock.statistics().tasks_waiting == 3
        assert lock.statistics().writers_waiting == 1
        nursery.cancel_scope.cancel()
    lock.release()


@pytest.mark.parametrize("block", [RWLock.reading, RWLock.writing])
def test_a_block_is_no_answer_to_whether_the_lock_is_held(
    block: Callable[[RWLock], object],
) -> None:
    lock = RWLock()
    with pytest.raises(TypeError, match=r"no answer: locked\(\) returns whether"):
        bool(block(lock))
    assert lock.locked() is False

"""What goes wrong in others' read-write locks and barriers: H4-H10, O2, C4, D3, D5, B1, B2."""

import pytest
import trio

from structsync import Barrier, RWLock

from .conftest import OneStep, Start

POLICIES = ["fifo", "phase", "readers", "writers"]
each_policy = pytest.mark.parametrize("policy", POLICIES)


def rwlock(policy: str) -> RWLock:
    return RWLock(policy=policy)  # type: ignore[arg-type]  # a plain str


@each_policy
async def test_readers_behind_a_cancelled_writer_enter(policy: str, start: Start) -> None:
    """H4, StephenCleary/AsyncEx#134; H7, sgl-project/sglang#39984; H9, aiorwlock: they slept on."""
    lock = rwlock(policy)
    await start(lock.acquire_read)
    writer = await start(lock.acquire_write)
    readers = [await start(lock.acquire_read) for _ in range(2)]
    writer.cancel()
    await trio.testing.wait_all_tasks_blocked()
    assert [reader.ended for reader in readers] == ["done", "done"]


async def test_a_writer_that_times_out_lets_readers_in(
    start: Start, autojump_clock: trio.testing.MockClock
) -> None:
    """H6, .NET Framework 4.7.1 note 216022: a deadline instead of a cancellation."""
    lock = RWLock()
    await start(lock.acquire_read)
    writer = await start(lock.acquire_write)
    reader = await start(lock.acquire_read)
    writer.scope.deadline = trio.current_time() + 1
    await trio.sleep(2)
    assert reader.ended == "done"


@pytest.mark.parametrize("policy", ["fifo", "phase", "writers"])
async def test_a_second_writer_in_queue_keeps_the_readers_out(policy: str, start: Start) -> None:
    """H5, microsoft/vs-threading#252: cancelling one of two writers lets no task in."""
    lock = rwlock(policy)
    await start(lock.acquire_read)
    writers = [await start(lock.acquire_write) for _ in range(2)]
    reader = await start(lock.acquire_read)
    writers[0].cancel()
    await trio.testing.wait_all_tasks_blocked()
    assert reader.ended == "waiting"
    writers[1].cancel()
    await trio.testing.wait_all_tasks_blocked()
    assert reader.ended == "done"


async def test_a_newcomer_does_not_overtake_after_the_head_is_cancelled(
    start: Start, one_step: OneStep
) -> None:
    """H8, tricycle.RWLock: the writer cancelled, a newcomer got in while the reader in the queue slept."""
    lock = RWLock()
    first = await start(lock.acquire_write)
    writer = await start(lock.acquire_write)
    reader = await start(lock.acquire_read)

    def newcomer() -> None:
        with pytest.raises(trio.WouldBlock):
            lock.acquire_read_nowait()

    await one_step(writer.cancel, newcomer)
    assert reader.ended == "waiting"
    await first.act(lock.release)
    assert reader.ended == "done"


@each_policy
async def test_a_cancelled_acquire_leaves_no_mark(policy: str, start: Start) -> None:
    """H10, rustfs/rustfs#2795: a counter of waiters that stayed kept all readers out."""
    lock = rwlock(policy)
    holder = await start(lock.acquire_write)
    for acquire in (lock.acquire_read, lock.acquire_write):
        (await start(acquire)).cancel()
    await trio.testing.wait_all_tasks_blocked()
    assert lock.statistics().tasks_waiting == 0
    await holder.act(lock.release)
    for acquire_nowait in (lock.acquire_read_nowait, lock.acquire_write_nowait):
        acquire_nowait()
        lock.release()


@pytest.mark.parametrize("mode", ["read", "write"])
async def test_a_holder_that_ends_does_not_leave_waiters_hanging(mode: str, start: Start) -> None:
    """C4, trio#3035: tricycle.RWLock still hangs."""
    lock = RWLock()
    holder = await start(getattr(lock, f"acquire_{mode}"))
    waiter = await start(lock.acquire_write)
    holder.end()
    await trio.testing.wait_all_tasks_blocked()
    assert waiter.ended == "BrokenResourceError"


async def test_a_recursive_read_behind_a_writer_is_refused(start: Start) -> None:
    """D3, tokio#2849: it deadlocked with the writer that waited for the first read."""
    lock = RWLock()
    await lock.acquire_read()
    writer = await start(lock.acquire_write)
    with pytest.raises(RuntimeError, match="not reentrant"):
        await lock.acquire_read()
    lock.release()
    await trio.testing.wait_all_tasks_blocked()
    assert writer.ended == "done"


async def test_two_upgraders_are_refused() -> None:
    """D5, dotnet/dotNext#275: two readers that upgraded waited for each other."""
    lock = RWLock()

    async def upgrade() -> None:
        async with lock.reading():
            await trio.testing.wait_all_tasks_blocked()
            with pytest.raises(RuntimeError, match="can't upgrade"):
                await lock.acquire_write()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(upgrade)
        nursery.start_soon(upgrade)


async def test_no_two_parties_have_one_number(start: Start) -> None:
    """B1, python/cpython#155233: A and B wait, A is cancelled, C and D come: B and C had number 1."""
    barrier = Barrier(3)
    numbers: dict[str, int] = {}

    async def party(name: str) -> None:
        numbers[name] = await barrier.wait()

    first = await start(party, "a")
    await start(party, "b")
    first.cancel()
    for name in "cd":
        await start(party, name)
    assert numbers == {"b": 0, "c": 1, "d": 2}


async def test_a_cancelled_party_does_not_count(start: Start) -> None:
    """B2, tokio#6494: the barrier tripped early, with the party that was cancelled."""
    barrier = Barrier(3)
    first, second = [await start(barrier.wait) for _ in range(2)]
    first.cancel()
    await trio.testing.wait_all_tasks_blocked()
    last = await start(barrier.wait)
    assert (second.ended, last.ended) == ("waiting", "waiting")

"""trio's own tests for Lock and Semaphore, as far as they apply, from the installed trio, over sessions of each engine.

They apply where all they do with a lock is to enter it and to leave it. Shared primitives have no ``acquire_nowait``,
because what it would answer is known in the log alone, and no ``release``, because that is awaited at the end of the
block; of the tests that need those, the names are here, and what they say of fairness is said below in other words.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from itertools import cycle
from types import TracebackType
from typing import Any, TypeAlias

import pytest
import trio
from trio._tests import test_sync as trios
from trio.testing import assert_checkpoints

from structsync.distributed import Session
from tests.distributed.conftest import Open
from tests.distributed.waiting import until_waiting

pytestmark = pytest.mark.timeout(60)

LockLike: TypeAlias = AbstractAsyncContextManager[object]

# They take any lock that has what they use of it; trio's types name its own.
exclusion: Any = trios.test_generic_lock_exclusion
fairness: Any = trios.test_generic_lock_fifo_fairness

LOCKS: dict[str, Callable[[Session], Any]] = {
    "lock": lambda session: session.lock("trio/lock"),
    "semaphore": lambda session: session.semaphore("trio/semaphore", 1),
    "writing": lambda session: Anew(lambda: session.rwlock("trio/page").writing()),
    "all of it": lambda session: Anew(lambda: session.semaphore("trio/all", 3).permits(3)),
}

NEED_NOWAIT = {
    "test_Semaphore",
    "test_Semaphore_bounded",
    "test_Lock_and_StrictFIFOLock",
    "test_generic_lock_acquire_nowait_blocks_acquire",
    "test_lock_acquire_unowned_lock",
    "test_lock_multiple_acquire",
    "test_lock_handover",
}
APPLY = {"test_generic_lock_exclusion", "test_generic_lock_fifo_fairness"}


class Anew:
    """Makes a block whenever a task enters, because one is entered once; or takes the lock of another session each time."""

    def __init__(self, make: Callable[[], LockLike]) -> None:
        self.make = make
        self.blocks: dict[object, LockLike] = {}

    async def __aenter__(self) -> object:
        task = trio.lowlevel.current_task()
        block = self.blocks[task] = self.make()
        return await block.__aenter__()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool | None:
        block = self.blocks.pop(trio.lowlevel.current_task())
        return await block.__aexit__(kind, error, traceback)


def trios_names() -> set[str]:
    return {
        name
        for name in vars(trios)
        if name.startswith("test_") and ("lock" in name.lower() or "Semaphore" in name)
    }


def test_every_test_of_trio_for_locks_and_semaphores_applies_or_is_named() -> None:
    newer = {"test_lock_acquire_unowned_lock", "test_lock_multiple_acquire", "test_lock_handover"}
    assert APPLY | NEED_NOWAIT >= trios_names() >= (APPLY | NEED_NOWAIT) - newer


@pytest.mark.parametrize("kind", LOCKS)
async def test_exclusion_as_trio_tests_it(opens: Open, kind: str) -> None:
    async with opens() as here, opens() as there:
        locks = cycle([LOCKS[kind](here), LOCKS[kind](there)])
        await exclusion(lambda: Anew(lambda: next(locks)))


@pytest.mark.parametrize("kind", LOCKS)
async def test_fairness_as_trio_tests_it(opens: Open, kind: str) -> None:
    async with opens() as session:
        await fairness(lambda: LOCKS[kind](session))


@pytest.mark.parametrize("kind", LOCKS)
async def test_a_block_has_a_checkpoint_as_trio_tests_it(opens: Open, kind: str) -> None:
    async with opens() as session:
        for _ in range(3):
            with assert_checkpoints():
                async with LOCKS[kind](session):
                    pass


async def test_a_release_hands_over_and_who_comes_then_waits(opens: Open) -> None:
    async with opens() as here, opens() as there:
        ours, theirs = [one.semaphore("trio/semaphore", 1) for one in (here, there)]
        record: list[str] = []

        async def take() -> None:
            record.append("started")
            async with theirs:
                record.append("finished")
                await leave.wait()

        leave = trio.Event()
        async with trio.open_nursery() as nursery:
            async with ours:
                nursery.start_soon(take)
                await until_waiting(ours, 1)
                assert record == ["started"]
                assert (await ours.statistics()).value == 0
            assert (
                await ours.statistics()
            ).value == 0  # the one that waited has it, whether it has run or not
            with trio.move_on_after(0.05) as scope:
                async with ours:
                    raise AssertionError("it was overtaken")
            assert scope.cancelled_caught
            leave.set()
        assert record == ["started", "finished"]


async def test_a_lock_is_its_owners(opens: Open) -> None:
    async with opens() as here, opens() as there:
        lock = here.lock("trio/lock")

        async def hold(session: Session) -> None:
            async with session.lock("trio/lock"):
                await trio.sleep_forever()

        async with lock:
            with pytest.raises(RuntimeError, match="not reentrant"):
                async with here.lock("trio/lock"):
                    pass
            statistics = await lock.statistics()
            assert (statistics.holders, statistics.tasks_waiting) == (1, 0)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(hold, there)
                await until_waiting(lock, 1)
                nursery.cancel_scope.cancel()
        statistics = await there.lock("trio/lock").statistics()
        assert (statistics.holders, statistics.tasks_waiting) == (0, 0)


async def test_a_permit_too_many_is_noticed_by_trios_test(opens: Open) -> None:
    async with opens() as session:
        semaphore = session.semaphore("trio/semaphore", 2)
        with pytest.raises(ExceptionGroup) as found:
            await exclusion(lambda: semaphore)
        assert found.group_contains(AssertionError)

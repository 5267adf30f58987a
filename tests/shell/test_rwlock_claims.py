"""A read-write lock among several resources."""

from __future__ import annotations

from typing import Any

import pytest
import trio
from trio.lowlevel import checkpoint
from trio.testing import wait_all_tasks_blocked

from structsync import Lock, RWLock, acquire_all, acquire_any


async def test_readers_share_it_and_a_writer_is_alone() -> None:
    lock, rwlock = Lock(), RWLock()
    order: list[str] = []

    async def use(name: str, block: Any) -> None:
        async with block:
            order.append(name)
            await checkpoint()
            order.append(name)

    async with trio.open_nursery() as nursery, rwlock.reading():
        nursery.start_soon(use, "writer", acquire_all(lock.claim(), rwlock.write_claim()))
        await wait_all_tasks_blocked()
        assert not lock.locked()
        nursery.start_soon(use, "reader", acquire_all(rwlock.read_claim(), lock.claim()))
        await wait_all_tasks_blocked()
        assert order == []  # the reader stands behind the writer
    assert order == ["writer", "writer", "reader", "reader"]
    assert not rwlock.locked()
    assert not lock.locked()


async def test_cancelling_a_group_that_would_write_lets_the_readers_behind_it_in() -> None:
    lock, rwlock = Lock(), RWLock()

    async def write(scope: trio.CancelScope) -> None:
        with scope:
            async with acquire_all(rwlock.write_claim(), lock.claim()):
                raise AssertionError

    read = trio.Event()

    async def reads() -> None:
        async with rwlock.reading():
            read.set()

    async with trio.open_nursery() as nursery:
        async with rwlock.reading():
            scope = trio.CancelScope()
            nursery.start_soon(write, scope)
            await wait_all_tasks_blocked()
            nursery.start_soon(reads)
            await wait_all_tasks_blocked()
            assert not read.is_set()
            scope.cancel()
            await read.wait()


async def test_a_body_may_downgrade_and_leaves_as_a_reader() -> None:
    rwlock = RWLock()
    async with acquire_all(rwlock.write_claim()):
        rwlock.downgrade()
    assert not rwlock.locked()


@pytest.mark.parametrize("block", ["reading", "writing"])
async def test_a_body_that_released_the_lock_itself_is_told_at_the_end_of_its_block(
    block: str,
) -> None:
    rwlock = RWLock()
    with pytest.raises(RuntimeError):
        async with getattr(rwlock, block)():
            rwlock.release()
    assert not rwlock.locked()


async def test_a_body_that_released_a_claim_of_its_group_is_told_at_the_end() -> None:
    rwlock = RWLock()
    with pytest.raises(RuntimeError):
        async with acquire_all(rwlock.write_claim()):
            rwlock.release()
    assert not rwlock.locked()


async def test_reading_and_writing_at_once_is_refused_and_nothing_is_taken() -> None:
    rwlock, lock = RWLock(), Lock()
    with pytest.raises(RuntimeError):
        async with acquire_all(lock.claim(), rwlock.read_claim(), rwlock.write_claim()):
            raise AssertionError
    assert not rwlock.locked()
    assert not lock.locked()


async def test_whichever_can_be_read_first_is_read() -> None:
    near, far = RWLock(), RWLock()

    async def writes() -> None:
        async with near.writing():
            await trio.sleep_forever()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(writes)
        await wait_all_tasks_blocked()
        async with acquire_any(near.read_claim(), far.read_claim()) as claim:
            assert claim.primitive is far
            assert far.locked()
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize("policy", ["phase", "readers", "writers"])
def test_a_policy_by_which_others_pass_is_refused(policy: Any) -> None:
    with pytest.raises(ValueError, match="policy 'fifo'"):
        acquire_all(RWLock(policy=policy).read_claim())


async def test_a_lock_that_broke_in_the_body_adds_no_second_error() -> None:
    rwlock = RWLock()

    async def dies() -> None:
        await rwlock.acquire_read()

    async with acquire_all(rwlock.read_claim()):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(dies)
    assert "broken" in repr(rwlock)


async def test_what_the_body_released_of_a_closed_lock_is_no_error_at_its_end() -> None:
    rwlock = RWLock()
    async with acquire_all(rwlock.read_claim()):
        rwlock.release()
        rwlock.close()
    assert not rwlock.locked()

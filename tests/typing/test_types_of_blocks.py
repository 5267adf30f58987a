"""Every primitive and every block is an async context manager: for mypy, for pyright, and when it runs."""

# pyright: reportUnnecessaryTypeIgnoreComment=error

from __future__ import annotations

from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import Any, assert_type

import trio

import structsync
from structsync import Claim, Scope, Semaphore, Synchronizer


class CountCore(structsync.Arbiter[int]):
    count: int

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def admits(self, claim: int) -> bool:
        return True

    def admit(self, claim: int) -> None:
        self.count += claim

    def discharge(self, claim: int) -> None:
        self.count -= claim


class Count(structsync.Primitive[int]):
    def __init__(self) -> None:
        super().__init__(CountCore())

    def counted(self) -> AbstractAsyncContextManager[None]:
        return self._held(1)


async def test_a_stack_enters_every_primitive_and_every_block() -> None:
    semaphore, lock, limiter = (
        structsync.Semaphore(9, max_value=9),
        structsync.Lock(),
        structsync.CapacityLimiter(9),
    )
    rwlock, other, condition = structsync.RWLock(), structsync.RWLock(), structsync.Condition()
    claims = structsync.Semaphore(1), structsync.Semaphore(1)
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(semaphore)
        await stack.enter_async_context(semaphore.permits(2))
        await stack.enter_async_context(lock)
        await stack.enter_async_context(condition)
        await stack.enter_async_context(limiter)
        await stack.enter_async_context(rwlock.reading())
        await stack.enter_async_context(other.writing())
        await stack.enter_async_context(Count().counted())
        every = structsync.acquire_all(claims[0].claim())
        await stack.enter_async_context(every)
        either = structsync.acquire_any(claims[1].claim())
        claim = assert_type(await stack.enter_async_context(either), Claim[Semaphore])
        assert claim.primitive is claims[1]
        rules = assert_type(await stack.enter_async_context(Synchronizer()), Synchronizer)
        scope = assert_type(await stack.enter_async_context(structsync.open_scope()), Scope)
        scope.own(structsync.Latch(1))
        assert_type(scope.nursery, trio.Nursery).start_soon(trio.lowlevel.checkpoint)
        assert (semaphore.value, lock.locked(), other.locked()) == (6, True, True)
        assert (condition.locked(), limiter.borrowed_tokens, rwlock.locked()) == (True, 1, True)
        assert "entered" not in repr(rules)
    assert (semaphore.value, lock.locked(), other.locked()) == (9, False, False)


def test_a_block_is_passed_on_as_a_context_manager() -> None:
    lock: AbstractAsyncContextManager[Any] = structsync.Lock()
    permits: AbstractAsyncContextManager[None] = structsync.Semaphore(1).permits()
    either: AbstractAsyncContextManager[Claim[structsync.Lock]] = structsync.acquire_any(
        structsync.Lock().claim(), structsync.Lock().claim()
    )
    assert all(isinstance(one, AbstractAsyncContextManager) for one in (lock, permits, either))


# Each line must be refused by both: an ignore that is not needed is an error, too.
async def refused(stack: AsyncExitStack, lock: structsync.RWLock) -> None:
    await stack.enter_async_context(lock)  # type: ignore[arg-type]  # to read or to write?
    await stack.enter_async_context(structsync.Latch(1))  # type: ignore[arg-type]  # no block
    lock.write_locked()  # type: ignore[attr-defined]  # writing(), or locked()
    with structsync.Lock():  # type: ignore[attr-defined]  # async with
        pass

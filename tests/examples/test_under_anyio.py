"""What the page "From anyio" says of anyio, and of structsync under anyio's trio backend, is so."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from importlib import metadata
from typing import Any

import pytest
import trio

import structsync
from structsync.checking import Verdict
from structsync.testing import ExploredRun, explore

anyio = pytest.importorskip("anyio")

Main = Callable[[], Awaitable[object]]


def run(main: Main, backend: str = "trio") -> None:
    async def bounded() -> None:
        with anyio.fail_after(20):
            await main()

    anyio.run(bounded, backend=backend)


# ==== structsync under anyio ====


class Door(structsync.Monitor):
    is_open = False

    @structsync.entry
    def open(self) -> None:
        self.is_open = True

    @structsync.entry
    async def enter(self) -> str:
        await anyio.sleep(0)
        return "inside"

    @enter.when
    def enter_when(self) -> bool:
        return self.is_open


def test_locks_and_semaphores_exclude_the_tasks_of_a_task_group() -> None:
    async def main() -> None:
        lock, rwlock, keys = structsync.Lock(), structsync.RWLock(), structsync.LockMap[str]()
        semaphore, limiter = structsync.Semaphore(1), structsync.CapacityLimiter(1)
        inside = 0

        async def work() -> None:
            nonlocal inside
            for block in (lock, semaphore, limiter, rwlock.writing(), keys["a"]):
                async with block:
                    inside += 1
                    assert inside == 1
                    await anyio.sleep(0)
                    assert inside == 1
                    inside -= 1

        async with anyio.create_task_group() as group:
            for _ in range(3):
                group.start_soon(work)
                await anyio.wait_all_tasks_blocked()

    async def one_after_the_other() -> None:
        for _ in range(2):
            await main()

    run(one_after_the_other)


def test_what_waits_for_others_is_woken_in_a_task_group() -> None:
    async def main() -> None:
        barrier, latch, buffer = (
            structsync.Barrier(2),
            structsync.Latch(1),
            structsync.Buffer[int](1),
        )
        value, condition, door = structsync.Value(0), structsync.Condition(), Door()
        done: list[object] = []

        async def wait() -> None:
            await barrier.wait()
            await latch.wait()
            done.append(await buffer.get())
            done.append(await value.wait_for(lambda number: number == 2))
            done.append(await door.enter())
            async with condition:
                done.append(await condition.wait_for(lambda: len(done) == 4 and "notified"))

        async with anyio.create_task_group() as group:
            group.start_soon(wait)
            await barrier.wait()
            latch.count_down()
            await buffer.put(1)
            await anyio.wait_all_tasks_blocked()
            value.value = 2
            await door.open()
            await anyio.wait_all_tasks_blocked()
            done.append("here")
            async with condition:
                condition.notify_all()
        assert done == [1, 2, "inside", "here", "notified"]

    run(main)


def test_a_timeout_of_anyio_ends_a_wait_and_its_shield_protects_one() -> None:
    async def main() -> None:
        semaphore = structsync.Semaphore(0)
        with anyio.move_on_after(0.01) as scope:
            await semaphore.acquire()
        assert scope.cancelled_caught
        assert semaphore.statistics().tasks_waiting == 0
        with pytest.raises(TimeoutError):
            with anyio.fail_after(0.01):
                await semaphore.acquire()
        semaphore.release()
        with anyio.CancelScope() as outer:
            outer.cancel()
            with anyio.CancelScope(shield=True):
                await semaphore.acquire()
        assert semaphore.value == 0

    run(main)


def test_scopes_and_pools_stand_inside_a_task_group_and_round_one() -> None:
    async def double(number: int) -> int:
        await anyio.sleep(0)
        return 2 * number

    async def nested() -> None:
        async with structsync.open_scope() as scope, structsync.open_pool(2) as pool:
            lock = scope.own(structsync.Lock())
            async with anyio.create_task_group() as group:
                group.start_soon(lock.acquire)
                assert [one async for one in pool.map(double, [1, 2])] == [2, 4]

    async def main() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(nested)

    with pytest.RaisesGroup(
        structsync.PermitLeakError, flatten_subgroups=True, allow_unwrapped=True
    ):
        run(main)


def test_a_limiter_bounds_the_threads_of_anyio() -> None:
    async def main() -> None:
        limiter = structsync.CapacityLimiter(1)

        def look() -> float:
            return limiter.borrowed_tokens

        assert await anyio.to_thread.run_sync(look, limiter=limiter) == 1
        assert limiter.borrowed_tokens == 0

    run(main)


def test_a_thread_of_anyio_takes_a_permit() -> None:
    async def main() -> None:
        semaphore = structsync.Semaphore(1)

        def take() -> None:
            anyio.from_thread.run(semaphore.acquire)

        await anyio.to_thread.run_sync(take)
        assert semaphore.value == 0

    run(main)


def test_a_program_with_task_groups_is_explored() -> None:
    async def program(x: ExploredRun) -> None:
        lock = structsync.Lock()

        async def work() -> None:
            async with lock:
                with x.exclusive("the lock"):
                    await anyio.lowlevel.checkpoint()

        async with anyio.create_task_group() as group:
            group.start_soon(work)
            group.start_soon(work)

    found = explore(program)
    assert found.verdict is Verdict.CONFIRMED, found.unfinished


def test_without_trio_the_first_await_is_an_error_and_takes_nothing() -> None:
    lock = structsync.Lock()

    async def main() -> None:
        with pytest.raises(RuntimeError, match="async context"):
            await lock.acquire()

    run(main, backend="asyncio")
    assert not lock.locked()


# ==== anyio ====


@pytest.mark.parametrize(
    ("name", "ours"),
    [
        ("WouldBlock", trio.WouldBlock),
        ("ClosedResourceError", trio.ClosedResourceError),
        ("BrokenResourceError", trio.BrokenResourceError),
        ("BusyResourceError", trio.BusyResourceError),
        ("EndOfStream", trio.EndOfChannel),
    ],
)
def test_an_error_of_anyio_does_not_catch_ours(name: str, ours: type[Exception]) -> None:
    assert not issubclass(ours, getattr(anyio, name))


def test_what_anyio_calls_cancelled_is_trios() -> None:
    async def main() -> None:
        assert anyio.get_cancelled_exc_class() is trio.Cancelled

    run(main)


@pytest.mark.parametrize(
    ("lock", "lets_others_run"),
    [
        (lambda: anyio.Lock(fast_acquire=True), False),
        (lambda: structsync.Lock(checkpoint="budget"), True),
    ],
    ids=["anyio", "structsync"],
)
def test_a_fast_lock_of_anyio_keeps_all_others_waiting(
    lock: Callable[[], Any], lets_others_run: bool
) -> None:
    async def main() -> None:
        has_run = False

        async def other() -> None:
            nonlocal has_run
            has_run = True

        async with anyio.create_task_group() as group:
            fast = lock()
            group.start_soon(other)
            for _ in range(1000):
                async with fast:
                    pass
            assert has_run is lets_others_run

    run(main)


@pytest.mark.skipif(metadata.version("anyio") != "4.16.0", reason="the page names this release")
@pytest.mark.parametrize(("backend", "granted"), [("trio", 2), ("asyncio", 1)])
def test_two_waiters_for_one_borrower_share_a_token_or_one_never_wakes(
    backend: str, granted: int
) -> None:
    woken: list[int] = []

    async def main() -> None:
        limiter = anyio.CapacityLimiter(1)

        async def wait() -> None:
            await limiter.acquire_on_behalf_of("job")
            woken.append(1)

        limiter.acquire_on_behalf_of_nowait("another")
        async with anyio.create_task_group() as group:
            for _ in range(2):
                group.start_soon(wait)
                await anyio.wait_all_tasks_blocked()
            limiter.total_tokens = 3
            await anyio.wait_all_tasks_blocked()
            assert limiter.borrowed_tokens == 2
            group.cancel_scope.cancel()

    run(main, backend)
    assert len(woken) == granted


def test_a_stream_of_anyio_has_room_for_nothing() -> None:
    async def main() -> None:
        sender, receiver = anyio.create_memory_object_stream(0)
        with sender, receiver, pytest.raises(anyio.WouldBlock):
            sender.send_nowait(1)

    run(main)

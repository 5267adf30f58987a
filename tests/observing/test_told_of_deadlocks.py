"""What is done about a deadlock: an error, a warning or a call; and in which thread."""

from __future__ import annotations

import gc
import threading
import warnings
from typing import Any

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

import structsync
from structsync import DeadlockError, DeadlockWarning, deadlock_guard
from structsync._runtime import watching
from structsync.observing import deadlock, needs

from .crossing import use


async def test_a_watcher_that_fails_is_logged_and_removed(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(task: object) -> float:
        monkeypatch.undo()
        raise ZeroDivisionError

    lock = structsync.Lock()
    with deadlock_guard():
        async with trio.open_nursery() as nursery:
            async with lock:
                monkeypatch.setattr(deadlock, "deadline_of", fail)
                nursery.start_soon(use, lock)
                await wait_all_tasks_blocked()
                assert not watching.watchers
    assert "failed and was removed" in caplog.text
    watching._log.removeHandler(caplog.handler)


async def test_a_watcher_may_be_gone_when_it_fails(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def leave(task: object, lives: object) -> None:
        watching.watchers.clear()
        raise ZeroDivisionError

    with deadlock_guard():
        monkeypatch.setattr(watching.watchers[0], "enters", leave)
        async with structsync.Semaphore(1, max_value=1):
            assert not watching.watchers
    assert "failed and was removed" in caplog.text


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
def test_what_is_to_be_done_must_be_known_before_the_block_begins(wrong: Any) -> None:
    with pytest.raises(TypeError, match="on_deadlock"):
        deadlock_guard(wrong)


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


async def cycle_of(tasks: int) -> list[DeadlockError]:
    """Let so many tasks hold a lock each, and then wait for that of the next, the last one for the first's."""
    locks = [structsync.Lock() for _ in range(tasks)]
    told: list[DeadlockError] = []

    async def worker(number: int) -> None:
        try:
            async with locks[number]:
                await turns[number].wait()
                await use(locks[(number + 1) % tasks])
        except DeadlockError as error:
            told.append(error)

    turns = [trio.Event() for _ in range(tasks)]
    with deadlock_guard():
        async with trio.open_nursery() as nursery:
            for number in range(tasks):
                nursery.start_soon(worker, number)
            await wait_all_tasks_blocked()
            for turn in turns:
                turn.set()
                await wait_all_tasks_blocked()
            nursery.cancel_scope.cancel()
    return told


async def test_a_cycle_over_many_tasks_is_found() -> None:
    (error,) = await cycle_of(1_200)
    assert len(error.tasks) == 1_200


async def test_a_look_takes_no_more_steps_than_there_are_for_the_waits_that_have_begun(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(deadlock, "STEPS", 0)
    # Each takes one step as it parks, and leaves the others to the last one. That looks at all twenty, in two
    # steps each: a task, and the holder of the lock that it waits for.
    monkeypatch.setattr(deadlock, "STEPS_FOR_EACH", 5)
    assert len(await cycle_of(20)) == 1
    monkeypatch.setattr(deadlock, "STEPS_FOR_EACH", 2)
    assert await cycle_of(20) == []


async def test_a_look_ends_where_a_task_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of those who hold a permit one sleeps: what the others wait for is not asked."""
    semaphore = structsync.Semaphore(20, max_value=20)
    lock = structsync.Lock()
    asked: list[object] = []
    follow = needs.alternatives_of

    def alternatives_of(request: Any, view: Any) -> Any:
        asked.append(request)
        return follow(request, view)

    monkeypatch.setattr(deadlock, "alternatives_of", alternatives_of)

    async def holds_one() -> None:
        async with semaphore, lock:
            pass

    async def sleeps() -> None:
        async with semaphore:
            await wait_all_tasks_blocked(0.01)

    async def wants_more() -> None:
        async with lock, semaphore:
            pass

    with deadlock_guard():
        async with trio.open_nursery() as nursery:
            for one in (sleeps, wants_more, *[holds_one] * 19):
                nursery.start_soon(one)
    assert len(asked) < 60

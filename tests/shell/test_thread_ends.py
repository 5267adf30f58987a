"""Threads whose wait is interrupted: by who started them, by the end of the run, by Ctrl-C."""

from __future__ import annotations

import signal
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio
from trio.lowlevel import current_trio_token

import structsync
from structsync import threads
from structsync._runtime.thread_blocks import Leave
from tests.thread_runs import Foreign, run_elsewhere, until_waiting


async def test_a_wait_ends_with_the_cancellation_of_who_started_the_thread() -> None:
    lock = structsync.Lock()
    raised: list[BaseException] = []

    def hold() -> None:
        try:
            with threads.hold(lock):
                raise AssertionError("it is held")
        except trio.Cancelled as cancelled:
            raised.append(cancelled)
            raise

    async with lock:
        with trio.move_on_after(0.01) as scope:
            await trio.to_thread.run_sync(hold)
        assert lock.statistics().tasks_waiting == 0
    assert scope.cancelled_caught
    assert len(raised) == 1


async def test_a_call_ends_with_the_cancellation_of_who_started_the_thread() -> None:
    async def save() -> str:
        is_called.set()
        try:
            await trio.sleep_forever()
        except trio.Cancelled:
            return "saved"

    def calls() -> None:
        saved.append(threads.call(save))
        threads.call(trio.sleep_forever)
        raise AssertionError("it is over")

    async def cancel() -> None:
        await is_called.wait()
        scope.cancel()

    saved: list[str] = []
    is_called, scope = trio.Event(), trio.CancelScope()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(cancel)
        with scope:
            await trio.to_thread.run_sync(calls)
    assert scope.cancelled_caught
    assert saved == ["saved"]


async def test_a_thread_whose_starter_is_cancelled_already_begins_nothing_and_leaves_all() -> None:
    lock, other = structsync.Lock(), structsync.Lock()
    told: list[Any] = []

    @asynccontextmanager
    async def slow_to_leave() -> AsyncIterator[None]:
        yield
        told.append("leaving")
        await trio.sleep_forever()

    def hold() -> None:
        with threads.hold(lock):
            with threads.hold(slow_to_leave()):
                trio.from_thread.run_sync(scope.cancel)
                with pytest.raises(trio.Cancelled), threads.hold(other):
                    told.append("held")

    with trio.CancelScope() as scope:
        await trio.to_thread.run_sync(hold)
    assert scope.cancelled_caught
    assert told == ["leaving"]
    assert not lock.locked()
    assert not other.locked()


async def test_an_abandoned_thread_keeps_what_it_holds() -> None:
    lock = structsync.Lock()
    inside, go_on, ended = threading.Event(), threading.Event(), threading.Event()

    def hold() -> None:
        with threads.hold(lock):
            inside.set()
            go_on.wait()
        ended.set()

    with trio.CancelScope() as scope:
        async with trio.open_nursery() as nursery:

            async def start() -> None:
                await trio.to_thread.run_sync(hold, abandon_on_cancel=True)

            nursery.start_soon(start)
            await trio.to_thread.run_sync(inside.wait)
            scope.cancel()
    assert lock.locked()
    go_on.set()
    await trio.to_thread.run_sync(ended.wait)
    assert not lock.locked()


def test_a_thread_that_waits_is_told_that_the_run_ends() -> None:
    async def main() -> None:
        token = current_trio_token()
        waiting.extend(
            Foreign(fn)
            for fn in (
                lambda: threads.hold(empty, token=token).__enter__(),
                lambda: threads.call(trio.sleep_forever, token=token),
                lambda: hold_and_call(token),
            )
        )
        await until_waiting(empty)
        await trio.to_thread.run_sync(inside.wait)

    def hold_and_call(token: trio.lowlevel.TrioToken) -> None:
        with threads.hold(other, token=token):
            inside.set()
            threads.call(trio.sleep_forever, token=token)

    waiting: list[Foreign] = []
    inside = threading.Event()
    empty, other = structsync.Semaphore(0), structsync.Lock()
    trio.run(main)
    for one in waiting:
        with pytest.raises(trio.RunFinishedError):
            one.result()
    assert not other.locked()
    assert not other.broken


def test_what_a_thread_holds_at_the_end_of_the_run_is_given_back_and_it_is_told() -> None:
    async def main() -> None:
        token = current_trio_token()
        holding.append(Foreign(lambda: hold(token)))
        await trio.to_thread.run_sync(inside.wait)

    def hold(token: trio.lowlevel.TrioToken) -> None:
        with threads.hold(outer, token=token):
            with pytest.raises(trio.RunFinishedError, match="was released"):
                with threads.hold(lock, token=token):
                    inside.set()
                    ended.wait()
            with pytest.raises(trio.RunFinishedError):
                threads.call(trio.sleep, 0, token=token)
            raise KeyError("the body's own error is not hidden")

    holding: list[Foreign] = []
    inside, ended = threading.Event(), threading.Event()
    lock, outer = structsync.Lock(), structsync.Semaphore(1)
    trio.run(main)
    assert not lock.locked()
    assert not lock.broken
    assert outer.value == 1
    ended.set()
    with pytest.raises(KeyError, match="own error"):
        holding[0].result()


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("closed", [True, False])
def test_a_thread_that_asks_while_the_run_ends_is_told(known: bool, closed: bool) -> None:
    async def last() -> None:
        try:
            await trio.sleep_forever()
        finally:
            await ask()

    async def finalized() -> AsyncIterator[None]:
        try:
            yield
        finally:
            await ask()

    async def ask() -> None:
        token = current_trio_token()
        with trio.CancelScope(shield=True):
            asked.append(Foreign(lambda: threads.call(trio.sleep_forever, token=token)))
            await trio.sleep(0.05)

    async def main() -> None:
        if known:  # that threads use this run
            await trio.to_thread.run_sync(threads.call, trio.sleep, 0)
        if closed:  # the nursery of the run's own tasks
            await anext(generator)
        else:
            trio.lowlevel.spawn_system_task(last)
            await trio.lowlevel.checkpoint()

    asked: list[Foreign] = []
    generator = finalized()
    trio.run(main)
    with pytest.raises(trio.RunFinishedError):
        asked[0].result()


def test_an_abandoned_thread_that_asks_while_the_run_ends_or_later_is_told() -> None:
    def ask() -> None:
        for event in (ending, ended):
            event.wait()
            try:
                threads.call(trio.sleep_forever)
            except trio.RunFinishedError as error:
                told.append(error)
            answered.set()

    async def last() -> None:
        try:
            await trio.sleep_forever()
        finally:
            ending.set()
            with trio.CancelScope(shield=True):
                await trio.sleep(0.05)

    async def main() -> None:
        await trio.to_thread.run_sync(threads.call, trio.sleep, 0)
        trio.lowlevel.spawn_system_task(last)
        with trio.move_on_after(0.01):
            await trio.to_thread.run_sync(ask, abandon_on_cancel=True)

    told: list[BaseException] = []
    ending, ended, answered = (threading.Event() for _ in range(3))
    trio.run(main)
    answered.wait(20)
    answered.clear()
    ended.set()
    answered.wait(20)
    assert len(told) == 2


@pytest.fixture
def heard() -> Iterator[threading.Event]:
    """Set when the main thread has heard Ctrl-C."""
    event = threading.Event()

    def hear(number: int, frame: object) -> None:
        event.set()
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, hear)
    yield event
    signal.signal(signal.SIGINT, before)


def interrupt_main(heard: threading.Event) -> None:
    """Press Ctrl-C, and do nothing else in this thread until the main thread has reacted."""
    thread = threading.main_thread().ident
    assert thread is not None
    signal.pthread_kill(thread, signal.SIGINT)
    assert heard.wait(20)
    threading.Event().wait(0.05)


def test_ctrl_c_in_a_main_thread_that_waits_withdraws_its_request(heard: threading.Event) -> None:
    async def interrupt_when_it_waits(lock: structsync.Lock) -> None:
        async with lock:
            await until_waiting(lock)
            interrupt_main(heard)
            await trio.sleep_forever()

    with run_elsewhere(interrupt_when_it_waits) as (token, lock):
        threads.call(trio.testing.wait_all_tasks_blocked, token=token)
        with pytest.raises(KeyboardInterrupt), threads.hold(lock, token=token):
            raise AssertionError("it is held")
        assert lock.statistics().tasks_waiting == 0


def test_ctrl_c_that_comes_after_the_grant_gives_back(heard: threading.Event) -> None:
    async def interrupt_and_grant(lock: structsync.Lock) -> None:
        async with lock:
            await until_waiting(lock)
            interrupt_main(heard)  # but this run hears of it after the grant
        await trio.sleep_forever()

    with run_elsewhere(interrupt_and_grant) as (token, lock):
        threads.call(trio.testing.wait_all_tasks_blocked, token=token)
        with pytest.raises(KeyboardInterrupt), threads.hold(lock, token=token):
            raise AssertionError("the body ran")
        threads.call(trio.testing.wait_all_tasks_blocked, token=token)
        assert not lock.locked()


def test_ctrl_c_after_the_end_of_a_call_says_what_is_dropped(heard: threading.Event) -> None:
    async def ends() -> str:
        try:
            interrupt_main(heard)
            await trio.sleep_forever()
        except trio.Cancelled:
            return "item"

    with run_elsewhere() as (token, _):
        with pytest.raises(KeyboardInterrupt) as raised:
            threads.call(ends, token=token)
        assert any("'item'" in note for note in raised.value.__notes__)


def test_ctrl_c_before_anything_has_begun_begins_nothing(heard: threading.Event) -> None:
    begun: list[str] = []

    async def begin() -> None:
        begun.append("begun")

    def keep_the_run_busy() -> None:
        busy.set()
        threading.Event().wait(0.02)
        interrupt_main(heard)

    busy = threading.Event()
    with run_elsewhere() as (token, _):
        token.run_sync_soon(keep_the_run_busy)
        busy.wait()
        with pytest.raises(KeyboardInterrupt):
            threads.call(begin, token=token)
        threads.call(trio.testing.wait_all_tasks_blocked, token=token)
    assert not begun


def test_ctrl_c_while_a_block_is_left_does_not_keep_it(heard: threading.Event) -> None:
    told: list[str] = []

    @asynccontextmanager
    async def slow_to_leave() -> AsyncIterator[None]:
        yield
        interrupt_main(heard)
        try:
            await trio.sleep_forever()
        finally:
            told.append("left")

    with run_elsewhere() as (token, _):
        with pytest.raises(KeyboardInterrupt), threads.hold(slow_to_leave(), token=token):
            pass
        assert told == ["left"]


def test_ctrl_c_before_leaving_was_even_asked_for_does_not_keep_the_block() -> None:
    with run_elsewhere() as (token, lock):
        block = threads.hold(lock, token=token)
        block.__enter__()
        leave = Leave(block._block, None)
        token.run_sync_soon(leave._interrupt_from_thread)
        leave._reply_at_last().unwrap()
        assert not lock.locked()


def test_ctrl_c_in_the_thread_of_the_run_ends_the_threads_wait() -> None:
    async def main() -> None:
        async with lock, trio.open_nursery() as nursery:
            nursery.start_soon(trio.to_thread.run_sync, hold)
            await until_waiting(lock)
            signal.raise_signal(signal.SIGINT)
            await trio.sleep_forever()

    def hold() -> None:
        try:
            with threads.hold(lock):
                raise AssertionError("it is held")
        except trio.Cancelled:
            ended.append(True)
            raise

    ended: list[bool] = []
    lock = structsync.Lock()
    with pytest.RaisesGroup(KeyboardInterrupt, allow_unwrapped=True):
        trio.run(main)
    assert ended == [True]
    assert not lock.locked()

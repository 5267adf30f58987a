"""Condition: every schedule of a few tasks, and any of them cancelled anywhere.

A wait that is cancelled owns the lock again when it raises, so a cancellation is never the end of
what a task does here; and a notification that was meant for it must reach another task.
"""

from __future__ import annotations

from functools import partial

import trio
from trio.lowlevel import checkpoint, current_task

from structsync import Condition, Lock
from structsync.testing import ExploredRun

from .sweeping import forgive, swept, together


async def share_a_connection(tasks: int, condition: Condition | trio.Condition) -> None:
    """If a notification is lost, a task waits forever beside a connection that is free."""
    free = 1

    async def user() -> None:
        nonlocal free
        async with condition:
            while not free:  # Mesa: another task may have been quicker
                await condition.wait()
            free -= 1
        with trio.CancelScope(shield=True):
            async with condition:
                free += 1
                condition.notify()
                await checkpoint()

    await together(*[user] * tasks)


@swept(least=130, twice=True)
async def test_a_notification_reaches_a_task_though_its_waiter_is_cancelled(
    x: ExploredRun, tasks: int
) -> None:
    await share_a_connection(tasks, Condition())


@swept(least=210)
async def test_the_lock_is_owned_after_each_wait(x: ExploredRun, tasks: int) -> None:
    condition = Condition()
    opened = False

    async def waiter() -> None:
        async with condition:
            try:
                while not opened:
                    await condition.wait()
            finally:
                if condition.statistics().lock_statistics.owner is not current_task():
                    x.fail("a wait ended without the lock")
            with x.exclusive("the lock"):
                await checkpoint()

    async def opener() -> None:
        nonlocal opened
        with trio.CancelScope(shield=True):
            async with condition:
                opened = True
                condition.notify_all()
                with x.exclusive("the lock"):
                    await checkpoint()

    await together(opener, *[waiter] * (tasks - 1))


@swept(least=150)
async def test_as_many_are_notified_as_notify_says(x: ExploredRun, tasks: int) -> None:
    """No more tokens are taken than are there, and none is left beside a task that waits."""
    condition = Condition()
    tokens = 0
    x.always(lambda: tokens >= 0, "a token for each who was notified")

    async def taker() -> None:
        nonlocal tokens
        async with condition:
            while not tokens:
                await condition.wait()
            tokens -= 1

    async def giver() -> None:
        nonlocal tokens
        with trio.CancelScope(shield=True):
            async with condition:
                tokens += tasks - 1
                condition.notify(tasks - 1)

    await together(giver, *[taker] * (tasks - 1))


@swept(least=160)
async def test_two_conditions_share_a_lock_and_lose_nothing(x: ExploredRun, tasks: int) -> None:
    lock = Lock()
    empty, full = Condition(lock), Condition(lock)
    buffer = 0
    x.always(lambda: 0 <= buffer <= 1, "one place in the buffer")

    async def worker() -> None:
        nonlocal buffer
        async with lock:
            await empty.wait_for(lambda: buffer == 0)
            buffer += 1
            full.notify()
        # what was put must be taken, or the others would wait for it forever, and rightly so
        with trio.CancelScope(shield=True):
            async with lock:
                await full.wait_for(lambda: buffer == 1)
                buffer -= 1
                empty.notify()

    await together(*[worker] * tasks)


@swept(least=390, long=True)
async def test_closing_sends_away_who_was_not_notified(x: ExploredRun, tasks: int) -> None:
    condition = Condition()
    closed = False
    x.always(lambda: not (closed and condition.statistics().tasks_waiting), "no task waits then")

    async def waiter() -> None:
        async with condition:
            try:
                await condition.wait()
            except trio.ClosedResourceError:
                if not closed:
                    x.fail("told that it is closed before it was")
                with x.exclusive("the lock"):
                    await checkpoint()

    async def closer() -> None:
        nonlocal closed
        try:
            await condition.acquire()
            condition.notify()
            condition.release()
            await checkpoint()
        finally:
            condition.close()
            closed = True

    await together(closer, *[waiter] * (tasks - 1))


@swept(least=460)
async def test_an_owner_that_ends_is_told_to_the_waiters_of_each_condition(
    x: ExploredRun, tasks: int
) -> None:
    lock = Lock()
    conditions = Condition(lock), Condition(lock)

    async def waiter(condition: Condition) -> None:
        try:
            await condition.acquire()
            await condition.wait()
        except trio.BrokenResourceError:
            return
        finally:
            if lock.statistics().owner is current_task():
                lock.release()

    async def quitter() -> None:
        with trio.CancelScope(shield=True):
            await lock.acquire()

    await together(quitter, *[partial(waiter, conditions[one % 2]) for one in range(tasks - 1)])
    forgive(lock)


@swept(least=16, order="trio")
async def test_no_notification_is_lost_in_the_order_of_trio(x: ExploredRun, tasks: int) -> None:
    await share_a_connection(tasks, Condition())

"""anyio, on trio: its primitives, a memory stream, a task group."""

from __future__ import annotations

from functools import partial

import anyio
import trio
from trio.lowlevel import checkpoint

from structsync.testing import ExploredRun

from ._rows import SLOW, Row
from ._shared import no_more_than, nothing_is_lost, notification_goes_to_who_is_left


def _lock() -> anyio.Lock:
    return anyio.Lock()


async def notify_all_reaches_who_waits_now() -> None:
    """One task waits when all are notified, another one only afterwards, and that one is not notified."""
    condition = anyio.Condition()
    events: list[str] = []
    scope = trio.CancelScope()

    async def first() -> None:
        with scope:
            async with condition:
                events.append("first waits")
                await condition.wait()

    async def second() -> None:
        async with condition:
            if "notified" in events:
                events.append("second waits")
                with trio.move_on_after(1) as patience:
                    await condition.wait()
                assert patience.cancelled_caught, "woken by no task"

    async def notifies() -> None:
        async with condition:
            condition.notify_all()
            events.append("notified")

    async def cancels() -> None:
        scope.cancel()

    async with trio.open_nursery() as nursery:
        for fn in (first, notifies, second, cancels):
            nursery.start_soon(fn)


async def a_start_is_told_of_a_failure() -> None:
    """The caller that starts a task gets its value, or its error, and nothing is left running."""
    ended: list[str] = []

    async def service(*, task_status: anyio.abc.TaskStatus[str]) -> None:
        try:
            await checkpoint()
            task_status.started("ready")
            await trio.sleep_forever()
        finally:
            ended.append("service")

    async def client() -> None:
        async with anyio.create_task_group() as group:
            assert await group.start(service) == "ready"
            group.cancel_scope.cancel()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(client)
        nursery.start_soon(checkpoint)
    assert len(ended) <= 1


async def the_guard_lets_one_in(x: ExploredRun) -> None:
    guard = anyio.ResourceGuard()

    async def uses() -> None:
        try:
            with guard:
                with x.exclusive("the resource"):
                    await checkpoint()
        except anyio.BusyResourceError:
            pass

    async with trio.open_nursery() as nursery:
        for _ in range(3):
            nursery.start_soon(uses)


ROWS = [
    Row(
        library="anyio",
        what="Lock",
        holds="one of three workers is inside, and none is left behind",
        program=no_more_than(1, _lock),
        verdict="not finished",
        judgement=SLOW,
    ),
    Row(
        library="anyio",
        what="Semaphore",
        holds="two of three workers are inside, and none is left behind",
        program=no_more_than(2, partial(anyio.Semaphore, 2)),
        verdict="not finished",
        judgement=SLOW,
    ),
    Row(
        library="anyio",
        what="CapacityLimiter",
        holds="one of three workers is inside, and none is left behind",
        program=no_more_than(1, partial(anyio.CapacityLimiter, 1)),
        verdict="not finished",
        judgement=SLOW,
    ),
    Row(
        library="anyio",
        what="Condition, notify()",
        holds="a notification is not lost with the task that it was for",
        program=notification_goes_to_who_is_left(anyio.Condition),
        options={"cancels": 0},
        verdict="not finished",
        judgement=SLOW,
    ),
    Row(
        library="anyio",
        what="Condition, notify_all()",
        holds="it wakes no task that waits only afterwards",
        program=notify_all_reaches_who_waits_now,
        verdict="refuted",
        options={"cancels": 0},
        script="anyio_notify_all.py",
        judgement="bug: a cancelled waiter passes it on to a task that waits by then",
    ),
    Row(
        library="anyio",
        what="create_memory_object_stream(0)",
        holds="what was sent is received, once",
        program=nothing_is_lost(partial(anyio.create_memory_object_stream[int], 0)),
        verdict="not finished",
        judgement=SLOW,
    ),
    Row(
        library="anyio",
        what="TaskGroup.start()",
        holds="the caller that starts a task gets its value, and it ends with the group",
        program=a_start_is_told_of_a_failure,
        options={"cancel": "own"},
    ),
    Row(
        library="anyio",
        what="ResourceGuard",
        holds="one of three tasks is inside",
        program=the_guard_lets_one_in,
    ),
]

"""Monitor: every schedule of a few tasks, and any of them cancelled anywhere."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress

import trio
from trio.lowlevel import checkpoint

from structsync import Invocation, Monitor, entry
from structsync._primitives.monitor import Discipline
from structsync.testing import ExploredRun

from .sweeping import swept, together


class Slot(Monitor):
    """Room for one item; the bodies may be cancelled in the middle."""

    def __init__(self, x: ExploredRun) -> None:
        super().__init__()
        self.x = x
        self.full = True

    @entry(when=lambda self: self.full)
    async def get(self) -> None:
        if not self.full:
            self.x.fail("the guard does not hold")
        with self.x.exclusive("the slot"):
            await checkpoint()
            self.full = False


@swept(least=20)
async def test_one_task_is_inside_and_its_guard_holds(x: ExploredRun, tasks: int) -> None:
    slot = Slot(x)

    async def user() -> None:
        await slot.get()
        try:
            await checkpoint()
        finally:
            slot.full = True
            slot.changed()

    await together(*[user] * tasks)


@swept(least=20)
async def test_nowait_enters_only_where_no_task_is_inside(x: ExploredRun, tasks: int) -> None:
    monitor = Monitor()
    inside: list[None] = []

    async def stay() -> None:
        inside.append(None)
        try:
            await checkpoint()
        finally:
            inside.pop()

    quick, slow = monitor.entry(lambda: len(inside)), monitor.entry(stay)

    async def user() -> None:
        try:
            assert quick.nowait() == 0
        except trio.WouldBlock:
            assert monitor.statistics().owner is not None
        await slow()

    await together(*[user] * tasks)


class Traffic(Monitor):
    """A buffer for one item. Who is left without a partner is told so, and does not wait forever."""

    def __init__(self, producers: int, consumers: int) -> None:
        super().__init__()
        self.items: list[int] = []
        self.producers = producers
        self.consumers = consumers

    @entry(when=lambda self: not self.items or not self.consumers)
    def put(self, item: int) -> bool:
        if self.consumers:
            self.items.append(item)
        return bool(self.consumers)

    @entry(when=lambda self: self.items or not self.producers)
    def get(self) -> int | None:
        return self.items.pop() if self.items else None


@swept(least=50)
async def test_a_buffer_by_guards_loses_no_item_and_invents_none(
    x: ExploredRun, tasks: int
) -> None:
    buffer = Traffic(producers=tasks - 1, consumers=1)
    brought: list[int] = []
    taken: list[int] = []
    x.always(lambda: len(buffer.items) <= 1, "room for one item")
    x.finally_(lambda: sorted(brought) == sorted(taken + buffer.items), "each item once")

    async def producer(item: int) -> None:
        try:
            if await buffer.put(item):
                brought.append(item)
        finally:
            buffer.producers -= 1
            buffer.changed()

    async def consumer() -> None:
        try:
            while (item := await buffer.get()) is not None:
                taken.append(item)
        finally:
            buffer.consumers -= 1
            buffer.changed()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(consumer)
        for item in range(tasks - 1):
            nursery.start_soon(producer, item)


@swept(least=40)
async def test_a_guard_that_looks_at_the_request_passes_over_older_calls(
    x: ExploredRun, tasks: int
) -> None:
    """Who asks for a later number is passed over, and no other task has to leave before."""
    monitor = Monitor()
    number = 0

    def mine(request: Invocation) -> bool:
        return bool(request.args[0] <= number)

    def take(wanted: int) -> None:
        if wanted > number:
            x.fail(f"number {wanted} ran when it was the turn of {number}")

    turn = monitor.entry(take, when=mine)

    async def caller(wanted: int) -> None:
        nonlocal number
        try:
            await turn(wanted)
        finally:
            number += 1  # also in place of one that was cancelled
            monitor.changed()

    async def first() -> None:
        await caller(0)

    async with trio.open_nursery() as nursery:
        for wanted in range(1, tasks):
            nursery.start_soon(caller, wanted)
        nursery.start_soon(first)


class Connection(Monitor):
    """One connection, which is waited for inside."""

    def __init__(self, x: ExploredRun, discipline: Discipline) -> None:
        super().__init__(discipline=discipline)
        self.x = x
        self.free = True
        self.is_free = self.condition()
        self.calls = 0  # so many have begun

    @entry
    async def take(self) -> None:
        self.calls += 1
        if self._discipline == "hoare" and not self.free:
            await self.is_free.wait()
            if not self.free:
                self.x.fail("what the signaller saw is not true any more")
        while not self.free:  # Mesa: another task may have been quicker
            await self.is_free.wait()
        self.free = False

    @entry
    async def give(self) -> None:
        self.calls += 1
        self.free = True
        if self._discipline == "mesa":
            self.is_free.notify()
            await checkpoint()  # the notified wait to get in, and may be cancelled
            return
        begun = self.calls
        await self.is_free.signal()
        if self.calls > begun:
            self.x.fail("a newcomer went before the signaller")


async def share(connection: Connection, tasks: int) -> None:
    """If a notification or a signal is lost, a task waits forever beside a free connection."""

    async def user() -> None:
        await connection.take()
        with trio.CancelScope(shield=True):
            await connection.give()

    await together(*[user] * tasks)


@swept(least=130, twice=True)
async def test_mesa_a_notification_reaches_a_task_though_its_waiter_is_cancelled(
    x: ExploredRun, tasks: int
) -> None:
    await share(Connection(x, "mesa"), tasks)


@swept(least=100)
async def test_hoare_what_the_signaller_saw_is_true_when_the_waiter_goes_on(
    x: ExploredRun, tasks: int
) -> None:
    await share(Connection(x, "hoare"), tasks)


ANY_TASK = object()


class Door(Monitor):
    """Wait outside, by a guard that never holds, or inside, for a task that pushes."""

    def __init__(self, discipline: Discipline) -> None:
        super().__init__(discipline=discipline)
        self.pushed = self.condition()
        self.inside_at_the_end: object = ANY_TASK

    def close(self) -> None:
        super().close()
        self.inside_at_the_end = self.statistics().owner

    @entry(when=lambda self: False)
    def enter(self) -> None:
        raise AssertionError("the guard never holds")

    @entry
    async def knock(self) -> None:
        await self.pushed.wait()
        await checkpoint()

    @entry
    async def push(self) -> None:
        hands_over = self.pushed.statistics().tasks_waiting > 0
        await self.pushed.signal()
        if hands_over and self.inside_at_the_end not in (ANY_TASK, trio.lowlevel.current_task()):
            raise AssertionError("let in again after the monitor was closed")


async def shut(
    tasks: int, close: Callable[[], object], *visits: Callable[[], Awaitable[object]]
) -> None:
    """Close a door before which tasks wait; those that wait, and those that come later, are told."""

    async def visitor(visit: Callable[[], Awaitable[object]]) -> None:
        with suppress(trio.ClosedResourceError):
            await visit()

    async def closer() -> None:
        with trio.CancelScope(shield=True):
            await checkpoint()
            close()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(closer)
        for number in range(tasks - 1):
            nursery.start_soon(visitor, visits[number % len(visits)])


@swept(least=30)
async def test_closing_reaches_those_outside_and_those_on_a_condition(
    x: ExploredRun, tasks: int
) -> None:
    door = Door("mesa")
    await shut(tasks, door.close, door.enter, door.knock)


@swept(least=30, long=True)
async def test_closing_reaches_a_signaller_that_waits_to_get_in_again(
    x: ExploredRun, tasks: int
) -> None:
    door = Door("hoare")
    await shut(tasks, door.close, door.knock, door.push)


@swept(least=20)
async def test_closing_an_entry_sends_its_callers_away(x: ExploredRun, tasks: int) -> None:
    door = Door("mesa")
    await shut(tasks, door.enter.close, door.enter)

"""RWLock: every schedule of a few tasks, and any of them cancelled anywhere."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager

import trio
from trio.lowlevel import checkpoint, current_task

from structsync import RWLock
from structsync.testing import ExploredRun

from .closing import closed_meanwhile
from .sweeping import Size, swept, together

#: The order of these two is that of a semaphore with priorities, which is swept there.
PREFERENCES = (Size(3, 1),)


class Room:
    """What readers and writers find in it."""

    def __init__(self, x: ExploredRun, lock: RWLock) -> None:
        self.x = x
        self.lock = lock
        self.inside: list[str] = []

    def enter(self, mode: str) -> None:
        if self.inside and (mode == "write" or "write" in self.inside):
            self.x.fail(f"one came to {mode} beside those who {self.inside}")
        self.inside.append(mode)

    async def use(self, held: AbstractAsyncContextManager[object], mode: str) -> None:
        async with held:
            self.enter(mode)
            try:
                await checkpoint()
            finally:
                self.inside.remove(mode)

    async def read(self) -> None:
        await self.use(self.lock.reading(), "read")

    async def write(self) -> None:
        await self.use(self.lock.writing(), "write")


@swept(least=100, twice=True)
async def test_a_writer_is_alone(x: ExploredRun, tasks: int) -> None:
    """Readers on both sides of a writer: cancelled, it must let those behind it in."""
    room = Room(x, RWLock())
    await together(room.write, *[room.read] * (tasks - 1))


@swept(least=100)
async def test_a_writer_is_alone_in_its_phase(x: ExploredRun, tasks: int) -> None:
    room = Room(x, RWLock(policy="phase"))
    await together(room.write, room.write, *[room.read] * (tasks - 2))


@swept(least=40, sizes=PREFERENCES)
async def test_a_writer_is_alone_where_readers_come_first(x: ExploredRun, tasks: int) -> None:
    room = Room(x, RWLock(policy="readers"))
    await together(room.write, room.write, *[room.read] * (tasks - 2))


@swept(least=40, sizes=PREFERENCES)
async def test_a_writer_is_alone_where_writers_come_first(x: ExploredRun, tasks: int) -> None:
    room = Room(x, RWLock(policy="writers"))
    await together(room.write, room.write, *[room.read] * (tasks - 2))


@swept(least=100)
async def test_no_task_writes_between_a_write_and_its_downgrade(x: ExploredRun, tasks: int) -> None:
    lock = RWLock(policy="phase")
    writes = 0

    async def write_and_read() -> None:
        nonlocal writes
        async with lock.writing():
            writes += 1
            before = writes
            lock.downgrade()
            await checkpoint()
            if writes != before:
                x.fail("a task wrote while it was read")

    async def read() -> None:
        async with lock.reading():
            before = writes
            await checkpoint()
            if writes != before:
                x.fail("a task wrote while it was read")

    await together(read, *[write_and_read] * (tasks - 1))


@swept(least=40)
async def test_a_holder_that_ends_breaks_the_lock_for_every_task(
    x: ExploredRun, tasks: int
) -> None:
    lock = RWLock()
    broken = False

    async def quitter() -> None:
        nonlocal broken
        with trio.CancelScope(shield=True):
            await lock.acquire_read()
        broken = True

    async def user() -> None:
        try:
            await lock.acquire_write()
        except trio.BrokenResourceError:
            if not broken:
                x.fail("told that it is broken before it was")
            return
        if lock.statistics().writer is not current_task():
            x.fail("not the one who writes")
        lock.release()

    await together(quitter, *[user] * (tasks - 1))
    lock._core.readers.clear()  # else what is the point of the test is taken for a leak


@swept(least=60)
async def test_closing_sends_every_waiting_task_away(x: ExploredRun, tasks: int) -> None:
    room = Room(x, RWLock())
    await closed_meanwhile(x, room.lock, room.write, *[room.read] * (tasks - 2))

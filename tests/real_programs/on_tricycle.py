"""tricycle: its lock for readers and writers, and its service nursery."""

from __future__ import annotations

from functools import partial

import trio
from tricycle import RWLock, open_service_nursery
from trio.lowlevel import checkpoint

from structsync.testing import ExploredRun

from ._rows import Row


async def readers_and_writers(x: ExploredRun) -> None:
    lock = RWLock()

    async def reader() -> None:
        async with lock.read_locked():
            assert lock.locked() == "read"
            await checkpoint()

    async def writer() -> None:
        async with lock.write_locked():
            with x.exclusive("the lock"):
                assert lock.locked() == "write"
                await checkpoint()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(reader)
        nursery.start_soon(writer)
        nursery.start_soon(writer)
    assert not lock.locked()


async def a_reader_behind_a_cancelled_writer() -> None:
    """The first reader stays until the second is in, and no writer is in between any more."""
    lock = RWLock()
    scope, both = trio.CancelScope(), trio.Event()

    async def first() -> None:
        async with lock.read_locked():
            nursery.start_soon(writer)
            nursery.start_soon(second)
            nursery.start_soon(cancels)
            await both.wait()

    async def writer() -> None:
        with scope:
            async with lock.write_locked():
                pass

    async def second() -> None:
        async with lock.read_locked():
            both.set()

    async def cancels() -> None:
        scope.cancel()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(first)


async def the_bias_is_changed_beside_a_writer(x: ExploredRun) -> None:
    lock = RWLock()
    inside: list[str] = []

    async def writer() -> None:
        async with lock.write_locked():
            inside.append("writer")
            await checkpoint()
            inside.remove("writer")

    async def reader() -> None:
        async with lock.read_locked():
            assert not inside, "a reader is in beside a writer"

    async def changes() -> None:
        lock.read_biased = True

    async with trio.open_nursery() as nursery:
        for fn in (writer, reader, changes):
            nursery.start_soon(fn)


async def the_service_outlives_the_body() -> None:
    asked, answers = trio.open_memory_channel[str](0)
    answered: list[str] = []

    async def service() -> None:
        answered.append(await answers.receive())

    async def body() -> None:
        async with open_service_nursery() as nursery:
            nursery.start_soon(service)
            try:
                await trio.sleep_forever()
            finally:
                with trio.CancelScope(shield=True):
                    await asked.send("a last request")

    with trio.CancelScope() as scope:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(body)
            await checkpoint()
            scope.cancel()
    assert len(answered) <= 1


Library = partial(Row, library="tricycle")
ROWS = [
    Library(
        what="RWLock",
        holds="a writer is alone, and no task is left behind",
        program=readers_and_writers,
    ),
    Library(
        what="RWLock, a writer is cancelled",
        holds="the readers behind it are let in",
        program=a_reader_behind_a_cancelled_writer,
        verdict="refuted",
        options={"cancels": 0},
        script="tricycle_readers_asleep.py",
        judgement="bug: who waits behind a cancelled writer is woken only by the next release",
    ),
    Library(
        what="RWLock.read_biased = True",
        holds="a writer is alone",
        program=the_bias_is_changed_beside_a_writer,
        verdict="refuted",
        options={"cancels": 0},
        script="tricycle_read_biased.py",
        judgement="bug, open as #22: it wakes all readers, although a writer is inside",
    ),
    Library(
        what="open_service_nursery()",
        holds="its tasks outlive its body, whose last request is answered",
        program=the_service_outlives_the_body,
        options={"cancel": "own"},
    ),
]

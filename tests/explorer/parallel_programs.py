"""Programs that worker processes import by their names."""

import collections
import contextvars
import dataclasses
import enum
import functools
import logging
import math
import re
import sqlite3
import types
import typing
from collections.abc import Awaitable, Callable

import trio

from structsync.testing import ExploredRun, explore


async def with_a_semaphore(count: int = 3) -> None:
    semaphore = trio.Semaphore(1)

    async def worker() -> None:
        async with semaphore:
            await trio.lowlevel.checkpoint()

    async with trio.open_nursery() as nursery:
        for _ in range(count):
            nursery.start_soon(worker)


async def one_order_in_many_fails() -> None:
    """Of three tasks each goes on before the one that was started before it."""
    log: list[str] = []

    async def writes(name: str) -> None:
        await trio.lowlevel.checkpoint()
        log.append(name)

    async with trio.open_nursery() as nursery:
        for name in "abc":
            nursery.start_soon(writes, name)
    assert "".join(log) != "cba", "the unexpected order"


@explore(search="plain", cancels=0)
async def decorated(x: ExploredRun) -> None:
    await with_a_semaphore()


class Group:
    @explore(cancels=0)
    async def method(self) -> None:
        await with_a_semaphore()


def _with_a_lambda() -> Callable[[], Awaitable[None]]:
    return lambda: with_a_semaphore()


handler = _with_a_lambda()
handler.__qualname__ = "with_a_semaphore"


async def at_a_database() -> None:
    database = sqlite3.connect(":memory:")
    try:
        await with_a_semaphore(2)
    finally:
        database.close()


async def who_looks_first_looks_forever() -> None:
    first: list[str] = []

    async def set_it() -> None:
        first.append("setter")

    async def look() -> None:
        first.append("looker")
        while first[0] != "setter":
            await trio.lowlevel.checkpoint()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(set_it)
        nursery.start_soon(look)


class Colour(enum.Enum):
    RED = 1


@dataclasses.dataclass
class Pair:
    left: object
    right: object


LOGGER = logging.getLogger("of these programs")
WORDS = re.compile("[a-z]+", re.IGNORECASE)


async def with_much_to_look_at() -> None:
    """Whatever is numbered in a state, or ordered by hashes, or has an address in its text."""
    made = dataclasses.make_dataclass("Made", ["value"])
    things: list[object] = [
        {"one", "two", "three", "four"},
        frozenset({("a", 1), ("b", 2)}),
        Colour.RED,
        made(WORDS),
        Pair(LOGGER, str.upper),
        [len, "text".upper, dict.fromkeys, int.__add__, type.__call__],
        object(),
        lambda: {"x", "y"},
        lambda word: word in {"p", "q", ("r", 1.5)},
        functools.partial(max, 1),
        math,
        contextvars.ContextVar("variable", default=("k", 1)),
        ValueError(f"of {object()!r}"),
        ...,
        NotImplemented,
        typing.TypeVar,
        Pair.__init__,
        types.SimpleNamespace(a={"u", "v", "w"}),
        collections.Counter("hello"),
    ]

    async def worker(number: int) -> None:
        seen = things[number:]
        await trio.lowlevel.checkpoint()
        things.append(seen)

    async with trio.open_nursery() as nursery:
        for number in range(3):
            nursery.start_soon(worker, number)


async def ends_as_it_began() -> str:
    return (await ends_with_its_order())[0]


async def ends_with_its_order() -> str:
    log: list[str] = []

    async def writes(name: str) -> None:
        await trio.lowlevel.checkpoint()
        log.append(name)
        await trio.lowlevel.checkpoint()

    async with trio.open_nursery() as nursery:
        for name in "abc":
            nursery.start_soon(writes, name)
    return "".join(log)


async def goes_round_until_it_is_set() -> None:
    over = False

    async def looks() -> None:
        while not over:
            await trio.lowlevel.checkpoint()

    async def sets() -> None:
        nonlocal over
        await trio.lowlevel.checkpoint()
        over = True

    async with trio.open_nursery() as nursery:
        nursery.start_soon(looks)
        nursery.start_soon(sets)


async def the_older_is_aborted_first() -> None:
    """Two that are alike, but for the number that each has drawn: which one, the schedule decides."""
    numbers, aborted = [1, 2], list[int]()

    async def waits() -> None:
        await trio.lowlevel.checkpoint()
        number = numbers.pop()

        def abort(_: trio.lowlevel.RaiseCancelT) -> trio.lowlevel.Abort:
            aborted.append(number)
            return trio.lowlevel.Abort.SUCCEEDED

        await trio.lowlevel.wait_task_rescheduled(abort)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(waits)
        nursery.start_soon(waits)
        await trio.testing.wait_all_tasks_blocked()
        async with trio.open_nursery() as others:
            others.start_soon(trio.lowlevel.checkpoint)
            others.start_soon(trio.lowlevel.checkpoint)
        nursery.cancel_scope.cancel()
    assert aborted == [2, 1], aborted

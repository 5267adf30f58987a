"""Two tasks give way to each other, and do so at the same time, forever; neither of them ever parks."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeAlias

import trio

from structsync.testing import Settings

from .exhibit import Exhibit

if TYPE_CHECKING:
    from structsync.testing import ExploredRun

Enter: TypeAlias = Callable[[list[bool], list[int], int], Awaitable[None]]


async def give_way(wants: list[bool], turn: list[int], me: int) -> None:
    wants[me] = True
    await trio.lowlevel.checkpoint()
    while wants[1 - me]:
        wants[me] = False
        await trio.lowlevel.checkpoint()
        wants[me] = True
        await trio.lowlevel.checkpoint()


async def take_turns(wants: list[bool], turn: list[int], me: int) -> None:
    wants[me] = True
    await trio.lowlevel.checkpoint()
    while wants[1 - me]:
        wants[me] = turn[0] == me
        await trio.lowlevel.checkpoint()
        if turn[0] == me:
            wants[me] = True
            await trio.lowlevel.checkpoint()


async def two_at_a_door(x: ExploredRun, enter: Enter) -> None:
    wants, turn = [False, False], [0]

    async def guest(me: int) -> None:
        await enter(wants, turn, me)
        with x.exclusive("the door"):
            await trio.lowlevel.checkpoint()
        turn[0] = 1 - me
        wants[me] = False

    async with trio.open_nursery() as nursery:
        nursery.start_soon(guest, 0)
        nursery.start_soon(guest, 1)


async def after_you(x: ExploredRun) -> None:
    await two_at_a_door(x, give_way)


async def in_turn(x: ExploredRun) -> None:
    await two_at_a_door(x, take_turns)


EXHIBIT = Exhibit(
    name="after you, no, after you",
    source="textbook; Dijkstra 1965, Cooperating sequential processes, section 2.1, on the way to Dekker's solution",
    mechanism="Each of the two takes its own wish back where it sees the other's, both at once, again and again.",
    buggy=after_you,
    fixed=in_turn,
    settings=Settings(cancels=0, liveness=True),
    finds="livelock",
    culprit=r"guest#0 and guest#1 loop forever and no task makes progress",
    budget=500,
)

"""slurry: what comes out of a pipeline."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial

import trio
from slurry import Pipeline
from slurry.sections import Group
from trio.lowlevel import checkpoint

from ._rows import SLOW, Row


async def _numbers() -> AsyncIterator[int]:
    for number in (1, 2):
        yield number
        await checkpoint()


async def items_keep_their_order() -> None:
    received: list[int] = []
    async with Pipeline.create(_numbers()) as pipeline, pipeline.tap() as tap:
        async for item in tap:
            received.append(item)  # noqa: PERF401 - each counts at once
    assert received == [1, 2], f"in another order: {received}"


async def every_item_is_in_a_group() -> None:
    received: list[tuple[int, ...]] = []
    async with Pipeline.create(_numbers(), Group(1)) as pipeline, pipeline.tap() as tap:
        async for item in tap:
            received.append(item)  # noqa: PERF401 - each counts at once
    assert sorted(number for group in received for number in group) == [1, 2], f"{received}"


async def two_taps_get_everything() -> None:
    received: list[int] = []

    async def reads(tap: trio.MemoryReceiveChannel[int]) -> None:
        async for item in tap:
            received.append(item)  # noqa: PERF401 - each counts at once

    async with Pipeline.create(_numbers()) as pipeline:
        taps = [pipeline.tap(), pipeline.tap()]
        async with trio.open_nursery() as nursery:
            for tap in taps:
                nursery.start_soon(reads, tap)
    assert sorted(received) == [1, 1, 2, 2]


Library = partial(Row, library="slurry")
ROWS = [
    Library(
        what="Pipeline.tap()",
        holds="items come in their order",
        program=items_keep_their_order,
        verdict="refuted",
        options={"cancels": 0},
        script="slurry_order.py",
        judgement="bug: each item is sent by a task of its own, and tasks of one batch run in any order; no page "
        "says so",
    ),
    Library(
        what="Group",
        holds="no item is lost at the edge of a group",
        program=every_item_is_in_a_group,
        options={"cancels": 0},
        verdict="not finished",
        judgement=SLOW,
    ),
    Library(
        what="Pipeline.tap(), twice",
        holds="each tap gets each item",
        program=two_taps_get_everything,
        verdict="refused",
        judgement="limit of ours: the taps are in a set, whose order the addresses of its items decide",
        options={"cancels": 0},
    ),
]

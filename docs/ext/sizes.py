"""How many executions a search takes, measured while the pages are built."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

import trio

import structsync
from structsync.testing import explore

Table: TypeAlias = tuple[list[str], list[list[str]]]
Program: TypeAlias = Callable[[], Awaitable[None]]

#: More than this is not counted: the pages have to be built in reasonable time.
MOST = 3_000


def workers(number: int, permits: int) -> Program:
    """Return a program in which every step of every worker is one at the same semaphore."""

    async def program() -> None:
        semaphore = structsync.Semaphore(permits, max_value=permits)

        async def worker() -> None:
            async with semaphore:
                pass

        async with trio.open_nursery() as nursery:
            for _ in range(number):
                nursery.start_soon(worker)

    return program


def strangers(number: int) -> Program:
    """Return a program whose tasks have nothing to do with each other."""

    async def program() -> None:
        async with trio.open_nursery() as nursery:
            for name in range(number):
                nursery.start_soon(trio.lowlevel.checkpoint, name=f"stranger {name}")

    return program


PROGRAMS: dict[str, tuple[Program, int]] = {
    "2 workers, 1 permit": (workers(2, 1), 0),
    "3 workers, 1 permit": (workers(3, 1), 0),
    "3 workers, 2 permits": (workers(3, 2), 0),
    "3 workers, 1 permit, a cancellation": (workers(3, 1), 1),
    "4 workers, 2 permits, a cancellation": (workers(4, 2), 1),
    "4 tasks without anything in common": (strangers(4), 0),
}


def sizes() -> Table:
    """One row for each program: executions without and with what makes them fewer."""
    heads = ["program", "every schedule", "each state once", "like workers as one", "states"]
    rows = []
    for name, (program, cancels) in PROGRAMS.items():
        kinds: list[dict[str, Any]] = [
            {"search": "plain"},
            {"search": "states", "symmetry": False},
            {"search": "states"},
        ]
        found = [
            explore(program, cancels=cancels, cancel="tasks", executions=MOST, **kind)
            for kind in kinds
        ]
        counts = [_count(one.searched, one.unfinished is None) for one in found]
        rows.append([name, *counts, _count(found[-1].states, found[-1].unfinished is None)])
    return heads, rows


def _count(number: int, is_complete: bool) -> str:
    return f"{number:,}" if is_complete else f"more than {number:,}"

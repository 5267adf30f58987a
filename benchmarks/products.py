"""Mattos 2021, tables 1 to 4: a product of matrices, its rows computed by n workers.

There by threads of .NET, of which several compute at once. Threads of Python take turns, so here the
workers are processes. The sizes are a fifth of the document's, because a loop of Python is slower.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial
from importlib.util import find_spec
from operator import mul
from time import perf_counter
from typing import TypeAlias

import trio

import structsync

from ._measure import Case, Effort

Matrix: TypeAlias = list[list[float]]

WORKERS = (1, 2, 6, 12)


def cases(effort: Effort) -> Iterator[Case]:
    """Tables 1 and 2: seconds. Tables 3 and 4: how many times as fast, from the seconds of the same round."""
    if not find_spec("trio_parallel"):
        return  # processes are an extra
    for factor in (1, 2, 3)[: effort.of(3, 1)]:
        size, spent = effort.of(200, 8) * factor, dict[int, float]()
        counts = WORKERS[: effort.of(4, 2)]
        for workers in counts:
            yield Case(f"{size} rows, {workers}: seconds", partial(noted, spent, size, workers))
        for few, many in [(1, 2), (1, 6), (1, 12), (6, 12)]:
            if many in counts:
                yield Case(f"{size} rows, {many} / {few}", partial(speed_up, spent, few, many))


@cache
def matrix(size: int) -> Matrix:
    return [[float(row * column % 7) for column in range(size)] for row in range(size)]


def rows_of_product(rows: Matrix, columns: Matrix) -> Matrix:
    return [[sum(map(mul, row, column)) for column in columns] for row in rows]


def noted(spent: dict[int, float], size: int, workers: int) -> float:
    """Return the seconds that it takes now, and keep them for what is compared."""
    spent[workers] = trio.run(product, size, workers)
    return spent[workers]


def speed_up(spent: dict[int, float], few: int, many: int) -> float:
    return spent[few] / spent[many]


async def product(size: int, workers: int) -> float:
    """Return the seconds in which that many workers compute a product, a part of the rows each."""
    rows = columns = matrix(size)
    part = -(-size // workers)
    parts = [rows[begin : begin + part] for begin in range(0, size, part)]
    async with structsync.open_process_pool(workers) as pool:
        async with trio.open_nursery() as nursery:
            for _ in parts:
                nursery.start_soon(pool.run, rows_of_product, [], [])  # the processes exist now
        began = perf_counter()
        async with trio.open_nursery() as nursery:
            for rows in parts:
                nursery.start_soon(pool.run, rows_of_product, rows, columns)
        return perf_counter() - began

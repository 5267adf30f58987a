"""What the explorer cannot see into it names: an uncertain state makes no proof, a thread no test."""

from __future__ import annotations

import functools
import queue
from typing import TYPE_CHECKING, Any

import pytest
import trio

from structsync.checking import Verdict
from structsync.testing import NondeterminismError, explore

from .exhibit import Program

if TYPE_CHECKING:
    from structsync.testing import ExploredRun


async def run_all(*functions: Any) -> None:
    async with trio.open_nursery() as nursery:
        for one in functions:
            nursery.start_soon(one)


# ==== What is said, not missed in silence ====

SETTING = {"limit": 1}


@functools.cache
def limit() -> int:
    return SETTING["limit"]


async def stale_cache(x: ExploredRun) -> None:
    SETTING["limit"] = 1
    limit.cache_clear()

    async def administrator() -> None:
        SETTING["limit"] = 2

    async def early_reader() -> None:
        limit()

    await run_all(administrator, early_reader)
    await run_all(trio.lowlevel.checkpoint, trio.lowlevel.checkpoint)
    assert limit() == 2, "the cache is older than the setting"


def test_what_a_cached_function_remembers_is_no_part_of_a_state_and_still_found() -> None:
    """Two states that differ there alone must not be taken for one; so states are given up."""
    assert explore(stale_cache, cancels=0).failure


async def with_a_queue_of_c(x: ExploredRun) -> None:
    hidden = queue.SimpleQueue[int]()

    async def worker() -> None:
        await trio.lowlevel.checkpoint()
        assert hidden.empty()

    await run_all(worker, worker)


async def with_a_cache(x: ExploredRun) -> None:
    limit.cache_clear()

    async def worker() -> None:
        await trio.lowlevel.checkpoint()
        limit()

    await run_all(worker, worker)


@pytest.mark.parametrize(
    ("program", "culprit"), [(with_a_queue_of_c, "SimpleQueue"), (with_a_cache, "functools.cache")]
)
def test_an_object_that_cannot_be_looked_into_makes_no_proof(
    program: Program, culprit: str
) -> None:
    found = explore(program, cancels=0, executions=3)
    assert found.verdict is Verdict.UNFINISHED
    assert culprit in found.covered


# ==== What is refused, not missed ====


async def two_threads(x: ExploredRun) -> None:
    total = 0

    def count() -> None:
        nonlocal total
        total += 1

    async def worker() -> None:
        await trio.to_thread.run_sync(count)

    await run_all(worker, worker)
    assert total == 2


def test_a_race_between_two_threads_is_refused() -> None:
    """Threads switch between any two instructions, and no schedule of tasks decides when."""
    with pytest.raises(NondeterminismError, match="thread"):
        explore(two_threads)

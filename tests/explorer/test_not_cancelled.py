"""``x.not_cancelled()``: what would never be cancelled in earnest is left alone, and nothing else is."""

from __future__ import annotations

import contextlib
import math
from typing import Any

import pytest
import trio
from trio.lowlevel import checkpoint

from structsync.testing import ExploredRun, Verdict, explore

KINDS = pytest.mark.parametrize("cancel", ["scopes", "tasks"])


def must_end(exempt: bool) -> Any:
    """A test that is wrong if one of its helpers is cancelled, which only the explorer does."""

    async def test(x: ExploredRun) -> None:
        done = False

        async def helper(task_status: Any = trio.TASK_STATUS_IGNORED) -> None:
            nonlocal done
            with (
                x.not_cancelled() if exempt else contextlib.nullcontext(),
                trio.CancelScope(),
            ):
                task_status.started()
                await checkpoint()
                done = True

        with x.not_cancelled():
            async with trio.open_nursery() as nursery:
                await nursery.start(helper)
                nursery.start_soon(checkpoint)
                await checkpoint()
        assert done

    return test


@KINDS
def test_a_helper_that_must_end_needs_it(cancel: Any) -> None:
    assert explore(must_end(exempt=False), cancel=cancel).verdict is Verdict.REFUTED
    assert explore(must_end(exempt=True), cancel=cancel).verdict is Verdict.CONFIRMED


async def looks_on(x: ExploredRun, cancelled: list[str]) -> None:
    """In a scope of the parent, a nursery, and a scope of its own, all round the exempt block."""
    started = trio.Event()

    async def exempt() -> None:
        with trio.CancelScope(), x.not_cancelled():
            started.set()
            in_time = trio.current_effective_deadline() > -math.inf
            try:
                await checkpoint()
                await checkpoint()
            except trio.Cancelled:
                if in_time:  # what was cancelled before the block stays so
                    cancelled.append("exempt")
                raise
        await checkpoint()

    async def other() -> None:
        await started.wait()
        with trio.CancelScope():
            try:
                await checkpoint()
                await checkpoint()
            except trio.Cancelled:
                cancelled.append("other")
                raise

    with trio.CancelScope():
        async with trio.open_nursery() as nursery:
            nursery.start_soon(exempt)
            nursery.start_soon(other)


@pytest.mark.slow
@KINDS
def test_the_block_is_spared_and_what_is_beside_it_is_not(cancel: Any) -> None:
    seen = set[str]()

    async def test(x: ExploredRun) -> None:
        cancelled: list[str] = []
        with x.not_cancelled():
            await looks_on(x, cancelled)
        seen.update(cancelled)

    async def outside(x: ExploredRun) -> None:
        cancelled: list[str] = []
        await looks_on(x, cancelled)
        seen.update(cancelled)

    assert (
        explore(test, cancel=cancel, search="plain", outside="ignore").verdict is Verdict.CONFIRMED
    )
    assert seen == {"other"}
    seen.clear()
    explore(outside, cancel=cancel, search="plain", outside="ignore")
    assert "exempt" not in seen
    assert "other" in seen


def test_after_the_block_the_task_may_be_cancelled_again() -> None:
    seen = set[str]()

    async def test(x: ExploredRun) -> None:
        async def worker() -> None:
            with x.not_cancelled():
                await checkpoint()
                seen.add("spared")
            try:
                await checkpoint()
            except trio.Cancelled:
                seen.add("cancelled afterwards")
                raise

        async with trio.open_nursery() as nursery:
            nursery.start_soon(worker)
            nursery.start_soon(checkpoint)

    explore(test, cancel="tasks", search="plain")
    assert seen == {"spared", "cancelled afterwards"}


def test_what_the_program_cancels_itself_is_cancelled() -> None:
    async def test(x: ExploredRun) -> None:
        with trio.CancelScope() as scope, x.not_cancelled():
            async with trio.open_nursery() as nursery:
                nursery.start_soon(checkpoint)
                scope.cancel()
                await checkpoint()
        assert scope.cancelled_caught

    assert explore(test).verdict is Verdict.CONFIRMED

"""LockMap: every schedule of a few tasks, and any of them cancelled anywhere."""

from __future__ import annotations

from functools import partial

import trio
from trio.lowlevel import checkpoint

from structsync import LockMap, acquire_all
from structsync.testing import ExploredRun

from .sweeping import swept, together


@swept(least=40)
async def test_one_task_has_a_key_and_nothing_is_left_of_it(x: ExploredRun, tasks: int) -> None:
    locks = LockMap[str]()
    inside: dict[str, int] = {"x": 0, "y": 0}

    async def work(key: str) -> None:
        async with locks[key]:
            inside[key] += 1
            try:
                with x.exclusive(key):
                    await checkpoint()
            finally:
                inside[key] -= 1

    x.always(lambda: {key for key in inside if inside[key]} <= {*locks}, "what is held is there")
    x.finally_(lambda: not len(locks), "no key is left")
    await together(*[partial(work, "x" if place < 2 else "y") for place in range(tasks)])


@swept(least=60, long=True)
async def test_two_keys_are_taken_in_one_step_in_any_order(x: ExploredRun, tasks: int) -> None:
    locks = LockMap[str]()

    async def transfer(source: str, target: str) -> None:
        async with acquire_all(locks.claim(source), locks.claim(target)):
            with x.exclusive(source), x.exclusive(target):
                await checkpoint()

    x.finally_(lambda: not len(locks), "no key is left")
    pairs = [("x", "y"), ("y", "x"), ("y", "z"), ("z", "x")]
    await together(*[partial(transfer, *pairs[place]) for place in range(tasks)])


@swept(least=40)
async def test_closing_sends_every_waiting_task_away(x: ExploredRun, tasks: int) -> None:
    locks = LockMap[str]()
    closed = False
    x.always(lambda: not (closed and locks.statistics().tasks_waiting), "no task waits then")

    async def use() -> None:
        was_closed = closed
        try:
            async with locks["x"]:
                if was_closed:
                    x.fail("let in after it was closed")
                await checkpoint()
        except trio.ClosedResourceError:
            if not closed:
                x.fail("told that it is closed before it was")

    async def closer() -> None:
        nonlocal closed
        await checkpoint()
        locks.close()
        closed = True

    await together(closer, *[use] * (tasks - 1))

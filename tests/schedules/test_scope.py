"""Scope: every schedule of a few tasks, with any of them or any cancel scope cancelled anywhere."""

from __future__ import annotations

import trio
from trio.lowlevel import checkpoint

from structsync import Lock, PermitLeakError, Semaphore, open_scope
from structsync.testing import ExploredRun

from .sweeping import swept, together


async def work_in_a_scope(x: ExploredRun, tasks: int) -> None:
    semaphore, lock = Semaphore(2, max_value=2), Lock()
    running = 0

    async def worker() -> None:
        nonlocal running
        running += 1
        try:
            async with semaphore:
                with x.exclusive("permits", limit=2):
                    async with lock:
                        await checkpoint()
        finally:
            running -= 1

    try:
        async with open_scope() as scope:
            scope.own(semaphore)
            scope.own(lock)
            for _ in range(tasks):
                scope.start_soon(worker)
    finally:
        if running:
            x.fail("the scope ended before its tasks")
        for primitive in (semaphore, lock):
            try:
                primitive.acquire_nowait()
            except trio.ClosedResourceError:
                continue
            x.fail("the scope has ended, and what it owned is open")


@swept(least=180)
async def test_what_a_scope_owns_closes_when_its_last_task_has_ended(
    x: ExploredRun, tasks: int
) -> None:
    await work_in_a_scope(x, tasks)


@swept(least=130, cancel="scopes", long=True)
async def test_a_scope_that_is_cancelled_ends_as_any_other(x: ExploredRun, tasks: int) -> None:
    await work_in_a_scope(x, tasks)


@swept(least=150)
async def test_a_leak_is_reported_if_and_only_if_there_is_one(x: ExploredRun, tasks: int) -> None:
    semaphore = Semaphore(tasks)
    kept = 0

    async def borrower() -> None:
        async with semaphore:
            await checkpoint()

    async def thief() -> None:
        nonlocal kept
        await semaphore.acquire()
        kept += 1

    reported = False
    try:
        async with open_scope() as scope:
            scope.own(semaphore)
            for work in (thief, *[borrower] * (tasks - 1)):
                scope.start_soon(work)
    except PermitLeakError:
        reported = True
    if reported is not bool(kept):
        x.fail(f"{kept} permits were kept, and that was {'' if reported else 'not '}reported")


@swept(least=230)
async def test_two_scopes_keep_to_their_own(x: ExploredRun, tasks: int) -> None:
    """The inner one ends while tasks of the outer one still wait for what that one owns."""
    outer = Semaphore(1, max_value=1)

    async def worker() -> None:
        async with outer:
            with x.exclusive("the permit"):
                await checkpoint()

    async def with_a_scope() -> None:
        async with open_scope() as scope:
            own = scope.own(Semaphore(1, max_value=1))
            async with own, outer:
                with x.exclusive("the permit"):
                    await checkpoint()

    async with open_scope() as scope:
        scope.own(outer)
        await together(with_a_scope, *[worker] * (tasks - 1))

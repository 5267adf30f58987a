"""What comes in the middle of a step: every schedule of a few tasks, and any of them cancelled anywhere.

An observer stands for whatever may run there: a guard, a finalizer, an instrument of trio.
"""

from __future__ import annotations

from collections.abc import Callable

import trio
from trio.lowlevel import checkpoint

from structsync import Primitive, PrimitiveEvent, Semaphore, observe
from structsync._core.primitives.semaphore import SemaphoreCore
from structsync.testing import ExploredRun

from .sweeping import swept, together


@swept(least=20)
async def test_what_is_released_in_the_middle_of_a_step_lets_in_who_waits(
    x: ExploredRun, tasks: int
) -> None:
    semaphore = Semaphore(1, max_value=1)
    passes = Semaphore(0)

    def pass_on(event: PrimitiveEvent) -> None:
        if event.primitive is semaphore and event.kind == "granted":
            passes.release()

    async def worker() -> None:
        async with semaphore:
            await passes.acquire()

    with observe(pass_on):
        await together(*[worker] * tasks)


@swept(least=15)
async def test_who_is_about_to_park_is_let_in_by_who_hears_of_it(
    x: ExploredRun, tasks: int
) -> None:
    """The release comes between the decision to wait and the wait, in which trio can wake no task."""
    semaphore = Semaphore(0)

    def let_in(event: PrimitiveEvent) -> None:
        if event.kind == "requested":
            semaphore.release()

    async def worker() -> None:
        await semaphore.acquire()

    with observe(let_in):
        await together(*[worker] * tasks)


@swept(least=20)
async def test_who_is_granted_and_cancelled_in_the_middle_of_a_step_has_what_it_was_granted(
    x: ExploredRun, tasks: int
) -> None:
    semaphore = Semaphore(0)
    step = Semaphore(1, max_value=1)
    scopes: list[trio.CancelScope] = []
    granted = released = 0

    def release_and_cancel(event: PrimitiveEvent) -> None:
        nonlocal released
        if event.primitive is step and event.kind == "granted":
            released = tasks - 1
            semaphore.release(released)
            for scope in scopes:
                scope.cancel()

    async def worker() -> None:
        nonlocal granted
        with trio.CancelScope() as scope:
            scopes.append(scope)
            await semaphore.acquire()
            granted += 1

    async def last() -> None:
        try:
            await step.acquire()
        finally:
            if released:
                step.release()
            else:
                semaphore.release(tasks)

    with observe(release_and_cancel):
        await together(*[worker] * (tasks - 1), last)
    if released and granted + semaphore.value != released:
        x.fail(f"{granted} of {released} were granted, and {semaphore.value} are left")


class SharedTickets(SemaphoreCore):
    """Tickets, one of which an abandoned block holds until a task is granted."""

    def __init__(self) -> None:
        super().__init__(0)
        self.abandoned: list[Callable[[], object]] = []

    def admits(self, claim: int) -> bool:
        if self.queue and self.abandoned:
            self.abandoned.pop()()
        return super().admits(claim)


class Gate(Primitive[int]):
    """Made to be passed with a ticket."""

    async def enter(self) -> None:
        await self._acquire(1)

    def let_in(self) -> None:
        self._release(1)


@swept(least=20)
async def test_what_is_released_while_a_claim_is_evaluated_is_released_after_the_step(
    x: ExploredRun, tasks: int
) -> None:
    core = SharedTickets()
    gate = Gate(core)
    entered = 0

    async def worker() -> None:
        nonlocal entered
        await gate.enter()
        entered += 1

    async def last() -> None:
        try:
            await checkpoint()
        finally:
            core.abandoned.append(gate.let_in)
            for _ in range(tasks - 1):
                gate.let_in()

    await together(*[worker] * (tasks - 1), last)
    if entered + core.value + len(core.abandoned) != tasks:
        x.fail(f"{entered} of {tasks} tickets were used, and {core.value} are left")

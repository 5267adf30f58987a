"""Threads that hold: every schedule of the deputies of a few threads, interrupted anywhere.

The threads are played by tasks, which say to the run what a thread says: do this; stop waiting for it. So
each order of a grant, an interrupt, the end of a timeout and the end of the run is met. What a real thread
adds, that its messages come from elsewhere, is in ``tests/shell/test_thread_races.py``.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import outcome
import trio
from trio.lowlevel import checkpoint, current_trio_token

from structsync import Semaphore
from structsync._runtime import deputy
from structsync._runtime.deputy import Deputies, Deputy, ForDeputy
from structsync._runtime.thread_blocks import Block, Enter, Leave
from structsync.testing import ExploredRun
from tests.thread_runs import answered_to

from .sweeping import Size, swept


class InNursery(Deputies):
    """Deputies that are tasks of the program, so that they are explored."""

    __slots__ = ("nursery",)
    nursery: trio.Nursery

    def __init__(self, nursery: trio.Nursery) -> None:
        super().__init__(current_trio_token())
        self.nursery = nursery
        deputy._of_run.set(self)

    def start(self, errand: ForDeputy) -> Deputy:
        new = Deputy(self, errand)
        self.running[new] = None
        self.nursery.start_soon(new.work)
        return new


class Thread:
    """A thread that enters a block round the semaphore which all want, and leaves it."""

    def __init__(self, x: ExploredRun, semaphore: Semaphore, timeout: float | None = None) -> None:
        self.x = x
        self.deputies: dict[Any, Any] = {}
        self.block = Block(semaphore, current_trio_token())
        self.enter = Enter(self.block, timeout)
        self.leave = Leave(self.block, None)
        self.entered = answered_to(self.enter, self.deputies)
        self.left = answered_to(self.leave, self.deputies)
        self.leaves, self.run_is_over = trio.Event(), trio.Event()

    @property
    def holds(self) -> bool:
        return any(isinstance(answer, outcome.Value) for answer in self.entered.told)

    async def use(self, *, run_ends: bool = False) -> None:
        """Ask from outside of the run, where nothing is cancelled, but Ctrl-C may interrupt it."""
        self.enter.accept()
        await self.entered.came.wait()
        if self.holds:
            if run_ends:  # which takes what a thread holds, however long that one stays inside
                await self.run_is_over.wait()
            else:
                with self.x.exclusive("the permit"):
                    await checkpoint()
            self.leaves.set()
            await checkpoint()  # on the way to the run
            self.leave.accept()
            await self.left.came.wait()

    async def use_as_host(self) -> None:
        """Ask as a worker thread does, whose starter may be cancelled."""
        await self.enter._ask_as_host()
        try:
            with self.x.exclusive("the permit"):
                await checkpoint()
        finally:
            await self.leave._ask_as_host()

    async def interrupt(self) -> None:
        """Do what Ctrl-C does to a main thread that waits to enter."""
        self.enter._interrupt_from_thread()

    async def interrupt_leaving(self) -> None:
        """Do what Ctrl-C does to it while it leaves: ask once more."""
        await self.leaves.wait()
        self.leave._interrupt_from_thread()


class Program:
    """A semaphore of one permit, which a task has at times; and threads that want it."""

    def __init__(self, x: ExploredRun, threads: int, timeout: float | None = None) -> None:
        self.x = x
        self.semaphore = Semaphore(1, max_value=1)
        self.threads = [Thread(x, self.semaphore, timeout) for _ in range(threads)]

    async def run(self, *tasks: Callable[[], Awaitable[object]]) -> None:
        async with trio.open_nursery() as nursery:
            self.deputies = InNursery(nursery)
            nursery.start_soon(self.hold)
            for task in tasks:
                nursery.start_soon(task)

    async def hold(self) -> None:
        async with self.semaphore:
            with self.x.exclusive("the permit"):
                await checkpoint()

    async def hold_until(self, event: trio.Event) -> None:
        async with self.semaphore:
            await event.wait()

    async def end_run(self) -> None:
        self.deputies.ended = True
        for one in self.deputies.running:
            one.end_with_run()
        await self.hold()
        for thread in self.threads:
            thread.run_is_over.set()

    def check(self) -> None:
        """Each thread was told once, who holds no block has no deputy, and the permit is back."""
        for thread in self.threads:
            if len(thread.entered.told) != 1 or len(thread.left.told) != thread.holds:
                self.x.fail(f"a thread was told {thread.entered.told}, {thread.left.told}")
            if thread.deputies:
                self.x.fail("a thread has a deputy although it is in no block")
        if self.semaphore.value != 1 or self.semaphore.statistics().tasks_waiting:
            self.x.fail(f"the permit is not back: {self.semaphore!r}")


#: A thread against the task, and with the night two threads: a deputy each, and who interrupts.
SIZES = (Size(2, 0), Size(4, 0))


@swept(least=60, sizes=SIZES)
async def test_an_interrupt_comes_before_a_grant_or_after_it(x: ExploredRun, tasks: int) -> None:
    program = Program(x, tasks // 2)
    uses = [thread.use for thread in program.threads]
    await program.run(*uses, program.threads[0].interrupt)
    program.check()


@swept(least=60, sizes=SIZES)
async def test_an_interrupt_while_it_leaves_gives_back_once(x: ExploredRun, tasks: int) -> None:
    program = Program(x, tasks // 2)
    uses = [thread.use for thread in program.threads]
    await program.run(*uses, program.threads[0].interrupt_leaving)
    program.check()


@swept(least=60, sizes=SIZES, clock="explore")
async def test_a_timeout_ends_before_a_grant_or_after_it(x: ExploredRun, tasks: int) -> None:
    """The task keeps the permit until a thread that came later is out of time, or before it came."""
    program = Program(x, tasks // 2, timeout=1)
    uses = [thread.use for thread in program.threads]
    await program.run(*uses, partial(program.hold_until, program.threads[0].entered.came))
    program.check()


@swept(least=60, sizes=SIZES)
async def test_the_run_ends_before_a_grant_or_after_it(x: ExploredRun, tasks: int) -> None:
    program = Program(x, tasks // 2)
    uses = [partial(thread.use, run_ends=True) for thread in program.threads]
    await program.run(*uses, program.end_run)
    program.check()


@swept(least=60, sizes=(Size(2, 1), Size(4, 1)))
async def test_who_started_it_is_cancelled_before_a_grant_or_after_it(
    x: ExploredRun, tasks: int
) -> None:
    program = Program(x, tasks // 2)
    await program.run(*[thread.use_as_host for thread in program.threads])
    program.check()

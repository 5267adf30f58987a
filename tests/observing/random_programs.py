"""Random programs of nested blocks, as data; and a function that runs one under a guard.

Most deadlock under some schedules and finish under others, because the blocks of different tasks are
nested in different orders. Everything in them has a known owner, but for the kinds of ``UNKNOWN``.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

import trio

from structsync import (
    Buffer,
    CapacityLimiter,
    DeadlockError,
    Latch,
    Lock,
    Monitor,
    ResourcePool,
    RWLock,
    Semaphore,
    Synchronizer,
    TaskPool,
    acquire_all,
    acquire_any,
    deadlock_guard,
    open_pool,
)

from .crossing import make_item

BLOCKS = ("lock", "lock", "lock", "lock", "read", "write", "permit", "permits", "token", "entry")
JOBS = ("run", "map", "ready", "submit")
RULES = ("together", "together", "rule")
ITEMS = ("item", "hand")
KNOWN = (*BLOCKS, *ITEMS, *JOBS, *RULES)
GROUPS = ("all", "any", "any")
UNKNOWN = ("latch", "bare", "within", "request")


@dataclass(frozen=True, slots=True)
class Op:
    """One block, on one or two of the shared objects, with what is inside of it."""

    kind: str
    objects: tuple[int, ...]
    body: tuple[Op, ...] = ()


@dataclass(frozen=True, slots=True)
class Program:
    """What each task does."""

    tasks: tuple[tuple[Op, ...], ...]
    has_rule: bool = (
        False  # whether the rule of "together" holds throughout, and not in "rule" alone
    )

    @property
    def kinds(self) -> frozenset[str]:
        """Of which kinds its blocks are."""
        found: set[str] = set()
        left = [op for ops in self.tasks for op in ops]
        while left:
            op = left.pop()
            found.add(op.kind)
            left += op.body
        return frozenset(found)

    @property
    def owners_are_known(self) -> bool:
        """Whether its waiters wait for a known owner, without a deadline."""
        return self.kinds.isdisjoint(UNKNOWN)


def draw(rng: random.Random) -> Program:
    """Draw two or three tasks over two objects of each kind; few kinds, so that they meet."""
    first = rng.choice((BLOCKS, BLOCKS, BLOCKS, ITEMS, JOBS, RULES))
    kinds = [*rng.sample(first, min(len(first), rng.choice((1, 1, 2))))]
    if first[0] not in BLOCKS:  # by itself none of these holds what another one needs
        kinds.append(rng.choice(BLOCKS))
    if rng.random() < 0.35:
        kinds.append(rng.choice(GROUPS))
    if rng.random() < 0.25:
        kinds.append(rng.choice(UNKNOWN))
    tasks = rng.choice((2, 2, 3))
    has_rule = "together" in kinds and rng.random() < 0.6
    ops = tuple(_ops(rng, kinds, depth=rng.choice((2, 2, 3))) for _ in range(tasks))
    return Program(ops, has_rule)


def _ops(rng: random.Random, kinds: Sequence[str], depth: int) -> tuple[Op, ...]:
    if not depth:
        return ()
    kind = rng.choice(kinds)
    return (Op(kind, tuple(rng.sample(range(2), 2)), _ops(rng, kinds, depth - 1)),)


async def call(body: Callable[[], Awaitable[object]]) -> None:
    """What an entry does whose calls start together."""
    await body()


class Shared:
    """Two objects of each kind."""

    def __init__(self) -> None:
        self.locks = [Lock(), Lock()]
        self.rwlocks = [RWLock(), RWLock(policy="phase")]
        self.semaphores = [Semaphore(1, max_value=1), Semaphore(2, max_value=2)]
        self.limiters = [CapacityLimiter(1), CapacityLimiter(2)]
        self.monitors = [Monitor(), Monitor()]
        self.latches = [Latch(1), Latch(1)]
        self.items = [ResourcePool(make_item, 1), ResourcePool(make_item, 2)]
        self.buffers = [Buffer[int](1), Buffer[int](2)]
        for number, buffer in enumerate(self.buffers):
            buffer.put_nowait(0)
            if number:
                buffer.put_nowait(1)
        self.meetings = [Monitor().entry(call), Monitor().entry(call)]
        self.pools: list[TaskPool] = []
        self.partners: trio.Nursery | None = None
        # Of each meeting: the tasks whose calls have not started, and how many make the other call for them.
        self.callers: list[set[object]] = [set(), set()]
        self.partners_of = [0, 0]
        self.rules = 0  # that hold now
        self.spoken: list[object] = []

    async def in_job(self, ops: Sequence[Op]) -> None:
        """What a job does: where the guard raises in it, it ends there."""
        try:
            for op in ops:
                await _run(self, op)
        except DeadlockError:
            self.spoken.append("raised")
        except (RuntimeError, trio.ClosedResourceError):
            # The same lock twice; a job that would wait for its own pool, and what it leaves behind may
            # come to a pool that has ended. No matter here.
            pass

    async def run_jobs(self, kind: str, pool: TaskPool, ops: Sequence[Op]) -> None:
        """Have the blocks run in jobs, and wait for these."""
        if kind == "run":
            await pool.run(self.in_job, ops)
        elif kind == "submit":
            job = await pool.submit(self.in_job, ops)
            await job.wait()
        else:
            async for _ in pool.map(self.in_job, [ops, ()], ordered=kind == "map"):
                pass

    async def together(self, number: int, body: Callable[[], Any]) -> None:
        """Call an entry; while there is a rule, the other one is called for it as well."""
        task, callers = trio.lowlevel.current_task(), self.callers[number]

        async def starts() -> None:
            callers.discard(task)
            await body()

        callers.add(task)
        self.call_partners()
        try:
            await self.meetings[number](starts)
        finally:
            callers.discard(task)

    def call_partners(self) -> None:
        """While there is a rule, have a task call for each whose call has not started.

        If each had one call made for it, once, too few could be left: a call starts alone before the rule,
        and its partner, which is late, then starts with the partner of another one. That one would wait
        for a call that no task makes: no cycle, and no task owes it, so no guard could know that.
        """
        assert self.partners is not None
        for number, callers in enumerate(self.callers):
            while self.rules and self.partners_of[number] < len(callers):
                self.partners_of[number] += 1
                self.partners.start_soon(self.be_partner, number)

    async def be_partner(self, number: int) -> None:
        """Make the other call, and see who is left when it has ended."""
        await self.meetings[1 - number](trio.lowlevel.checkpoint)
        self.partners_of[number] -= 1
        self.call_partners()


async def _run(shared: Shared, op: Op) -> None:
    first, second = op.objects

    async def inside() -> None:
        for inner in op.body:
            await _run(shared, inner)

    if op.kind == "entry":
        await shared.monitors[first].entry(inside)()
        return
    if op.kind in JOBS:
        await shared.run_jobs(op.kind, shared.pools[first], op.body)
        return
    if op.kind == "together":
        await shared.together(first, inside)
        return
    if op.kind == "latch":
        await inside()
        with contextlib.suppress(ValueError):  # it is down already
            shared.latches[first].count_down()
        await shared.latches[second].wait()
        return
    if op.kind == "bare":  # handed over: the one who acquired it is not the one who holds it
        await shared.semaphores[first].acquire()
        try:
            await inside()
        finally:
            shared.semaphores[first].release()
        return
    if op.kind == "within":
        with trio.move_on_after(1):
            async with shared.locks[first]:
                await inside()
        return
    if op.kind == "request":
        with shared.locks[first].request() as request:
            await request.wait()
            await inside()
        return
    async with _block(shared, op.kind, first, second):
        await inside()


def _block(shared: Shared, kind: str, first: int, second: int) -> Any:
    locks, semaphores = shared.locks, shared.semaphores
    blocks: dict[str, Callable[[], Any]] = {
        "lock": lambda: locks[first],
        "read": lambda: shared.rwlocks[first].reading(),
        "write": lambda: shared.rwlocks[first].writing(),
        "permit": lambda: semaphores[first],
        "permits": lambda: semaphores[1].permits(1 + first),
        "token": lambda: shared.limiters[first],
        "item": lambda: shared.items[first].item(),
        "hand": lambda: _in_hand(shared.buffers[first]),
        "rule": lambda: _rule(shared),
        "all": lambda: acquire_all(locks[first].claim(), semaphores[second].claim()),
        "any": lambda: acquire_any(locks[first].claim(), semaphores[second].claim()),
    }
    return blocks[kind]()


@contextlib.asynccontextmanager
async def _in_hand(buffer: Buffer[int]) -> AsyncIterator[None]:
    """Have an item in hand, which is back after that."""
    item = buffer.item()
    await item.__aenter__()
    try:
        yield
    finally:
        await item.__aexit__(RuntimeError, RuntimeError(), None)


@contextlib.asynccontextmanager
async def _rule(shared: Shared) -> AsyncIterator[None]:
    """That calls of the two entries start together."""
    async with Synchronizer() as synchronizer:
        synchronizer.atomic(*shared.meetings)
        shared.rules += 1
        shared.call_partners()
        try:
            yield
        finally:
            shared.rules -= 1


def under_guard(program: Program, raises: bool) -> Callable[[object], Any]:
    """Return a test function that runs the program under a guard and returns how often that spoke.

    With ``raises`` the tasks in which it speaks end there; else they go on waiting.
    """
    kinds = program.kinds

    async def test(_: object) -> str:
        shared = Shared()
        async with contextlib.AsyncExitStack() as stack:
            stack.enter_context(deadlock_guard("raise" if raises else shared.spoken.append))
            if not kinds.isdisjoint(JOBS):
                shared.pools += [await stack.enter_async_context(open_pool(n)) for n in (1, 2)]
            if program.has_rule or not kinds.isdisjoint(RULES):
                shared.partners = await stack.enter_async_context(trio.open_nursery())
            if program.has_rule:
                await stack.enter_async_context(_rule(shared))
            async with trio.open_nursery() as nursery:
                for ops in program.tasks:
                    nursery.start_soon(shared.in_job, ops)
            if shared.partners is not None:  # those whose caller was let go without them
                shared.partners.cancel_scope.cancel()
        return "finished, and the guard spoke" if shared.spoken else "finished"

    return test

"""Random programs of nested blocks, as data; and a function that runs one under a guard.

Most deadlock under some schedules and finish under others, because the blocks of different tasks are
nested in different orders. Everything in them has a known owner, but for the kinds of ``UNKNOWN``.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import trio

from structsync import (
    CapacityLimiter,
    DeadlockError,
    Latch,
    Lock,
    Monitor,
    RWLock,
    Semaphore,
    acquire_all,
    acquire_any,
    deadlock_guard,
)

KNOWN = ("lock", "lock", "lock", "lock", "read", "write", "permit", "permits", "token", "entry")
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

    @property
    def owners_are_known(self) -> bool:
        """Whether whoever waits in it waits for a known owner, without a deadline."""
        left = [op for ops in self.tasks for op in ops]
        while left:
            op = left.pop()
            if op.kind in UNKNOWN:
                return False
            left += op.body
        return True


def draw(rng: random.Random) -> Program:
    """Draw two or three tasks over two objects of each kind; few kinds, so that they meet."""
    kinds = [*rng.sample(KNOWN, rng.choice((1, 1, 2)))]
    if rng.random() < 0.35:
        kinds.append(rng.choice(GROUPS))
    if rng.random() < 0.25:
        kinds.append(rng.choice(UNKNOWN))
    tasks = rng.choice((2, 2, 3))
    return Program(tuple(_ops(rng, kinds, depth=rng.choice((2, 2, 3))) for _ in range(tasks)))


def _ops(rng: random.Random, kinds: Sequence[str], depth: int) -> tuple[Op, ...]:
    if not depth:
        return ()
    kind = rng.choice(kinds)
    return (Op(kind, tuple(rng.sample(range(2), 2)), _ops(rng, kinds, depth - 1)),)


class Shared:
    """Two objects of each kind."""

    def __init__(self) -> None:
        self.locks = [Lock(), Lock()]
        self.rwlocks = [RWLock(), RWLock(policy="phase")]
        self.semaphores = [Semaphore(1, max_value=1), Semaphore(2, max_value=2)]
        self.limiters = [CapacityLimiter(1), CapacityLimiter(2)]
        self.monitors = [Monitor(), Monitor()]
        self.latches = [Latch(1), Latch(1)]


async def _run(shared: Shared, op: Op) -> None:
    first, second = op.objects

    async def inside() -> None:
        for inner in op.body:
            await _run(shared, inner)

    if op.kind == "entry":
        await shared.monitors[first].entry(inside)()
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
        "all": lambda: acquire_all(locks[first].claim(), semaphores[second].claim()),
        "any": lambda: acquire_any(locks[first].claim(), semaphores[second].claim()),
    }
    return blocks[kind]()


def under_guard(program: Program, raises: bool) -> Callable[[object], Any]:
    """Return a test function that runs the program under a guard and returns how often that spoke.

    With ``raises`` the tasks in which it speaks end there; else they go on waiting.
    """

    async def test(_: object) -> str:
        shared = Shared()
        spoken: list[object] = []

        async def task(ops: tuple[Op, ...]) -> None:
            try:
                for op in ops:
                    await _run(shared, op)
            except DeadlockError:
                spoken.append("raised")
            except RuntimeError:  # the same lock twice: no matter here
                pass

        with deadlock_guard("raise" if raises else spoken.append):
            async with trio.open_nursery() as nursery:
                for ops in program.tasks:
                    nursery.start_soon(task, ops)
        return "finished, and the guard spoke" if spoken else "finished"

    return test

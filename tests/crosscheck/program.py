"""A small random program as data: it can be compared, and shrunk."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from . import frames, objects, scopes, waits

#: Places for values, in groups of like ones.
PLACES = (
    frames.LOCALS,
    frames.STACK,
    frames.SUSPENDED,
    objects.HEAP,
    objects.ITERATORS,
    objects.LIKENESSES,
    objects.CONTAINERS,
)
DEEDS = (frames.FORGETTING, waits.TRIO, waits.STRUCTSYNC, scopes.SCOPES, scopes.NURSERIES)

CONSTRUCTS = {
    kind: textwrap.dedent(template).strip()
    for group in (*PLACES, *DEEDS)
    for kind, template in group.items()
}


@dataclass(frozen=True, slots=True)
class Op:
    """One construct: which, on which shared int, with which constant, pause and content."""

    kind: str
    x: str = "a"
    k: int = 1
    pause: int = 0
    body: tuple[Op, ...] = ()


@dataclass(frozen=True, slots=True)
class Worker:
    """A task, or several that are alike; ``numbered`` ones know which of them they are."""

    ops: tuple[Op, ...]
    copies: int = 1
    numbered: bool = False


@dataclass(frozen=True, slots=True)
class Program:
    """Workers in one nursery, and what the main task does in it meanwhile."""

    workers: tuple[Worker, ...]
    main: tuple[Op, ...] = ()
    capacity: int = 1

    def ops(self) -> Iterator[Op]:
        """Every construct, also the inner ones."""
        left = [*self.main, *(op for worker in self.workers for op in worker.ops)]
        while left:
            op = left.pop()
            left.extend(op.body)
            yield op

    @property
    def symmetric(self) -> bool:
        """Whether some of its tasks are alike."""
        return any(worker.copies > 1 for worker in self.workers)


def lengths(program: Program) -> list[int]:
    """How many steps each task takes at most, the main task first; a loop counts once."""
    found = [2]

    def walk(ops: Iterable[Op], task: int) -> None:
        for op in ops:
            template = CONSTRUCTS[op.kind]
            found[task] += len(re.findall(r"\bawait\b|async with|async for|\$pause", template))
            inner = task
            if "start_soon" in template or "nursery.start(" in template:
                inner = len(found)
                found.append(1)
            walk(op.body, inner)

    walk(program.main, 0)
    for worker in program.workers:
        for _ in range(worker.copies):
            found.append(1)
            walk(worker.ops, len(found) - 1)
    return found


def schedules(program: Program, cancels: int, early: bool) -> int:
    """About how many schedules it has: enough to keep programs small, not a promise."""
    main, *steps = lengths(program)
    if program.main:
        steps.append(main)  # otherwise it only begins before the others and ends after them
    orders = math.factorial(sum(steps)) // math.prod(map(math.factorial, steps))
    kinds = [op.kind for op in program.ops()]
    scopes = 1 + sum("CancelScope" in CONSTRUCTS[kind] for kind in kinds)
    deadlines = sum("trio.sleep" in CONSTRUCTS[kind] or kind == "move on" for kind in kinds)
    injected = (scopes * sum(steps) // 2) ** cancels
    return int(orders * max(1, injected) * (3 if early else 1) ** deadlines)

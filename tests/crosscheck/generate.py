"""Draws random programs with settings to explore them by, and shrinks those that matter."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from structsync.testing import Settings

from . import frames, objects, scopes, waits
from .program import CONSTRUCTS, PLACES, Op, Program, Worker, schedules
from .source import SHARED, mentioned

#: What belongs together: a wait is of no interest where no task wakes.
_FAMILIES = [
    [kind for kind in waits.TRIO | waits.STRUCTSYNC if name in mentioned(SHARED, CONSTRUCTS[kind])]
    for name in SHARED
]
_FAMILIES = [family for family in _FAMILIES if 1 < len(family) < 12]


@dataclass(frozen=True, slots=True)
class Case:
    """A program and how it is explored."""

    program: Program
    settings: Settings


def draw_case(rng: random.Random, limit: int, about: Sequence[str] = ()) -> Case:
    """Draw a program that has about ``limit`` schedules at most under the settings drawn.

    ``about`` names constructs that it is to be made of.
    """
    settings = Settings(
        cancels=rng.choice((0, 0, 1, 1, 2)),
        cancel=rng.choice(("scopes", "tasks")),
        order=rng.choice(("any", "any", "trio")),
        clock=rng.choice(("autojump", "autojump", "explore")),
        symmetry=False,
    )
    program = draw_program(rng, draw_palette(rng, about))
    while schedules(program, settings.cancels, settings.clock == "explore") > limit:
        program = cut(program)
        if not program.main and all(len(worker.ops) <= 1 for worker in program.workers):
            settings = replace(settings, cancels=max(0, settings.cancels - 1))
    return Case(program, settings)


def draw_program(rng: random.Random, palette: list[str]) -> Program:
    """Draw a program that is made of these constructs."""
    tasks = rng.choice((2, 2, 2, 3, 3, 4))
    numbered = rng.random() < 0.2
    workers = [Worker(draw_ops(rng, palette, 3)) for _ in range(tasks)]
    if rng.random() < 0.4:
        workers = [Worker(draw_ops(rng, palette, 3), tasks, numbered)]
    if tasks < 4 and (len(workers) == 1 or rng.random() < 0.4):
        workers.append(Worker((draw_op(rng, ["blink"], 0), *draw_ops(rng, palette, 2)[1:])))
    main = draw_ops(rng, palette, 2) if rng.random() < 0.2 else ()
    return Program(tuple(workers), main, rng.choice((0, 1)))


def draw_palette(rng: random.Random, about: Sequence[str]) -> list[str]:
    """Draw the constructs of a program: few, so that they meet."""
    if about:
        return [*about, rng.choice(["blink", "forget", "perhaps"])]
    palette = draw_places(rng) if rng.random() < 0.7 else []
    if not palette or rng.random() < 0.3:
        palette += rng.choice(_FAMILIES)
    if rng.random() < 0.2:
        group = rng.choice((scopes.SCOPES, scopes.NURSERIES))
        palette += rng.sample([*group], rng.choice((1, 2)))
    if rng.random() < 0.5:
        palette.append(rng.choice([*frames.FORGETTING]))
    return palette


def draw_places(rng: random.Random) -> list[str]:
    """Draw one to three places for values; likenesses together with those next to them."""
    group = [*rng.choice(PLACES)]
    if group == [*objects.LIKENESSES]:
        first = rng.randrange(len(group) - 2)
        return group[first : first + 3]
    if group == [*objects.CONTAINERS]:
        return rng.sample(group, 2)
    return [rng.choice([*rng.choice(PLACES)]) for _ in range(rng.choice((1, 1, 2)))]


def draw_ops(rng: random.Random, palette: list[str], most: int, depth: int = 2) -> tuple[Op, ...]:
    """Draw one to ``most`` constructs."""
    return tuple(draw_op(rng, palette, depth) for _ in range(rng.randint(1, most)))


def draw_op(rng: random.Random, palette: list[str], depth: int) -> Op:
    """Draw one construct; inside the innermost are none that have a body."""
    kinds = [kind for kind in palette if depth or "$body" not in CONSTRUCTS[kind]]
    kind = rng.choice(kinds or ["local"])
    has_body = "$body" in CONSTRUCTS[kind]
    return Op(
        kind,
        x=rng.choice("aaab"),
        k=rng.choice((0, 1, 2)),
        pause=rng.choice(range(len(waits.PAUSES))),
        body=draw_ops(rng, palette, 2, depth - 1) if has_body else (),
    )


# ==== smaller programs ====


def cut(program: Program) -> Program:
    """The program with a little less in it: the last construct or copy of its largest part."""
    if program.main:
        return replace(program, main=program.main[:-1])
    workers = list(program.workers)
    largest = max(range(len(workers)), key=lambda i: (len(workers[i].ops), workers[i].copies))
    worker = workers[largest]
    if len(worker.ops) > 1:
        workers[largest] = replace(worker, ops=worker.ops[:-1])
    elif worker.copies > 2:
        workers[largest] = replace(worker, copies=worker.copies - 1)
    elif len(workers) > 2 or (len(workers) > 1 and worker.copies > 1):
        del workers[largest]
    else:
        workers[largest] = replace(worker, ops=smaller_body(worker.ops[0]))
    return replace(program, workers=tuple(workers))


def smaller_body(op: Op) -> tuple[Op, ...]:
    """What is left of a construct that has to become smaller."""
    return op.body[:1]


def smaller(program: Program) -> Iterator[Program]:
    """Programs one step simpler, the boldest steps first."""
    for main in smaller_ops(program.main):
        yield replace(program, main=main)
    for index, worker in enumerate(program.workers):
        before, after = program.workers[:index], program.workers[index + 1 :]
        if len(program.workers) > 1:
            yield replace(program, workers=(*before, *after))
        for simpler in smaller_workers(worker):
            yield replace(program, workers=(*before, simpler, *after))
    if program.capacity:
        yield replace(program, capacity=0)


def smaller_workers(worker: Worker) -> Iterator[Worker]:
    """A worker one step simpler."""
    if worker.copies > 1:
        yield replace(worker, copies=worker.copies - 1)
    if worker.numbered:
        yield replace(worker, numbered=False)
    for ops in smaller_ops(worker.ops):
        yield replace(worker, ops=ops)


def smaller_ops(ops: tuple[Op, ...]) -> Iterator[tuple[Op, ...]]:
    """Some constructs, one step simpler: one left out, replaced by its content, or made plainer."""
    for index, op in enumerate(ops):
        before, after = ops[:index], ops[index + 1 :]
        yield (*before, *after)
        if op.body:
            yield (*before, *op.body, *after)
            for body in smaller_ops(op.body):
                yield (*before, replace(op, body=body), *after)
        for plainer in (replace(op, x="a"), replace(op, k=0), replace(op, pause=0)):
            if plainer != op:
                yield (*before, plainer, *after)

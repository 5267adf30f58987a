"""What an operation costs as more tasks, callers, objects, workers or sessions take part; beside peers.

Each point is the CPU time of one operation divided by that of a checkpoint of trio's in the same round,
so that a curve of one machine can be laid beside that of another.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from time import thread_time
from typing import Any, TypeAlias

import trio

from . import primary, shapes
from ._measure import Effort

#: Returns the seconds of one operation among so many.
Subject: TypeAlias = Callable[[int], float]


@dataclass(frozen=True, slots=True)
class Curve:
    """One picture: a cost over a number, for one subject or several."""

    name: str
    title: str
    across: str
    sizes: tuple[int, ...]
    subjects: Mapping[str, Subject]


@dataclass(frozen=True, slots=True)
class Drawn:
    """What the rounds gave: for each subject the median of each size, and the middle half."""

    curve: Curve
    points: Mapping[str, list[tuple[int, float, float, float]]]

    def document(self) -> dict[str, Any]:
        """Return it ready for JSON."""
        head = {"name": self.curve.name, "title": self.curve.title, "across": self.curve.across}
        return {**head, "unit": "checkpoints of trio", "points": dict(self.points)}


def curves(effort: Effort) -> list[Curve]:
    """Return all pictures; those of a smoke test have two sizes."""

    def few(*sizes: int) -> tuple[int, ...]:
        return sizes[: effort.of(len(sizes), 2)]

    times = effort.of(2_000, 40)
    return [
        Curve(
            "waiters",
            "Handing on a semaphore that tasks wait for",
            "tasks that wait",
            few(2, 10, 100, 1_000),
            {name: partial(how, times) for name, how in shapes.hand_offs().items()},
        ),
        Curve(
            "blocked",
            "A guarded call, while callers of another entry are blocked",
            "blocked callers",
            few(1, 10, 100, 1_000, 10_000),
            {"structsync": partial(shapes.guarded_call, times)},
        ),
        Curve(
            "objects",
            "Taking several locks",
            "locks",
            few(1, 2, 5, 10, 20),
            {name: partial(how, times) for name, how in shapes.CLAIMS.items()},
        ),
        Curve(
            "workers",
            "A short job",
            "workers",
            few(1, 4, 16, 64),
            {name: partial(how, times) for name, how in shapes.JOBS.items()},
        ),
        Curve(
            "sessions",
            "Handing on a lock between sessions of one process (memory://)",
            "sessions",
            few(1, 2, 4, 8),
            {"structsync": partial(shapes.between_sessions, effort.of(100, 4))},
        ),
        *(
            Curve(
                f"primary-{across.rpartition(' ')[2]}",
                f"An acquire and release of a shared lock, among {across.rpartition(' ')[2]}",
                across,
                few(1, 10, 100) if how is primary.among_sessions else few(1, 10, 100, 1_000),
                {
                    name: partial(shape, effort.of(300, 4))
                    for name, shape in primary.shapes(how).items()
                },
            )
            for across, how in (
                ("held names", primary.among_names),
                ("sessions", primary.among_sessions),
                ("waiters", primary.among_waiters),
            )
        ),
    ]


def draw(curve: Curve, effort: Effort) -> Drawn:
    """Measure all points once in each round, so that each of them meets each mood of the machine."""
    rounds: list[dict[tuple[str, int], float]] = []
    for _ in range(effort.rounds):
        checkpoint = trio.run(_checkpoint, effort.of(2_000, 100))
        rounds.append(
            {
                (name, size): subject(size) / checkpoint
                for size in curve.sizes
                for name, subject in curve.subjects.items()
            }
        )
    points = {
        name: [(size, *_middle([one[name, size] for one in rounds])) for size in curve.sizes]
        for name in curve.subjects
    }
    return Drawn(curve, points)


def _middle(values: list[float]) -> tuple[float, float, float]:
    ordered, cut = sorted(values), len(values) // 4
    return statistics.median(ordered), ordered[cut], ordered[-1 - cut]


async def _checkpoint(times: int) -> float:
    began = thread_time()
    for _ in range(times):
        await trio.lowlevel.checkpoint()
    return (thread_time() - began) / times

"""Without observers: the package against a copy of it that has no hooks for observers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from types import ModuleType
from typing import Any

import trio

from . import _copies
from ._measure import Case, Effort, ratio
from .contended import handoffs
from .uncontended import entries

Make = Callable[[], Any]


def cases(effort: Effort) -> Iterator[Case]:
    times, turns = effort.of(1_280, 128), effort.of(200, 10)
    kinds: list[tuple[str, Callable[[ModuleType], Make]]] = [
        ("Semaphore", lambda package: partial(package.Semaphore, 1)),
        ("Lock", lambda package: package.Lock),
    ]
    for kind, find in kinds:
        yield Case(f"{kind}, uncontended", partial(_sample, find, (entries,), (times,)))
        yield Case(f"{kind}, 10 tasks", partial(_sample, find, (handoffs,), (10, turns)))


def _sample(
    find: Callable[[ModuleType], Make],
    work: tuple[Callable[..., Any]],
    sizes: tuple[int, ...],
) -> float:
    # Fresh copies in each round: where code happens to lie in memory weighs a few percent too.
    makes = find(_copies.with_hooks()), find(_copies.without_hooks())
    subject, reference = (partial(trio.run, *work, make, *sizes) for make in makes)
    return ratio(subject, reference, pairs=8)

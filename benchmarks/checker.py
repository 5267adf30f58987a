"""Transitions per second of the model checker, on the semaphore spec that ships."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from time import thread_time

from structsync.checking import Spec, check
from structsync.checking._load import shipped_specs

from ._measure import Case, Effort


def cases(effort: Effort) -> Iterator[Case]:
    specs = shipped_specs().specs
    for name in sorted(name for name in specs if name.startswith("semaphore.")):
        yield Case(name, partial(_rate, specs[name], effort.of(20_000, 200)))


def _rate(spec: type[Spec], max_states: int) -> float:
    began = thread_time()
    transitions = check(spec, max_states=max_states).transitions
    return transitions / (thread_time() - began)

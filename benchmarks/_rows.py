"""The rows of the table: what is measured, and the target it is compared with."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from . import (
    cancelled,
    checker,
    contended,
    coordination,
    explorer,
    groups,
    long_queues,
    memory,
    monitors,
    observers,
    uncontended,
)
from ._measure import Case, Effort


@dataclass(frozen=True, slots=True)
class AtMost:
    """A ratio that should not be larger."""

    limit: float

    def met(self, figure: float) -> bool:
        return figure <= self.limit

    def __str__(self) -> str:
        return f"<= {self.limit:.2f}"


@dataclass(frozen=True, slots=True)
class AtLeast:
    """A rate per second that should not be smaller."""

    limit: float

    def met(self, figure: float) -> bool:
        return figure >= self.limit

    def __str__(self) -> str:
        return f">= {self.limit:,.0f}/s"


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the cost targets."""

    name: str
    what: str
    target: AtMost | AtLeast | None
    cases: Callable[[Effort], Iterable[Case]]


ROWS = (
    Row("control", "the same code twice: noise", None, uncontended.control_cases),
    Row("contended", "handoff / floor", AtMost(1.25), contended.cases),
    Row("uncontended", "async with / trio's", AtMost(1.0), uncontended.cases),
    Row("budget", "async with, budget / trio's", AtMost(0.22), uncontended.budget_cases),
    Row("core", "100,000 in the queue / 1,000 in the queue", AtMost(1.3), long_queues.cases),
    Row("cancelled", "park and cancel / trio's", AtMost(1.0), cancelled.cases),
    Row("memory", "bytes per parked task / trio's", AtMost(1.05), memory.cases),
    Row("monitor", "entry / async with Lock", AtMost(1.3), monitors.entry_cases),
    Row("guards", "10,000 blocked / none", AtMost(1.3), monitors.blocked_cases),
    Row("coordination", "a call / under a Lock", None, coordination.cases),
    Row("atomic", "together / without a rule", None, coordination.atomic_cases),
    Row("synchronizer", "many disabled / none", AtMost(1.3), monitors.disabled_cases),
    Row("observers", "unused / without the hook", AtMost(1.03), observers.cases),
    Row("groups", "acquire_all / nested async with", None, groups.cases),
    Row("checker", "transitions of the model checker", AtLeast(50_000), checker.cases),
    Row("explorer", "schedules", AtLeast(6_000), explorer.rate_cases),
    Row("explorer", "a schedule / a plain trio.run", None, explorer.floor_cases),
    Row("explorer", "CPU seconds until all is seen", AtMost(2.0), explorer.completion_cases),
    Row("explorer", "states per second", None, explorer.state_cases),
    Row("explorer", "fingerprints / whole search", None, explorer.fingerprint_cases),
    Row("explorer", "bytes per state", None, explorer.memory_cases),
)

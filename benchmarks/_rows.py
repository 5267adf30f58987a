"""The rows of the table: what is measured, and the target it is compared with."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

from . import (
    buffers,
    calls,
    cancelled,
    checker,
    contended,
    contests,
    coordination,
    explorer,
    groups,
    growth,
    growth_of_rules,
    guard,
    inspector,
    long_queues,
    mechanisms,
    memory,
    monitors,
    observers,
    observing,
    pools,
    products,
    searches,
    servers,
    threads,
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
        return f"<= {self.limit:g}" if self.limit >= 10 else f"<= {self.limit:.3f}"


@dataclass(frozen=True, slots=True)
class AtLeast:
    """A rate per second, or an index, that should not be smaller."""

    limit: float
    is_rate: bool = True

    def met(self, figure: float) -> bool:
        return figure >= self.limit

    def __str__(self) -> str:
        return f">= {self.limit:,.0f}/s" if self.is_rate else f">= {self.limit:.3f}"


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the cost targets."""

    name: str
    what: str
    target: AtMost | AtLeast | None
    cases: Callable[[Effort], Iterable[Case]]


ASYNC_WITH = "async with / trio's"
BUDGET = "async with, budget / trio's"
LENGTHS = "100,000 in the queue / 1,000 in the queue"
GROWTH = "each of 8,000 / of 1,000"

ROWS = (
    Row("control", "the same code twice: noise", None, uncontended.control_cases),
    Row("contended", "Semaphore handoff / floor", AtMost(1.22), contended.semaphore_cases),
    Row("contended", "Lock handoff / floor", AtMost(1.3), contended.lock_cases),
    Row("contended", "handoff / trio's", AtMost(0.91), contended.trio_cases),
    Row("uncontended", ASYNC_WITH, AtMost(1.03), partial(uncontended.cases, "Semaphore")),
    Row("uncontended", ASYNC_WITH, AtMost(0.97), partial(uncontended.cases, "Lock")),
    Row("uncontended", ASYNC_WITH, AtMost(1.0), partial(uncontended.cases, "CapacityLimiter")),
    Row("budget", BUDGET, AtMost(0.235), partial(uncontended.budget_cases, "Semaphore")),
    Row("budget", BUDGET, AtMost(0.265), partial(uncontended.budget_cases, "Lock")),
    Row("core", LENGTHS, AtMost(1.3), long_queues.cases),
    Row("core", LENGTHS, AtMost(2.0), long_queues.anywhere_cases),
    # log 100,000 / log 1,000 is 1.67, and the memory that no cache holds costs a bare linked list 2.3 times as much.
    Row("core", f"{LENGTHS}, n log n", AtMost(3.8), long_queues.own_level_cases),
    Row("cancelled", "park and cancel / trio's", AtMost(1.0), cancelled.cases),
    Row("memory", "bytes per parked task / trio's", AtMost(1.05), memory.cases),
    Row("memory", "bytes per waiter above an idle task", AtMost(100), memory.waiter_cases),
    Row("monitor", "entry / async with Lock", AtMost(1.3), monitors.entry_cases),
    Row("guards", "10,000 blocked / none", AtMost(1.3), monitors.blocked_cases),
    Row("coordination", "a call / under a Lock", None, coordination.cases),
    Row("atomic", "together / without a rule", None, coordination.atomic_cases),
    Row("synchronizer", "many disabled / none", AtMost(1.3), monitors.disabled_cases),
    Row("observers", "unused / without the hook", AtMost(1.03), observers.cases),
    Row("guard", "deadlock_guard() / without it", None, guard.cases),
    Row("observing", "counted or recorded / not", None, observing.cases),
    Row("inspector", "looked at once a second / not", AtMost(1.05), inspector.cases),
    Row("groups", "acquire_all / nested async with", None, groups.cases),
    Row("buffers", "put and get / trio's channel", AtMost(1.0), buffers.uncontended_cases),
    Row("buffers", "put and get / trio's channel", AtMost(1.0), buffers.contended_cases),
    Row("buffers", "in batches / one by one", AtMost(0.2), buffers.batch_cases),
    Row("pools", "a job / a child task under a limiter", AtMost(1.0), pools.dispatch_cases),
    Row("pools", "each job in a long queue / a short one", AtMost(1.3), pools.length_cases),
    Row("threads", "hold(semaphore)", None, threads.semaphore_cases),
    Row("threads", "put and get", None, threads.queue_cases),
    Row("threads", "wait and notify", None, threads.condition_cases),
    Row("server", "uncontended acquire / one call", AtMost(1.3), servers.acquire_cases),
    Row("server", "hand-off between processes / one call", None, servers.hand_off_cases),
    Row("server", "a call of an object / the same by hand", None, calls.cases),
    Row("contest", "acquire, no other task: us", AtMost(60), contests.acquire_cases),
    Row("contest", "8 processes, 10 ms each: hand-off, ms", None, contests.hand_off_cases),
    Row("contest", "the same: Jain's index", AtLeast(0.95, False), contests.fairness_cases),
    Row("contest", "the same: hand-off / the fair peer's", AtMost(1.3), contests.peer_cases),
    Row("contest", "32 processes: client CPU", AtMost(2.0), contests.cpu_cases),
    Row("contest", "32 processes, 10 ms: longest step, ms", AtMost(20), contests.blocked_cases),
    Row("growth", f"eligible: one release, {GROWTH}", AtMost(2.0), growth.release_cases),
    Row("growth", f"exits with lock requests, {GROWTH}", AtMost(2.0), growth.exit_cases),
    Row("growth", f"a group over n semaphores, {GROWTH}", AtMost(2.0), growth.group_cases),
    Row("growth", f"closing under n groups, {GROWTH}", AtMost(2.0), growth.close_cases),
    Row("growth", f"a buffer's ends and items, {GROWTH}", AtMost(2.0), growth.buffer_cases),
    Row("growth", f"guards that raise, {GROWTH}", AtMost(2.0), growth_of_rules.guard_cases),
    Row("growth", f"triggers, n monitors, {GROWTH}", AtMost(2.0), growth_of_rules.trigger_cases),
    Row("growth", f"calls of other processes, {GROWTH}", AtMost(2.0), growth_of_rules.start_cases),
    Row("products", "Mattos 2021, tables 1 to 4", None, products.cases),
    Row("searches", "Mattos 2021, table 5: async / sync", None, searches.cases),
    Row(
        "mechanisms", "Silvestre 2009, table 3.1: a call / plain", None, mechanisms.mechanism_cases
    ),
    Row("mechanisms", "Silvestre 2009, table 3.2", None, mechanisms.overlap_cases),
    Row("checker", "transitions of the model checker", AtLeast(50_000), checker.cases),
    Row("checker", "CPU seconds for all specs, two cores", AtMost(60), checker.command_cases),
    Row("explorer", "schedules", AtLeast(6_000), explorer.rate_cases),
    Row("explorer", "a schedule / a plain trio.run", AtMost(1 / 1.2), explorer.floor_cases),
    Row("explorer", "CPU seconds until all is seen", AtMost(2.0), explorer.completion_cases),
    Row("explorer", "states per second", None, explorer.state_cases),
    Row("explorer", "executions per second, by states", None, explorer.execution_cases),
    Row("explorer", "fingerprints / whole search", None, explorer.fingerprint_cases),
    Row("explorer", "bytes per state", None, explorer.memory_cases),
)

"""A core that was put back into a state that it had: the model checker does that at each step."""

from __future__ import annotations

import pytest

from structsync._core.monitors.entry import EntryCore
from structsync._core.monitors.monitor import MonitorCore
from structsync._core.primitives.capacity_limiter import CapacityLimiterCore
from structsync._core.primitives.job_queue import JobQueueCore
from structsync._core.queue.request import Request


def test_a_restored_limiter_knows_who_borrows() -> None:
    core = CapacityLimiterCore(2)
    core.submit("a", 1)
    restored = CapacityLimiterCore(2)
    restored.restore(core.snapshot())
    assert [*restored.borrowers] == ["a"]
    assert restored.snapshot() == core.snapshot()


def test_a_restored_monitor_knows_who_is_urgent() -> None:
    core = MonitorCore()
    core.urgent.append(Request(EntryCore("a"), -1, "waiter"))
    restored = MonitorCore()
    restored.restore(core.snapshot())
    assert [request.waiter for request in restored.waiting()] == ["waiter"]
    assert restored.snapshot() == core.snapshot()


def test_a_restored_queue_of_jobs_knows_who_is_accepted() -> None:
    core = JobQueueCore(1, 1)
    for job in ("runs", "accepted", "held back", "held back behind it"):
        core.submit(job, waiter=job)
    restored = JobQueueCore(1, 1)
    restored.restore(core.snapshot())
    assert restored.accepted == 1
    assert [request.claim for request in restored.held_back.values()] == [
        "held back",
        "held back behind it",
    ]
    assert restored.snapshot() == core.snapshot()
    restored.release("runs")
    assert [request.claim for request in restored.take_newly_accepted()] == ["held back"]


def test_a_job_that_ends_without_one_that_runs_is_refused() -> None:
    with pytest.raises(RuntimeError, match="no job runs that could end"):
        JobQueueCore(1, 1).release("a job")

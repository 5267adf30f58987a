"""A core that was put back into a state that it had: the model checker does that at each step."""

from __future__ import annotations

from structsync._core.monitors.entry import EntryCore
from structsync._core.monitors.monitor import MonitorCore
from structsync._core.primitives.capacity_limiter import CapacityLimiterCore
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

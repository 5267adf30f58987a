"""Whether another task may be waiting for a task: if not, its wait closes no cycle, and nothing is followed.

A look costs as much as the chain of waits is long. Most tasks that wait hold nothing that another one wants, and
are not ahead of another one; that is checked first, and costs what the task itself has. In doubt the answer is yes.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable
from typing import Any

from trio.lowlevel import Task

from structsync._core.monitors.monitor import MonitorCore
from structsync._core.primitives.buffer import BufferCore
from structsync._core.primitives.capacity_limiter import CapacityLimiterCore
from structsync._core.primitives.condition import ConditionCore
from structsync._core.primitives.resource_pool import ResourcePoolCore
from structsync._core.queue.group import Claims
from structsync._runtime.live import Live
from structsync._runtime.ownership import owned_by
from structsync._runtime.watching import Wait
from structsync._runtime.workers import is_busy

from .needs import holders_of
from .per_primitive import PerPrimitive

#: So many primitives that do not belong to tasks have their holders looked up; if more are waited for, it is in doubt.
MOST_ASKED = 8

_NOT_OWNED = (CapacityLimiterCore, ResourcePoolCore, BufferCore)
_BY_CONDITIONS = (MonitorCore, ConditionCore)


class Dependents:
    """What is known of which tasks may be waited for."""

    def __init__(self) -> None:
        self._asked: PerPrimitive[None] = PerPrimitive()
        self._by_conditions = False
        self._in_blocks: dict[Task, int] = {}

    def parks(self, request: Wait) -> None:
        """Take note of what a task waits for."""
        group = request.group
        for one in group.members if isinstance(group, Claims) else (request,):
            core = one.primitive._core
            if isinstance(core, _NOT_OWNED):
                self._asked.to_write(one.primitive)
            elif isinstance(core, _BY_CONDITIONS):
                # A task cancelled in a condition parks for its lock or monitor, and does not report that.
                self._by_conditions = True

    def holds(self, task: Any, units: int) -> None:
        """Take note that a task holds so many permits more in blocks, or less."""
        held = self._in_blocks.get(task, 0) + units
        if held:
            self._in_blocks[task] = held
        else:
            del self._in_blocks[task]

    def may_have(self, task: Task, request: Wait) -> bool:
        """Return whether another task may be waiting for a task that is about to park for a request."""
        return (
            self._by_conditions
            or task in self._in_blocks
            or is_busy(task)
            or _is_ahead(request)
            or any(live._core.queue for live in owned_by(task))
            or self._is_asked_for(task)
        )

    def _is_asked_for(self, task: Hashable) -> bool:
        asked: Collection[Live[Any]] = [live for live, _ in self._asked.items() if live._core.queue]
        return len(asked) > MOST_ASKED or any(task in holders_of(live) for live in asked)


def _is_ahead(request: Wait) -> bool:
    """Return whether a task may be behind a group, which waits elsewhere, too: it did not come last.

    Those behind a plain request wait for the same holders. Groups stand only in queues that no task passes.
    """
    group = request.group
    if not isinstance(group, Claims):
        return False
    return any(one.ticket != one.arbiter.next_ticket - 1 for one in group.members)

"""The least that a handoff between tasks cost in trio when the targets were set. Frozen.

Tasks in a ring hand on a baton with ``wait_task_rescheduled`` and ``reschedule``, and pass one
checkpoint while they have it. Nothing is decided, and nothing can be cancelled safely: whatever
a primitive costs beyond this is the price of its decisions.

Frozen means: do not make it faster, and import nothing of structsync here. Each handoff allocates an
``outcome.Value``, as trio's plain ``reschedule(task)`` did then; it is spelled out, so that a trio that
stops allocating does not change it either. structsync itself hands a reusable outcome to
``reschedule``, which is part of how it meets its targets. A floor that took part in such a saving
would move the targets, and a ratio of today could no longer be compared with one of last year.
"""

from __future__ import annotations

from time import thread_time

import trio
from outcome import Value
from trio.lowlevel import Abort, Task, checkpoint, current_task, reschedule, wait_task_rescheduled
from trio.testing import wait_all_tasks_blocked


def _abort(_: object) -> Abort:
    return Abort.SUCCEEDED


async def handoffs(tasks: int, turns: int) -> float:
    """Return the seconds from the first handoff until the first task has had all its turns."""
    ring: dict[int, Task] = {}
    ended: list[float] = []

    async def member(place: int, scope: trio.CancelScope) -> None:
        ring[place] = current_task()
        after = (place + 1) % tasks
        for _ in range(turns):
            await wait_task_rescheduled(_abort)
            await checkpoint()
            reschedule(ring[after], Value(None))
        ended.append(thread_time())
        scope.cancel()

    async with trio.open_nursery() as nursery:
        for place in range(tasks):
            nursery.start_soon(member, place, nursery.cancel_scope)
        await wait_all_tasks_blocked()
        began = thread_time()
        reschedule(ring[0], Value(None))
    return ended[0] - began

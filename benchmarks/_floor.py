"""The least that a handoff between tasks can cost in trio.

Tasks in a ring hand on a baton with ``wait_task_rescheduled`` and ``reschedule``, and pass one
checkpoint while they have it. Nobody decides anything, and nothing can be cancelled safely: whatever
a primitive costs beyond this is the price of its decisions.
"""

from __future__ import annotations

from time import thread_time

import trio
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
            reschedule(ring[after])
        ended.append(thread_time())
        scope.cancel()

    async with trio.open_nursery() as nursery:
        for place in range(tasks):
            nursery.start_soon(member, place, nursery.cancel_scope)
        await wait_all_tasks_blocked()
        began = thread_time()
        reschedule(ring[0])
    return ended[0] - began

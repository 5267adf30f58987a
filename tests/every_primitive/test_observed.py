"""Under a guard against deadlocks, and looked at, every primitive does what it does."""

from __future__ import annotations

import trio
from trio.testing import wait_all_tasks_blocked

from structsync import DeadlockError, deadlock_guard, snapshot
from structsync._runtime import watching
from structsync.observing.show import text_of

from .attempt import waiting
from .kinds import Kind


async def test_a_waiter_under_a_guard_is_granted_or_cancelled(crowd: Kind) -> None:
    told: list[DeadlockError] = []
    primitive = crowd.make()
    with deadlock_guard(told.append):
        crowd.occupy(primitive)
        async with trio.open_nursery() as nursery:
            first = await waiting(crowd, primitive, nursery)
            second = await waiting(crowd, primitive, nursery)
            first.scope.cancel()
            await wait_all_tasks_blocked()
            crowd.free(primitive)
        assert watching.watchers, "it failed"
    assert (first.outcome, second.outcome) == ("cancelled", "granted")
    assert told == []


async def test_what_waits_can_be_looked_at(kind: Kind) -> None:
    primitive = kind.make()
    with deadlock_guard():
        kind.occupy(primitive)
        async with trio.open_nursery() as nursery:
            attempt = await waiting(kind, primitive, nursery)
            found = snapshot()
            tasks = [one.task for each in found.primitives for one in each.waiters]
            assert any(task is not None and task in nursery.child_tasks for task in tasks)
            assert text_of(found)
            attempt.scope.cancel()

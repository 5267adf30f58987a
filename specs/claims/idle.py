"""What may move to another run: whatever no task holds and no task waits for; and which task holds it, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from structsync import Arbiter
from structsync._core.monitors.entry import EntryCore, Guard, Invocation
from structsync._core.monitors.monitor import MonitorCore
from structsync._core.monitors.synchronizer import Rules, SynchronizerCore
from structsync._core.primitives.buffer import BufferCore
from structsync._core.primitives.capacity_limiter import CapacityLimiterCore
from structsync._core.primitives.job_queue import JobQueueCore
from structsync._core.primitives.lock import LockCore
from structsync._core.primitives.lock_map import LockMapCore
from structsync._core.primitives.resource_pool import ResourcePoolCore
from structsync._core.primitives.rwlock import READ, WRITE, Access, RWLockCore
from structsync._core.primitives.semaphore import SemaphoreCore
from structsync._core.primitives.sides import Lend, One
from structsync._core.queue.request import Request

READER, WRITER = Access(READ, 0), Access(WRITE, 0)

#: How each is made, what holds it, and what waits for it.
KINDS: list[tuple[Callable[[], Arbiter[Any]], object, object]] = [
    (lambda: CapacityLimiterCore(1), 0, 1),
    (LockCore, 0, 1),
    (lambda: SemaphoreCore(1, max_value=1), 1, 1),
    (lambda: ResourcePoolCore(1), 0, 1),
    (RWLockCore, READER, Access(WRITE, 1)),
    (RWLockCore, WRITER, Access(WRITE, 1)),
    (lambda: with_items("fifo"), Lend(), One()),
    (lambda: SemaphoreCore(1), None, 1),  # what is out of it is not known
]


def with_items(policy: str) -> BufferCore:
    """Return a buffer with an item."""
    core = BufferCore(1, policy=policy)
    core.items.put((0, "item") if policy == "priority" else "item")
    return core


def it_is_idle_while_no_task_holds_it_and_none_waits(
    kind: int, is_held: bool, is_waited_for: bool
) -> None:
    assert 0 <= kind < 8
    make, holds, waits = KINDS[kind]
    core = make()
    assert core.is_idle
    if is_held and holds is not None:
        core.admit(holds)
    if is_waited_for:
        core.enqueue(waits)
    assert core.is_idle == ((not is_held or holds is None) and not is_waited_for)


def a_pool_is_idle_once_it_has_ended(is_closed: bool, busy: int, is_waited_for: bool) -> None:
    assert busy >= 0
    core = JobQueueCore(0, 1)
    core.busy = busy
    if is_waited_for:
        core.enqueue("job")
    if is_closed:
        core.close("closed")
    assert core.is_drained == (busy == 0 and not is_waited_for)
    assert core.is_idle == (is_closed and core.is_drained)


def a_pool_has_room_until_it_is_closed(is_closed: bool, waiting: int, most: int) -> None:
    assert 0 <= waiting <= 2
    core = JobQueueCore(0, most)
    for number in range(waiting):
        core.enqueue(number)
    if is_closed:
        core.close("closed")
    assert core.has_room() == (not is_closed and waiting < most)


def a_map_is_idle_while_none_of_its_locks_is_held(is_held: bool) -> None:
    assert is_held in (False, True)
    core = LockMapCore({"key": "lock"})
    if is_held:
        core.new_lock("key").admit("owner")
    assert core.is_idle == (not is_held)


def a_holder_of_a_token_is_known_by_name(who: int, lent: int) -> None:
    assert 0 <= lent <= 3
    core = CapacityLimiterCore(lent)
    for borrower in range(lent):
        core.admit(borrower)
    assert core.held_by(who) == (who if 0 <= who < lent else None)
    gone = core.owner_exited(who, "its task has ended")
    assert core.cause == ("its task has ended" if 0 <= who < lent else None)
    assert not gone


def a_monitor_is_idle_while_no_task_is_inside_or_waits_and_no_rule_concerns_it(
    is_inside: bool, is_waited_for: bool, has_signalled: bool, is_ruled: bool
) -> None:
    assert is_inside in (False, True)
    core = MonitorCore()
    entry = EntryCore("entry")
    assert core.is_idle
    if is_inside:
        core.admit(Invocation(entry, "inside"))
    if is_waited_for:
        core.enqueue(Invocation(entry, "waits"))
    if has_signalled:
        core.urgent.append(Request(Invocation(core.reentry, "signalled"), -1))
    if is_ruled:
        SynchronizerCore().disable(Rules(entry, core, None), Guard(lambda: False))
    assert core.is_idle == (not (is_inside or is_waited_for or has_signalled or is_ruled))

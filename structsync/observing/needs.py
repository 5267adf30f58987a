"""What has to happen before a request is granted, as far as the primitive knows whose turn it is.

One function for each kind of core. None: a way out is not known, and so the wait is never taken for a
deadlock. That is the answer for every core that is not listed: a condition, a latch, a buffer, into which any task
may put and from which any task may get, a semaphore whose permits any task may release, a primitive of the
user's.

Those ahead in the queue count where the policy lets the head block. A plain request ahead waits for the
same holders, so that it only raises how much of them is needed; a group ahead waits elsewhere, too.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias, cast

from structsync._core.monitors.monitor import MonitorCore
from structsync._core.monitors.synchronizer import Rules
from structsync._core.primitives.buffer import BufferCore
from structsync._core.primitives.capacity_limiter import CapacityLimiterCore
from structsync._core.primitives.job_queue import JobQueueCore
from structsync._core.primitives.lock import LockCore
from structsync._core.primitives.lock_map import KeyedLockCore
from structsync._core.primitives.resource_pool import ResourcePoolCore
from structsync._core.primitives.rwlock import WRITE, PhaseFairCore, RWLockCore
from structsync._core.primitives.semaphore import SemaphoreCore
from structsync._core.primitives.sides import Lend
from structsync._core.queue.group import Claims
from structsync._core.queue.request import Request
from structsync._core.queue.waits_for import Alternative, Need
from structsync._runtime.job import RUNNING, Job
from structsync._runtime.job_wait import JobsWait
from structsync._runtime.lending import Loan
from structsync._runtime.watching import Wait
from structsync._runtime.workers import busy_for, worker_of

from .nurseries import outlives

Units: TypeAlias = Mapping[Hashable, int]
Requests: TypeAlias = Sequence[Request[Any]]


class Reason(NamedTuple):
    """Why another task has to do something first.

    It holds what is wanted, or is ahead in the queue, or works for the pool whose job is waited for, or is
    inside a monitor where another call is to start together with the one that waits.
    """

    primitive: Any
    is_ahead: bool = False
    is_job: bool = False
    is_partner: bool = False


class View(Protocol):
    """What is known beside the cores."""

    def waits_without_end(self, request: Request[Any]) -> bool:
        """Return whether a task is parked for this request, and no deadline of its own ends that."""
        ...

    def has_groups(self) -> bool:
        """Return whether a group may stand in some queue."""
        ...

    def is_weighted(self, live: Any) -> bool:
        """Return whether a task may wait for several permits of a semaphore."""
        ...

    def spend(self, steps: int) -> None:
        """Take note of how many requests or holders had to be looked at."""
        ...

    def may_block(self, holders: Iterable[Hashable]) -> bool:
        """Return whether any of them, or a group in some queue, may be unable to go on."""
        ...

    def permits(self, live: Any) -> Units:
        """Return which tasks hold how many permits of a semaphore in blocks, as far as that was seen."""
        ...


def alternatives_of(request: Wait, view: View) -> list[Alternative] | None:
    """Return what the task that is parked for a request waits for; None if that is not known."""
    if isinstance(request, JobsWait):
        jobs = [_of_job(request.primitive, job) for job in request.jobs]
        return None if None in jobs else [one for one in jobs if one is not None]
    group = request.group
    if not isinstance(group, Claims):
        needs = _needs_of(request, view)
        if isinstance(group, Rules) and (of_partners := _of_partners(request, group)):
            return [[*(needs or ()), *of_partners]]
        return None if needs is None else [needs]
    each = [_needs_of(member, view) for member in group.members]
    if not group.every:  # one that is not known is a way out
        return None if None in each else [one for one in each if one is not None]
    return [[need for one in each if one is not None for need in one]]


def holders_of(live: Any) -> Iterable[Hashable]:
    """Return what holds a primitive or works for it, as far as it is known; a holder of several items, as often."""
    core = live._core
    if isinstance(core, LockCore | MonitorCore):
        return () if core.owner is None else (core.owner,)
    if isinstance(core, RWLockCore):
        return tuple(core.readers) if core.writer is None else (core.writer,)
    if isinstance(core, JobQueueCore):
        return busy_for(live)
    if isinstance(core, ResourcePoolCore):
        return [one.borrower for one in _loans(core) if one.borrower is not None]
    if isinstance(core, BufferCore):
        return [cast(Lend, one).borrower for one in core.lent]
    return tuple(core.borrowers) if isinstance(core, CapacityLimiterCore) else ()


def _needs_of(request: Request[Any], view: View) -> list[Need] | None:
    core = request.primitive._core
    rule = _RULES.get(type(core))
    if rule is None or not any(request.queue is one for one in _queues(core)):
        return None
    if not view.may_block(view.permits(request.primitive) or holders_of(request.primitive)):
        return []  # its holder makes progress; so a long queue need not be walked through
    counts = view.has_groups() or _wants_less_than_others(core, request, view)
    # In a buffer puts do not stand in the way of gets; all wait for the same.
    counts = counts and core.policy.head_blocks and not isinstance(core, BufferCore)
    ahead = _ahead(core, request, view) if counts else ()
    plain = [one for one in ahead if not isinstance(one.group, Claims)]
    needs = rule(core, request, plain, view)
    if needs is None:
        return None
    return [
        *needs,
        *(
            Need(((each.waiter, 1),), 1, Reason(request.primitive, is_ahead=True))
            for each in ahead
            if isinstance(each.group, Claims)
        ),
    ]


def _wants_less_than_others(core: Any, request: Request[Any], view: View) -> bool:
    """Return whether a plain request ahead in the queue may want what this one does not."""
    if isinstance(core, RWLockCore):
        return request.claim.mode is not WRITE
    return isinstance(core, SemaphoreCore) and view.is_weighted(request.primitive)


def _queues(core: Any) -> tuple[Any, ...]:
    """Return the queues in which a request for this core itself may stand, not for a condition of it."""
    return (core.queue, core.urgent) if isinstance(core, MonitorCore) else (core.queue,)


def _ahead(core: Any, request: Request[Any], view: View) -> Requests:
    """Return the requests ahead in the queue that leave it by a grant only.

    One that no task is parked for may be withdrawn by any, and one with a deadline by that.
    """
    waiting = core.waiting()
    before = waiting[: waiting.index(request)]
    view.spend(len(before))
    return [one for one in before if view.waits_without_end(one)]


def _one(holder: Hashable, request: Request[Any]) -> Need:
    return Need(((holder, 1),), 1, Reason(request.primitive))


def _exclusive(
    core: LockCore | MonitorCore, request: Request[Any], ahead: Requests, view: View
) -> list[Need] | None:
    if core.owner is None:
        # Free, and still it waits: behind a group; or its guard is false, and that may change.
        return None if isinstance(core, MonitorCore) else []
    return [_one(core.owner, request)]


def _rwlock(
    core: RWLockCore, request: Request[Any], ahead: Requests, view: View
) -> list[Need] | None:
    if core.writer is not None:
        return [_one(core.writer, request)]
    if request.claim.mode is WRITE or any(one.claim.mode is WRITE for one in ahead):
        return [_one(reader, request) for reader in core.readers]
    return []


def _limiter(
    core: CapacityLimiterCore, request: Request[Any], ahead: Requests, view: View
) -> list[Need] | None:
    if core.total_tokens < 1:
        return None  # paused: it goes on when there are more tokens
    missing = len(core.borrowers) + 1 - core.total_tokens
    if missing <= 0:  # there is one for it, and still it waits: behind a group
        return []
    borrowers = tuple((one, 1) for one in core.borrowers)
    return [Need(borrowers, int(missing), Reason(request.primitive))]


def _semaphore(
    core: SemaphoreCore, request: Request[Any], ahead: Requests, view: View
) -> list[Need] | None:
    permits = view.permits(request.primitive)
    out = None if core.max_value is None else core.max_value - core.value
    if core.max_value is None or sum(permits.values()) != out:
        return None  # some permits are in no block: any task may release them
    wanted = max(one.claim for one in (request, *ahead))
    if wanted > core.max_value:
        return None  # it was resized: it goes on when there are more permits
    return [Need(tuple(permits.items()), wanted - core.value, Reason(request.primitive))]


def _lent(
    core: ResourcePoolCore, request: Request[Any], ahead: Requests, view: View
) -> list[Need] | None:
    loans = _loans(core)
    if any(one.borrower is None for one in loans):
        return None  # an item is made or closed there, which ends
    missing = len(loans) + 1 - core.max_size
    return [Need([(one.borrower, 1) for one in loans], missing, Reason(request.primitive))]


def _loans(core: ResourcePoolCore) -> Sequence[Loan]:
    return cast("Sequence[Loan]", tuple(core.loans))


def _buffer(
    core: BufferCore, request: Request[Any], ahead: Requests, view: View
) -> list[Need] | None:
    """While every item is in hand, nothing can be put and nothing got until one of the blocks has ended."""
    if core.max_items > len(core.lent):
        return None  # any task may put, or get what there is
    holders = [(one, 1) for one in holders_of(request.primitive)]
    return [Need(holders, 1, Reason(request.primitive))]


def _pool(
    core: JobQueueCore, request: Request[Any], ahead: Requests, view: View
) -> list[Need] | None:
    """A task that waits for room in the queue continues once any of the workers has ended a job."""
    return _any_worker(request.primitive, Reason(request.primitive))


def _any_worker(pool: Any, reason: Reason) -> list[Need] | None:
    busy = busy_for(pool)
    if len(busy) < pool._core.workers:
        return None  # a worker has not begun yet
    return [Need(tuple([(one, 1) for one in busy]), 1, reason)]


def _of_job(pool: Any, job: Job[Any]) -> list[Need] | None:
    """A job ends once the task that works on it has gone on; one in the queue needs any worker first."""
    reason = Reason(pool, is_job=True)
    if job.status is RUNNING:
        task = worker_of(job)
        return None if task is None else [Need(((task, 1),), 1, reason)]
    return _any_worker(pool, reason)


def _of_partners(request: Request[Any], rules: Rules) -> list[Need]:
    """Return what a call that starts together with others needs beside its own monitor.

    Each of their monitors has to be free, or the rule that bonds them has to end: by the task that has
    entered the block of the synchronizer, unless that task itself waits until this one has ended. That the
    others are called is no need that a known task owes: any task may call.
    """
    bonded = rules.bonded()
    taken = [one for one in bonded[1:] if one.arbiter.owner is not None]
    synchronizers = dict.fromkeys(one for each in bonded for one, _ in each.bonds) if taken else ()
    ending = [one for one in synchronizers if not outlives(one.entered_by, request.waiter)]
    by = [(task, 0) for task in dict.fromkeys(one.entered_by for one in ending)]

    def need(partner: Rules) -> Need:
        def is_bonded_no_more(blocked: Collection[Hashable]) -> bool:
            ended = {one for one in ending if one.entered_by not in blocked}
            return bool(ended) and partner not in rules.bonded(ended)

        holders = [(partner.arbiter.owner, 1), *by]
        return Need(holders, 1, Reason(partner.primitive, is_partner=True), is_bonded_no_more)

    return [need(one) for one in taken]


_Rule: TypeAlias = Callable[[Any, Request[Any], Requests, View], "list[Need] | None"]
_RULES: dict[type[Any], _Rule] = {
    LockCore: _exclusive,
    KeyedLockCore: _exclusive,
    MonitorCore: _exclusive,
    RWLockCore: _rwlock,
    PhaseFairCore: _rwlock,
    CapacityLimiterCore: _limiter,
    SemaphoreCore: _semaphore,
    JobQueueCore: _pool,
    BufferCore: _buffer,
    ResourcePoolCore: _lent,
}

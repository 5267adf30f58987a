"""A condition loses no notification, whatever is cancelled when; several may share one lock.

The state is a lock and two conditions on it, with their queues, and beside them the stage of each task: where it is
in its program. A task acquires the lock, owns it, and may wait, notify, or release. A wait has two stages. A task
that waits on a condition has released the lock and is in the queue of the condition. When *notified*, it moves to the
end of the queue for the lock; when *granted* the lock, the wait has happened. A cancellation may come at either stage:

* not notified yet: the task leaves the queue of the condition;
* notified already: the oldest task that waits on the same condition and is not notified, its *heir*,
  takes over its position in the queue for the lock; without an heir the position is lost.

Either way the cancelled task goes to the end of the queue for the lock and *raises* once it owns it:
the block around it will release the lock. Nothing but the end of the lock takes it out of there. The lock and the
conditions may be closed, and the lock breaks when its owner exits.

What is promised to tasks in the queue for the lock needs owners that release it (a *fair* action).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from structsync import Status
from structsync._core.queue.request import Request
from structsync.checking import (
    Spec,
    action,
    implies,
    invariant,
    invariants,
    leads_to,
    start,
    step,
    terminal,
)

from ._lock_with_conditions import CONDITIONS, LockWithConditions

# ==== Bounds ====

# An owner that notifies; two that wait on the same condition, the cancelled one and its heir; and
# one more that makes the heir the oldest of two, or is in the queue for the lock between others.
TASKS = ("a", "b", "c", "d")

# The stages: where a task can be in its program.
IDLE, ACQUIRES, OWNS, RAISES = "idle", "acquires", "owns", "raises"
WAITS = {on: f"waits until {on}" for on in CONDITIONS}
NOTIFIED = {on: f"notified of {on}" for on in CONDITIONS}


def at(*stages: str) -> Any:
    """Return the function that tells which tasks are at one of these stages, in the order of `TASKS`."""

    def who(spec: ConditionSpec) -> list[str]:
        return [who for who, where in zip(TASKS, spec.stages, strict=True) if where in stages]

    return who


def lock_usable(spec: ConditionSpec, *arguments: object) -> bool:
    return spec.core.lock.cause is None


def may_wait(spec: ConditionSpec, who: str, on: str) -> bool:
    return lock_usable(spec) and spec.core.conditions[on].cause is None


class ConditionSpec(Spec):
    """Two conditions on one lock, the stage of each task, and what the last action did."""

    forgets = ("ended", "cancelled")
    symmetric = TASKS
    core: LockWithConditions = start(LockWithConditions)
    stages: tuple[str, ...] = start(lambda: (IDLE,) * len(TASKS))  # in the order of `TASKS`
    ended: tuple[Request[Any], ...] = start(tuple)  # what the last action ended; then forgotten
    cancelled: tuple[str, ...] = start(tuple)  # the task that it cancelled; forgotten too

    def renamed(self, snapshot: Any, names: Mapping[str, str]) -> Any:
        """Rename in `stages` too, where the order of `TASKS` says whose stage it is."""
        moved = {names[who]: at for who, at in zip(TASKS, snapshot.stages, strict=True)}
        return super().renamed(snapshot, names)._replace(stages=tuple([moved[w] for w in TASKS]))

    # ==== Words that actions use ====

    def move(self, who: str, stage: str) -> None:
        self.stages = tuple(
            [stage if one == who else at for one, at in zip(TASKS, self.stages, strict=True)]
        )

    def stage(self, who: str) -> str:
        return self.stages[TASKS.index(who)]

    def in_queue(self, on: str | None = None) -> list[str]:
        """Return the tasks in the queue for the lock, or in that of a condition; the oldest first."""
        core = self.core.conditions[on] if on else self.core.lock
        return [request.waiter for request in core.queue]

    def heirs_of(self, who: str) -> list[str]:
        """Return the heir of a task, should it be cancelled: the oldest that is not notified, if there is one."""
        notified = [on for on in CONDITIONS if self.stage(who) == NOTIFIED[on]]
        return [heir for on in notified for heir in self.in_queue(on)[:1]]

    def request_of(self, who: str, on: str | None = None) -> Request[Any]:
        queues = [self.core.lock, *([self.core.conditions[on]] if on else [])]
        return next(r for one in queues for r in one.queue if r.waiter == who)

    def note(self, ended: Iterable[Request[Any]]) -> None:
        """Record the requests that the core ended: a task whose request is granted owns the lock."""
        self.ended = (*self.ended, *ended)
        for request in ended:
            if request.status is Status.GRANTED:
                self.move(request.waiter, OWNS)
            elif request.status is Status.BROKEN and request.waiter not in self.in_queue():
                self.move(request.waiter, IDLE)

    def granted(self) -> list[str]:
        return [one.waiter for one in self.ended if one.status is Status.GRANTED]

    def describe(self) -> Mapping[str, object]:
        queues = {f"waits until {on}": ", ".join(self.in_queue(on)) or "-" for on in CONDITIONS}
        out = [*self.core.conditions.items(), ("lock", self.core.lock)]
        return {
            "owner": self.core.lock.owner,
            "queue": ", ".join(self.in_queue()) or "-",
            **queues,
            "closed or broken": ", ".join(name for name, one in out if one.cause is not None)
            or "-",
            **{who: self.stage(who) for who in TASKS},
        }

    # ==== Actions ====

    @action(who=at(IDLE), when=lock_usable)
    def acquire(self, who: str) -> None:
        self.move(who, ACQUIRES)
        request = self.core.lock.submit(who, waiter=who)
        self.note([request] if request.status is not Status.PENDING else [])

    @action(who=at(ACQUIRES))
    def give_up(self, who: str) -> None:
        request = self.request_of(who)
        self.move(who, IDLE)
        self.note([request, *(self.core.lock.withdraw(request) or ())])

    @action(who=at(OWNS), fair=True)
    def release(self, who: str) -> None:
        self.move(who, IDLE)
        self.note(self.core.lock.release(who))

    @action(who=at(OWNS), on=CONDITIONS, when=may_wait)
    def wait(self, who: str, on: str) -> None:
        self.move(who, WAITS[on])
        self.note(self.core.conditions[on].wait(who, who)[1])

    @action(who=at(OWNS), on=CONDITIONS, number=(1, 2))
    def notify(self, who: str, on: str, number: int) -> None:
        for oldest in self.in_queue(on)[:number]:
            self.move(oldest, NOTIFIED[on])
        self.note(self.core.conditions[on].notify(number))

    @action(who=at(OWNS), on=CONDITIONS)
    def notify_all(self, who: str, on: str) -> None:
        for waiting in self.in_queue(on):
            self.move(waiting, NOTIFIED[on])
        self.note(self.core.conditions[on].notify(None))

    @action(
        who=at(*WAITS.values(), *NOTIFIED.values()),
        on=CONDITIONS,
        when=lambda spec, who, on: spec.stage(who) in (WAITS[on], NOTIFIED[on]),
    )
    def cancel(self, who: str, on: str) -> None:
        request = self.request_of(who, on)
        for heir in self.heirs_of(who):
            self.move(heir, NOTIFIED[on])
        self.move(who, RAISES)
        self.cancelled = (who,)
        self.note([request, *(self.core.conditions[on].cancel(request) or ())])

    @action(on=CONDITIONS, when=lambda spec, on: spec.core.conditions[on].cause is None)
    def close_condition(self, on: str) -> None:
        for waiting in self.in_queue(on):
            self.move(waiting, RAISES)
        self.note(self.core.conditions[on].end("closed"))

    @action(when=lock_usable)
    def close_lock(self) -> None:
        self.note(self.core.lock.end("closed"))

    @action(who=at(OWNS))
    def owner_disappears(self, who: str) -> None:
        self.note(self.core.lock.owner_exited(who, "broken"))

    # ==== Where it may end ====

    @terminal
    def all_tasks_were_told(self) -> bool:
        """When the lock is closed or broken, and all tasks are idle, nothing more need happen."""
        return not lock_usable(self) and at(IDLE)(self) == [*TASKS]

    # ==== Invariants ====

    @invariant
    def one_owner_at_a_time(self) -> bool:
        """At most one task was granted the lock and has not released it, and the lock knows which."""
        owners = at(OWNS)(self)
        return len(owners) <= 1 and self.core.lock.owner == (owners[0] if owners else None)

    @invariant
    def nothing_grantable_waits(self) -> bool:
        """No lost wakeup: a lock that no task owns has no task in its queue (I3)."""
        return invariants.nothing_grantable_waits(self.core.lock)

    @invariant
    def nothing_waits_when_closed_or_broken(self) -> bool:
        """The end of a condition reaches all tasks that wait on it, the end of the lock all in any queue (C5, C8)."""
        lock, conditions = self.core.lock, self.core.conditions.values()
        if lock.cause is not None:
            return not lock.queue and not any(condition.queue for condition in conditions)
        return all(
            invariants.nothing_waits_when_closed_or_broken(condition) for condition in conditions
        )

    @invariant
    def each_task_is_in_one_queue_and_the_right_one(self) -> bool:
        """In the queue for the lock are the tasks that are to own it, in a condition's those that wait on it (N4)."""
        are_to_own_it = at(ACQUIRES, *NOTIFIED.values(), RAISES)(self)
        return sorted(self.in_queue()) == are_to_own_it and all(
            sorted(self.in_queue(on)) == at(WAITS[on])(self) for on in CONDITIONS
        )

    @invariant
    def nowait_agrees_with_the_queue(self) -> bool:
        """`acquire_nowait` succeeds exactly when a request made now would be granted at once (I2)."""
        return invariants.nowait_agrees(self.core.lock, "one more")

    # ==== Step properties ====

    @step
    def a_second_cancellation_changes_nothing(self, before: Any) -> bool:
        """A wait ends exactly once: to cancel it after that changes nothing (I4)."""
        now = self.core.snapshot()
        return all(
            condition.cancel(request) is None and self.core.snapshot() == now
            for request in self.ended
            for condition in self.core.conditions.values()
        )

    @step
    def no_notification_is_lost(self, before: Any) -> bool:
        """If a task that was notified is cancelled, its heir is notified instead, if it has one (N1)."""
        heirs = [heir for who in self.cancelled for heir in before.heirs_of(who)]
        return all(heir in self.granted() or heir in self.in_queue() for heir in heirs)

    @step
    def positions_are_kept(self, before: Any) -> bool:
        """No task in the queue for the lock is passed; an heir has the position of the cancelled task."""
        expected: list[str] = []
        for who in before.in_queue():
            if who in self.cancelled:
                expected += before.heirs_of(who)  # one, or none
            elif self.stage(who) != IDLE:  # else it withdrew, or was ended with the lock
                expected.append(who)
        granted_and_waiting = [*self.granted(), *self.in_queue()]
        return granted_and_waiting[: len(expected)] == expected

    @step
    def the_oldest_are_notified_first(self, before: Any) -> bool:
        """Of the tasks that wait on a condition those that move to the lock are the oldest, in their order."""
        granted_and_waiting = [*self.granted(), *self.in_queue()]
        for on in CONDITIONS:
            waited = [who for who in before.in_queue(on) if who not in self.cancelled]
            moved = [who for who in granted_and_waiting if who in waited]
            oldest = waited[: len(moved)]
            if moved != oldest:
                return False
        return True

    @step
    def the_cancelled_join_at_the_end(self, before: Any) -> bool:
        """A task that is cancelled is the last in the queue for the lock, or owns it already."""
        granted_and_waiting = [*self.granted(), *self.in_queue()]
        return implies(self.cancelled != (), granted_and_waiting[-1:] == [*self.cancelled])

    @step
    def the_lock_knows_the_notified(self, before: Any) -> bool:
        """The lock knows the conditions on which tasks wait, which its end is to reach, and keeps no others.

        A step property, because restoring a state computes this anew.
        """
        have_waiters = {one for one in self.core.conditions.values() if one.queue}
        return {*self.core.lock.conditions} == have_waiters

    # ==== Temporal properties ====

    @leads_to(who=TASKS)
    def every_queued_task_owns_the_lock(self, who: str) -> tuple[bool, bool]:
        """If owners release it, a task in the queue owns it eventually, or withdraws, or is ended.

        A task that is cancelled after it was notified goes to the end of the queue, but only once.
        """
        waits = who in self.in_queue()
        return waits, not waits

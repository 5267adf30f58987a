"""A condition loses no notification, whatever is cancelled when; several may share one lock.

A wait has two stages. Whoever waits on a condition has given up the lock and stands in the queue of
the condition. When *notified*, it moves to the end of the queue for the lock; when *granted* the
lock, the wait has happened. A cancellation may come at either stage:

* not notified yet: it leaves the queue of the condition;
* notified already: the oldest that waits on the same condition and is not notified, its *heir*,
  takes over its place in the queue for the lock; without an heir the place is given up.

Either way the cancelled one goes to the end of the queue for the lock and *raises* once it owns it:
the block around it will release the lock. Nothing but the end of the lock takes it out of there.

What is promised to those in the queue for the lock needs owners that release it (a *fair* action).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from structsync import Status
from structsync._core.queue.request import Request
from structsync.checking import Spec, action, invariant, invariants, leads_to, start, step, terminal

from ._lock_with_conditions import CONDITIONS, LockWithConditions

# ==== Bounds ====

# An owner that notifies; two that wait on the same condition, the cancelled one and its heir; and
# one more that makes the heir the oldest of two, or stands in the queue for the lock between others.
TASKS = ("a", "b", "c", "d")

# Where a task can be.
IDLE, ACQUIRES, OWNS, RAISES = "idle", "acquires", "owns", "raises"
WAITS = {on: f"waits until {on}" for on in CONDITIONS}
NOTIFIED = {on: f"notified of {on}" for on in CONDITIONS}


def at(*places: str) -> Any:
    """Return the function that tells who is at one of these places."""

    def who(spec: ConditionSpec) -> list[str]:
        return [who for who, where in zip(TASKS, spec.places, strict=True) if where in places]

    return who


def lock_in_service(spec: ConditionSpec, *arguments: object) -> bool:
    return spec.core.lock.cause is None


def may_wait(spec: ConditionSpec, who: str, on: str) -> bool:
    return lock_in_service(spec) and spec.core.conditions[on].cause is None


class ConditionSpec(Spec):
    """Two conditions on one lock, where everybody is, and what the last action did."""

    forgets = ("ended", "cancelled")
    symmetric = TASKS
    core: LockWithConditions = start(LockWithConditions)
    places: tuple[str, ...] = start(lambda: (IDLE,) * len(TASKS))  # where each task is
    ended: tuple[Request[Any], ...] = start(tuple)  # what the last action ended; then forgotten
    cancelled: tuple[str, ...] = start(tuple)  # whom it cancelled; forgotten too

    def renamed(self, snapshot: Any, names: Mapping[str, str]) -> Any:
        """Exchange the places too: who is at which is told by the order of `TASKS`."""
        moved = {names[who]: at for who, at in zip(TASKS, snapshot.places, strict=True)}
        return super().renamed(snapshot, names)._replace(places=tuple([moved[w] for w in TASKS]))

    # ==== Words that actions use ====

    def move(self, who: str, place: str) -> None:
        self.places = tuple(
            [place if one == who else at for one, at in zip(TASKS, self.places, strict=True)]
        )

    def place(self, who: str) -> str:
        return self.places[TASKS.index(who)]

    def in_queue(self, on: str | None = None) -> list[str]:
        """Return who is in the queue for the lock, or waits on a condition un-notified."""
        core = self.core.conditions[on] if on else self.core.lock
        return [request.waiter for request in core.queue]

    def heirs_of(self, who: str) -> list[str]:
        """Return who takes over if this one is cancelled: the oldest not notified, or nobody."""
        notified = [on for on in CONDITIONS if self.place(who) == NOTIFIED[on]]
        return [heir for on in notified for heir in self.in_queue(on)[:1]]

    def request_of(self, who: str, on: str | None = None) -> Request[Any]:
        queues = [self.core.lock, *([self.core.conditions[on]] if on else [])]
        return next(r for one in queues for r in one.queue if r.waiter == who)

    def note(self, ended: Iterable[Request[Any]]) -> None:
        """Take down what the core ended: granted means that it owns the lock."""
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
            "out of service": ", ".join(name for name, one in out if one.cause is not None) or "-",
            **{who: self.place(who) for who in TASKS},
        }

    # ==== Actions ====

    @action(who=at(IDLE), when=lock_in_service)
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
        when=lambda spec, who, on: spec.place(who) in (WAITS[on], NOTIFIED[on]),
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

    @action(when=lock_in_service)
    def close_lock(self) -> None:
        self.note(self.core.lock.end("closed"))

    @action(who=at(OWNS))
    def owner_disappears(self, who: str) -> None:
        self.note(self.core.lock.owner_exited(who, "broken"))

    # ==== Where it may end ====

    @terminal
    def everybody_was_told(self) -> bool:
        """When the lock is out of service, and nobody is anywhere, nothing more need happen."""
        return not lock_in_service(self) and at(IDLE)(self) == [*TASKS]

    # ==== Invariants ====

    @invariant
    def one_owner_at_a_time(self) -> bool:
        """Whoever was granted the lock and has not released it is alone, and the lock knows it."""
        owners = at(OWNS)(self)
        return len(owners) <= 1 and self.core.lock.owner == (owners[0] if owners else None)

    @invariant
    def nothing_grantable_waits(self) -> bool:
        """No lost wakeup: a lock that nobody owns has nobody in the queue (I3)."""
        return invariants.nothing_grantable_waits(self.core.lock)

    @invariant
    def nobody_waits_out_of_service(self) -> bool:
        """The end of the lock reaches everybody, also those on its conditions (C5, C8)."""
        queues = list(self.core.conditions.values())
        if self.core.lock.cause is not None:
            return not any(one.queue for one in (self.core.lock, *queues))
        return all(invariants.nobody_waits_out_of_service(one) for one in queues)

    @invariant
    def everybody_is_in_one_queue_and_the_right_one(self) -> bool:
        """Whoever is to own the lock is in the queue for it; whoever is not notified is not (N4)."""
        to_own_it = at(ACQUIRES, *NOTIFIED.values(), RAISES)(self)
        return sorted(self.in_queue()) == to_own_it and all(
            sorted(self.in_queue(on)) == at(WAITS[on])(self) for on in CONDITIONS
        )

    @invariant
    def nowait_agrees_with_the_queue(self) -> bool:
        """`acquire_nowait` succeeds exactly when a request made now would be granted (I2)."""
        return invariants.nowait_agrees(self.core.lock, "one more")

    # ==== Step properties ====

    @step
    def a_second_cancellation_changes_nothing(self, before: Any) -> bool:
        """A wait ends exactly once: cancelled after its end it stays where it is (I4)."""
        now = self.core.snapshot()
        for one in self.ended:
            answers = [condition.cancel(one) for condition in self.core.conditions.values()]
            if answers != [None, None] or self.core.snapshot() != now:
                return False
        return True

    @step
    def no_notification_is_lost(self, before: Any) -> bool:
        """A cancelled waiter that was notified leaves an heir notified, if there is one (N1)."""
        heirs = [heir for who in self.cancelled for heir in before.heirs_of(who)]
        return all(heir in (*self.granted(), *self.in_queue()) for heir in heirs)

    @step
    def places_are_kept(self, before: Any) -> bool:
        """Nobody in the queue for the lock is passed; an heir stands where the cancelled one stood."""
        places = [self.who_has_the_place_of(who, before) for who in before.in_queue()]
        expected = [who for place in places for who in place]
        return [*self.granted(), *self.in_queue()][: len(expected)] == expected

    def who_has_the_place_of(self, who: str, before: Any) -> list[str]:
        """Return who stands where somebody stood: its heir if it was cancelled, itself, or nobody."""
        if who in self.cancelled:
            heirs: list[str] = before.heirs_of(who)
            return heirs
        return [] if self.place(who) == IDLE else [who]

    @step
    def the_oldest_are_notified_first(self, before: Any) -> bool:
        """Those who leave a condition for the lock do so in the order in which they waited."""
        now = [*self.granted(), *self.in_queue()]
        for on in CONDITIONS:
            waited = [who for who in before.in_queue(on) if who not in self.cancelled]
            moved = [who for who in now if who in waited]
            if moved != waited[: len(moved)]:
                return False
        return True

    @step
    def the_cancelled_join_at_the_end(self, before: Any) -> bool:
        """A cancelled waiter is the last in the queue for the lock, or owns it already."""
        now = [*self.granted(), *self.in_queue()]
        return not self.cancelled or now[-1:] == list(self.cancelled)

    @step
    def the_lock_knows_who_is_to_be_told(self, before: Any) -> bool:
        """Its end can reach the conditions that have waiters, and no others are kept alive.

        Of each step, because a state that is restored knows it anyway.
        """
        lock = self.core.lock
        return {*lock.conditions} == {one for one in self.core.conditions.values() if one.queue}

    # ==== Temporal properties ====

    @leads_to(who=TASKS)
    def who_is_in_queue_owns_the_lock(self, who: str) -> tuple[bool, bool]:
        """If owners release it, whoever is in the queue owns it eventually, or gives up, or is told.

        Cancelling a notified waiter sends it to the end, once. Then nothing holds it up.
        """
        waits = who in self.in_queue()
        return waits, not waits

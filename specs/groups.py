"""Who wants several resources gets all of them in one step, or the first that can be had.

A *group* has one place in every queue. One that wants *all* is granted when it stands at the head of
each queue and fits everywhere; one that wants *any* is granted at the first line that would grant it,
and leaves the others in the same step. Whoever stands behind a group waits for it, also where it is
free; when a group leaves, those behind it are let in, everywhere.

Whoever waits may give up; somebody may close one of the primitives, which tells everybody in that
queue, and takes groups out of the other queues too. What is promised to those who wait needs holders
that give back (a *fair* action). They give back one thing after the other, in one step.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from structsync import Status
from structsync._core.primitives.semaphore import SemaphoreCore
from structsync._core.queue.arbiter import EndedForGood
from structsync._core.queue.request import Request
from structsync.checking import Spec, action, invariant, invariants, leads_to, start, step, terminal

from ._queues import Lines

# ==== Bounds ====

# A large one and two small ones: at the large one two may hold and one of them may be in the way of
# a claim for both; a third, so that what is settled in the second queue can let in a group that
# leaves the third.
SIZES = (2, 1, 1)
LARGE, SMALL, OTHER = range(3)

# Of both kinds one that writes the large one first and one that does not; two alone, so that
# somebody can stand before and behind a group in the first line and in the last.
WANTS = {
    "all": (True, ((LARGE, 1), (SMALL, 1))),
    "all of it": (True, ((SMALL, 1), (LARGE, 2))),
    "any": (False, ((LARGE, 1), (SMALL, 1))),
    "any small": (False, ((SMALL, 1), (OTHER, 1))),
    "both small": (True, ((OTHER, 1), (SMALL, 1))),
    "large": (True, ((LARGE, 1),)),
    "other": (True, ((OTHER, 1),)),
}

Want = tuple[bool, tuple[tuple[int, Any], ...]]


def idle(spec: LinesSpec) -> list[str]:
    busy = {*spec.waiting(), *spec.holding()}
    return [
        who
        for who, (_, wanted) in spec.wants.items()
        if who not in busy and all(spec.core.arbiters[at].cause is None for at, _ in wanted)
    ]


def waiting(spec: LinesSpec) -> list[str]:
    return spec.waiting()


def holding(spec: LinesSpec) -> list[str]:
    return spec.holding()


class LinesSpec(Spec):
    """Several queues, who stands in them, and who holds what by what the core said."""

    abstract = True
    forgets = ("asked", "ended")

    wants: Mapping[str, Want]  # of each, whether it wants all; where, and how much
    core: Lines
    held: tuple[tuple[str, int], ...] = start(
        tuple
    )  # who was granted something, and at which queue
    # What the last action was, and what it ended; then forgotten.
    asked: tuple[str, ...] = start(tuple)
    ended: tuple[Request[Any], ...] = start(tuple)

    # ==== Words that actions use ====

    def note(self, ended: Iterable[Request[Any]]) -> None:
        """Take down what the core ended, wherever that was."""
        self.ended = (*self.ended, *ended)
        granted = [self.place(one) for one in ended if one.status is Status.GRANTED]
        self.held = tuple(sorted((*self.held, *granted)))

    def place(self, request: Any) -> tuple[str, int]:
        """Return who made a request, and at which queue."""
        wanted = self.wants[request.waiter][1]
        queues = self.core.arbiters
        at = queues.index(request.arbiter) if len(wanted) > 1 else wanted[0][0]
        return (request.waiter, at)

    def waiting(self) -> list[str]:
        queues = [set(self.core.queue(at)) for at in range(len(self.core.arbiters))]
        return [who for who in self.wants if any(who in queue for queue in queues)]

    def holding(self) -> list[str]:
        """Return who was granted what it wants, and waits for nothing more."""
        waiting = self.waiting()
        return [who for who in self.wants if self.held_by(who) and who not in waiting]

    def held_by(self, who: str) -> list[int]:
        return [at for one, at in self.held if one == who]

    def granted(self, at: int) -> list[str]:
        """Return whom the last action granted something at this queue, in this order."""
        ended = [self.place(one) for one in self.ended if one.status is Status.GRANTED]
        return [who for who, queue in ended if queue == at]

    def is_head_and_fits(self, who: str, at: int, claim: Any) -> bool:
        return self.core.queue(at)[:1] == [who] and self.core.arbiters[at].admits(claim)

    def describe(self) -> Mapping[str, object]:
        queues = {
            f"queue {at}": ", ".join(self.core.queue(at)) or "-"
            for at in range(len(self.core.arbiters))
        }
        return queues | {"held": ", ".join(f"{who}: {at}" for who, at in self.held) or "-"}

    # ==== Actions ====

    @action(who=waiting)
    def withdraw(self, who: str) -> None:
        self.note(self.core.withdraw(who, self.wants[who][1][0][0]))

    @action(who=holding, fair=True)
    def release(self, who: str) -> None:
        claims, before = dict(self.wants[who][1]), self.held_by(who)
        self.held = tuple([one for one in self.held if one[0] != who])
        for at in before:
            self.note(self.core.release(at, claims[at]))

    # ==== Invariants ====

    @invariant
    def everything_or_one_thing_is_held(self) -> bool:
        """Who wants all has all of it or nothing; who wants any has one thing or nothing."""
        return all(
            len(self.held_by(who)) == (len(wanted) if every else 1)
            for who, (every, wanted) in self.wants.items()
            if self.held_by(who)
        )

    @invariant
    def a_place_in_every_queue_or_in_none(self) -> bool:
        """Who waits stands once in each queue and holds nothing; who has ended stands nowhere."""
        waiting = self.waiting()
        return all(
            self.core.queue(at).count(who) == (who in waiting)
            for who, (_, wanted) in self.wants.items()
            for at, _ in wanted
        ) and not any(self.held_by(who) for who in waiting)

    @invariant
    def nothing_grantable_waits(self) -> bool:
        """No lost wakeup, in any queue (I3): the heads do not fit, or not everywhere."""
        for who in self.waiting():
            every, wanted = self.wants[who]
            fits = [self.is_head_and_fits(who, at, claim) for at, claim in wanted]
            if all(fits) if every else any(fits):
                return False
        return True

    # ==== Step properties ====

    @step
    def who_asks_waits_or_is_granted(self, before: Any) -> bool:
        """A group that is submitted has places, or what it wants: it is never forgotten."""
        return all(who in self.waiting() or self.held_by(who) for who in self.asked)

    @step
    def grants_follow_each_queue(self, before: Any) -> bool:
        """First come, first served at each queue: no grant passes anybody there (I2)."""
        return all(
            invariants.served_in_queue(before.core.queue(at), granted, self.core.queue(at))
            for at in range(len(self.core.arbiters))
            if (granted := self.granted(at))
        )

    @step
    def places_are_kept_in_each_queue(self, before: Any) -> bool:
        """Nobody loses a place but by ending, and newcomers stand at the end (I2)."""
        ended = [one.waiter for one in self.ended]
        return all(
            invariants.places_are_kept(before.core.queue(at), ended, self.core.queue(at))
            for at in range(len(self.core.arbiters))
        )

    @step
    def a_group_ends_once_and_as_a_whole(self, before: Any) -> bool:
        """All requests of one have ended, each of them once, and none can be withdrawn again (I4)."""
        places = [self.place(one) for one in self.ended]
        whole = all(
            (who, at) in places
            for who in {who for who, _ in places}
            for at, _ in self.wants[who][1]
        )
        return (
            whole
            and len(places) == len({*places})
            and not {*map(id, self.ended)} & self._in_queue()
        )

    def _in_queue(self) -> set[int]:
        return {id(one) for arbiter in self.core.arbiters for one in arbiter.queue}


def semaphores() -> Sequence[SemaphoreCore]:
    return [SemaphoreCore(size, max_value=size) for size in SIZES]


class GroupsSpec(LinesSpec):
    """Two semaphores, groups of both kinds, and those who want one thing."""

    wants = WANTS
    core: Lines = start(Lines, semaphores)

    # ==== Actions ====

    @action(who=idle)
    def request(self, who: str) -> None:
        self.asked = (who,)
        self.note(self.core.submit(who, *self.wants[who]))

    @action(at=range(len(SIZES)), when=lambda spec, at: spec.core.arbiters[at].cause is None)
    def close(self, at: int) -> None:
        self.note(self.core.end(at, "closed"))

    # ==== Where it may end ====

    @terminal
    def all_are_closed_and_nobody_is_left(self) -> bool:
        """Closed, with nobody who waits or holds anything, nothing more need happen."""
        closed = all(one.cause is not None for one in self.core.arbiters)
        return closed and not self.waiting() and not self.held

    # ==== Invariants ====

    @invariant
    def permits_are_conserved(self) -> bool:
        """Every permit that exists is on hand or out with somebody (I1)."""
        return all(
            arbiter.value
            == SIZES[at]
            - sum(dict(self.wants[who][1])[at] for who, queue in self.held if queue == at)
            for at, arbiter in enumerate(self.core.arbiters)
        )

    @invariant
    def nobody_waits_out_of_service(self) -> bool:
        """Closing one tells everybody who stands there, and takes groups out of the others (C8)."""
        return all(invariants.nobody_waits_out_of_service(one) for one in self.core.arbiters)

    @invariant
    def what_can_never_be_granted_is_refused(self) -> bool:
        """Where one claim of a group is for something closed, or too large, all of it is refused (I7)."""
        closed = [at for at, one in enumerate(self.core.arbiters) if one.cause is not None]
        attempts = [
            (every, ((LARGE, claim), (at, 1)))
            for at in (SMALL, OTHER)
            for claim in (1, SIZES[LARGE] + 1)
            for every in (True, False)
            if claim > SIZES[LARGE] or {LARGE, at} & {*closed}
        ]
        return all(self._refuses(*attempt) for attempt in attempts)

    def _refuses(self, every: bool, wanted: Iterable[tuple[int, Any]]) -> bool:
        before = self.core.snapshot()
        try:
            self.core.submit("one more", every, wanted)
        except (EndedForGood, ValueError):
            if self.core.snapshot() == before:
                return True
        self.core.restore(before)
        return False

    # ==== Temporal properties ====

    @leads_to(who=tuple(WANTS))
    def who_stays_in_queue_is_served(self, who: str) -> tuple[bool, bool]:
        """If holders give back, whoever waits is granted some day, or gives up, or is told."""
        waits = who in self.waiting()
        return waits, not waits

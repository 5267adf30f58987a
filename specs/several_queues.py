"""What every group of claims is promised, whatever the primitives are that it claims.

A *group* claims several primitives and has one position in the queue of each. One that wants *all* is granted
when it is at the head of each queue and fits everywhere; one that wants *any* is granted at the first queue
that would grant it, and leaves the others in the same step. A task that wants one thing alone makes a plain request.

The state is the primitives that ship, with their queues (`_queues.py`), and beside them a naive model, made from what
the core reports: which task holds what. Queues are told by their numbers. Actions here: a task that waits may withdraw,
and a task that holds what it wants releases it eventually (that is *fair*: waiters need it), one claim after
the other, in one step. A specification adds the primitives, what each task wants, the actions that request, close,
resize or exit, and the bounds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from structsync import Status
from structsync._core.queue.arbiter import EndedForGood
from structsync._core.queue.request import Request
from structsync.checking import Spec, action, invariant, invariants, start, step

from ._queues import Queues

# Whether all of these are wanted, or any of them; and which: the number of a queue, and the claim there.
Want = tuple[bool, tuple[tuple[int, Any], ...]]


def idle(spec: SeveralQueuesSpec) -> list[str]:
    """Return the tasks that neither wait nor hold anything, and want nothing that is closed or broken."""
    busy = {*spec.waiting(), *spec.holding()}
    return [
        who
        for who, (_, wanted) in spec.wants.items()
        if who not in busy and all(spec.core.arbiters[at].cause is None for at, _ in wanted)
    ]


def waiting(spec: SeveralQueuesSpec) -> list[str]:
    return spec.waiting()


def holding(spec: SeveralQueuesSpec) -> list[str]:
    return spec.holding()


class SeveralQueuesSpec(Spec):
    """Several queues, and which task holds what by what the core reported."""

    abstract = True
    forgets: ClassVar[tuple[str, ...]] = ("requested", "ended")

    wants: Mapping[str, Want]  # what each task wants
    core: Queues
    # Each claim that was granted and is not released: of which task, and at which queue.
    held: tuple[tuple[str, int], ...] = start(tuple)
    # The task that made a request in the last action, and the requests that this ended; then forgotten.
    requested: tuple[str, ...] = start(tuple)
    ended: tuple[Request[Any], ...] = start(tuple)

    # ==== Words that actions and properties use ====

    def submit(self, who: str, every: bool, wanted: Iterable[tuple[int, Any]]) -> None:
        """Submit a group, or a plain request if one thing is wanted, and record what that ended."""
        self.requested = (who,)
        self.note(self.core.submit(who, every, wanted))

    def note(self, ended: Iterable[Request[Any]]) -> None:
        """Record the requests that the core ended, in whichever queue."""
        self.ended = (*self.ended, *ended)
        granted = [self.task_and_queue(one) for one in ended if one.status is Status.GRANTED]
        self.held = tuple(sorted((*self.held, *granted)))

    def task_and_queue(self, request: Any) -> tuple[str, int]:
        """Return which task made the request, and at which queue."""
        wanted = self.wants[request.waiter][1]
        if len(wanted) == 1:  # a plain request does not know its queue
            return (request.waiter, wanted[0][0])
        return (request.waiter, self.core.number_of[request.arbiter])

    def waiting(self) -> list[str]:
        """Return the tasks that are in a queue, in one at least."""
        waiting = self.core.waiting()
        return [who for who in self.wants if who in waiting]

    def holding(self) -> list[str]:
        """Return the tasks that were granted what they want, and wait for nothing more."""
        waiting = self.waiting()
        return [who for who in self.wants if self.held_by(who) and who not in waiting]

    def held_by(self, who: str) -> list[int]:
        """Return at which queues a task was granted a claim that it has not released."""
        return [at for one, at in self.held if one == who]

    def claims_held(self, at: int) -> list[Any]:
        """Return the claims that are granted at a queue and not released."""
        return [dict(self.wants[who][1])[at] for who, queue in self.held if queue == at]

    def granted(self, at: int) -> list[str]:
        """Return the tasks that the last action granted a claim at this queue, in this order."""
        granted = [self.task_and_queue(one) for one in self.ended if one.status is Status.GRANTED]
        return [who for who, queue in granted if queue == at]

    def is_head_and_fits(self, who: str, at: int, claim: Any) -> bool:
        """Return whether a task is at the head of a queue, and there is room for its claim."""
        return self.core.queue(at)[:1] == [who] and self.core.arbiters[at].admits(claim)

    def refuses(self, attempts: Sequence[Want]) -> bool:
        """Return whether these groups of one more task are refused, and no attempt leaves a trace."""
        before = self.core.snapshot() if attempts else ()
        for every, wanted in attempts:
            try:
                self.core.submit("one more", every, wanted)
            except (EndedForGood, ValueError, RuntimeError):
                if self.core.snapshot() == before:
                    continue
            self.core.restore(before)
            return False
        return True

    def describe(self) -> Mapping[str, object]:
        queues = {f"queue {at}": ", ".join(self.core.queue(at)) or "-" for at in self.core.numbers}
        return queues | {"held": ", ".join(f"{who}: {at}" for who, at in self.held) or "-"}

    # ==== Actions ====

    @action(who=waiting)
    def withdraw(self, who: str) -> None:
        _, ((at, _), *_) = self.wants[who]
        self.note(self.core.withdraw(who, at))

    @action(who=holding, fair=True)
    def release(self, who: str) -> None:
        claims, held = dict(self.wants[who][1]), self.held_by(who)
        self.held = tuple([one for one in self.held if one[0] != who])
        for at in held:
            self.note(self.core.release(at, claims[at]))

    # ==== Invariants ====

    @invariant
    def everything_or_one_thing_is_held(self) -> bool:
        """A task that wants all holds all or nothing; one that wants any holds one thing or nothing."""
        for who, (every, wanted) in self.wants.items():
            number_granted_together = len(wanted) if every else 1
            if len(self.held_by(who)) not in (0, number_granted_together):
                return False
        return True

    @invariant
    def a_position_in_every_queue_or_in_none(self) -> bool:
        """A task that waits has one position in each queue that it wants, and holds nothing."""
        for who in self.waiting():
            _, wanted = self.wants[who]
            once_in_each = all(self.core.queue(at).count(who) == 1 for at, _ in wanted)
            if not once_in_each or self.held_by(who):
                return False
        return True

    @invariant
    def nothing_grantable_waits(self) -> bool:
        """No lost wakeup: no task waits that could be granted all that it wants, or any, as it wants it (I3)."""
        for who in self.waiting():
            every, wanted = self.wants[who]
            fits = [self.is_head_and_fits(who, at, claim) for at, claim in wanted]
            if all(fits) if every else any(fits):
                return False
        return True

    # ==== Step properties ====

    @step
    def every_request_waits_or_is_granted(self, before: Any) -> bool:
        """A task that makes a request waits after it, or was granted it: it is never forgotten."""
        return all(who in self.waiting() or self.held_by(who) for who in self.requested)

    @step
    def grants_follow_each_queue(self, before: Any) -> bool:
        """First come, first served at each queue: no task is granted there while an older one waits on (I2)."""
        return all(
            invariants.served_in_queue(before.core.queue(at), self.granted(at), self.core.queue(at))
            for at in self.core.numbers
        )

    @step
    def positions_are_kept_in_each_queue(self, before: Any) -> bool:
        """A task keeps its positions until its request ends, and newcomers join at the end (I2)."""
        ended = [request.waiter for request in self.ended]
        return all(
            invariants.positions_are_kept(before.core.queue(at), ended, self.core.queue(at))
            for at in self.core.numbers
        )

    @step
    def a_group_ends_once_and_as_a_whole(self, before: Any) -> bool:
        """Where a request of a group ends, all of its requests end, each once, and leave their queues (I4)."""
        ended = [self.task_and_queue(request) for request in self.ended]
        expected = {(who, at) for who, _ in ended for at, _ in self.wants[who][1]}
        each_once = {*ended} == expected and len(ended) == len(expected)
        still_in_queues = [one for arbiter in self.core.arbiters for one in arbiter.queue]
        return each_once and not any(
            request is one for request in self.ended for one in still_in_queues
        )

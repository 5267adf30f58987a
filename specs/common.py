"""What every queue of requests promises, whatever it is that they wait for.

A specification of a primitive adds to `QueueSpec` its core (the one that ships), the actions that
tasks can take, and what the primitive itself promises. It keeps a naive model beside the core,
made from nothing but what the core reports: who holds what.

`ended` is what step properties see of the last action: the very requests that it ended, in the order in
which the core ended them. It is forgotten before the next action, so it tells no two states apart. `FifoSpec` adds
that the queue serves first come, first served.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import methodcaller
from typing import Any, ClassVar

from structsync import Arbiter, Status
from structsync._core.queue.request import Request
from structsync.checking import Spec, invariant, invariants, refines, start, step, terminal

from .abstract_queue import AbstractQueue


class QueueSpec(Spec):
    """A core, and the requests that its last transition ended."""

    abstract = True
    forgets: ClassVar[tuple[str, ...]] = ("ended",)

    newcomers: Sequence[tuple[Any, int]]  # claims that one more could make, with their priority
    core: Arbiter[Any]  # the core that ships; declared by each spec
    ended: tuple[Request[Any], ...] = start(tuple)  # what the last action ended, in this order

    # ==== Words that actions use ====

    def submitted(self, request: Request[Any]) -> None:
        """Record a request that was just made: granted at once, or in the queue now."""
        self.note([request] if request.status is not Status.PENDING else [])

    def note(self, ended: Iterable[Request[Any]]) -> None:
        """Record the requests that a transition ended (see ended_requests_stay_ended)."""
        self.ended = tuple(ended)
        for request in self.ended:
            if request.status is Status.GRANTED:
                self.got(request)

    def got(self, request: Request[Any]) -> None:
        """Change the model: the core reports that this request is granted."""

    def in_queue(self) -> list[Any]:
        """Return who waits, in the order of their arrival."""
        return [request.waiter for request in self.core.queue]

    def request_of(self, who: object) -> Request[Any]:
        """Return the pending request of one that is in the queue."""
        return next(one for one in self.core.queue if one.waiter == who)

    def withdrawn(self, who: object) -> list[Request[Any]]:
        """Withdraw a task's pending request; return it and what that let in."""
        request = self.request_of(who)
        return [request, *(self.core.withdraw(request) or ())]

    def granted(self) -> list[Any]:
        """Return whom the last action granted, in this order."""
        return [one.waiter for one in self.ended if one.status is Status.GRANTED]

    def describe(self) -> Mapping[str, object]:
        core = self.core
        shown = {name: getattr(core, name) for name in core.state_fields}
        shown["queue"] = ", ".join(str(one.waiter) for one in core.waiting()) or "-"
        if core.cause is not None:
            shown["out of service"] = core.cause
        own = {name: value for name, value in vars(self).items() if name not in ("core", "ended")}
        return shown | own

    # ==== Where it may end ====

    @terminal
    def nobody_is_left(self) -> bool:
        """Out of service, with nobody in the queue, nothing more need happen."""
        return self.core.cause is not None and not self.in_queue()

    # ==== Invariants ====

    @invariant
    def nothing_grantable_waits(self) -> bool:
        """No lost wakeup: the one who is next does not fit (I3)."""
        return invariants.nothing_grantable_waits(self.core)

    @invariant
    def nobody_waits_out_of_service(self) -> bool:
        """Whoever was in the queue when it was closed or broken has been ended (C8)."""
        return invariants.nobody_waits_out_of_service(self.core)

    @invariant
    def nobody_joins_out_of_service(self) -> bool:
        """Closed or broken, it refuses whoever comes, and that leaves no trace (C8)."""
        return self.core.cause is None or all(
            invariants.refuses(self.core, methodcaller("enqueue", *claim))
            for claim in self.newcomers
        )

    @invariant
    def nowait_agrees_with_the_queue(self) -> bool:
        """A nowait succeeds exactly when a request made now would be granted (I2)."""
        return all(invariants.nowait_agrees(self.core, *claim) for claim in self.newcomers)

    # ==== Step properties ====

    @step
    def closed_stays_closed(self, before: Any) -> bool:
        """The first cause that takes it out of service stays (C1)."""
        return before.core.cause is None or bool(self.core.cause == before.core.cause)

    @step
    def ended_requests_stay_ended(self, before: Any) -> bool:
        """A request ends exactly once; withdrawing it after that changes nothing (I4)."""
        return all(invariants.ended_for_good(self.core, one) for one in self.ended)

    @step
    def positions_are_kept(self, before: Any) -> bool:
        """A position in the queue is lost by ending alone, and newcomers are at the end (I2)."""
        ended = [one.waiter for one in self.ended]
        return invariants.places_are_kept(before.in_queue(), ended, self.in_queue())


class FifoSpec(QueueSpec):
    """A queue whose head blocks those behind it."""

    abstract = True

    @refines(AbstractQueue)
    def it_is_a_queue(self) -> Mapping[str, object]:
        """Each step is one of a queue that serves first come, first served, or none (I2)."""
        return {"waiting": tuple(self.in_queue()), "granted": tuple(self.granted())}

    @step
    def grants_follow_the_queue(self, before: Any) -> bool:
        """First come, first served: no grant passes anybody who came earlier (I2)."""
        granted = self.granted()
        return not granted or invariants.served_in_queue(
            before.in_queue(), granted, self.in_queue()
        )

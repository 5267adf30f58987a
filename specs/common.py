"""What every queue of requests promises, whatever the requests are for.

The state is the core that ships, and beside it a naive model, made from what the core reports alone: which task
holds what. A specification of a primitive adds the core, the model, the actions, its own properties, and the bounds.

`ended` is what the last action ended: the requests, in the order in which the core ended them. Step properties look
at it. It is forgotten before the next action, so it tells no two states apart. `FifoSpec` adds that the queue
serves first come, first served.
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

    newcomers: Sequence[tuple[Any, int]]  # claims that one more task could make, with priorities
    core: Arbiter[Any]  # the core that ships; declared by each spec
    ended: tuple[Request[Any], ...] = start(tuple)  # what the last action ended, in this order

    # ==== Words that actions use ====

    def submitted(self, request: Request[Any]) -> None:
        """Record a request that was just made: granted at once, or in the queue now."""
        self.note([request] if request.status is not Status.PENDING else [])

    def note(self, ended: Iterable[Request[Any]]) -> None:
        """Record the requests that a transition ended, and change the model by those that are granted."""
        self.ended = tuple(ended)
        for request in self.ended:
            if request.status is Status.GRANTED:
                self.got(request)

    def got(self, request: Request[Any]) -> None:
        """Change the model: the core reports that this request is granted; each specification says how."""

    def in_queue(self) -> list[Any]:
        """Return which tasks wait, in the order of their arrival."""
        return [request.waiter for request in self.core.queue]

    def request_of(self, who: object) -> Request[Any]:
        """Return the pending request of a task that is in the queue."""
        return next(one for one in self.core.queue if one.waiter == who)

    def withdrawn(self, who: object) -> list[Request[Any]]:
        """Withdraw a task's pending request; return it, and the requests that were granted by that."""
        request = self.request_of(who)
        return [request, *(self.core.withdraw(request) or ())]

    def granted(self) -> list[Any]:
        """Return the tasks whose requests the last action granted, in this order."""
        return [one.waiter for one in self.ended if one.status is Status.GRANTED]

    def ahead_of(self, who: object) -> list[Any]:
        """Return the tasks ahead of this one in the queue: all of them, if it is to join at the end."""
        queue = self.in_queue()
        return queue[: queue.index(who)] if who in queue else queue

    def refuses(self, method: str, *arguments: object) -> bool:
        """Return whether the core refuses this call, and the attempt leaves no trace."""
        return invariants.refuses(self.core, methodcaller(method, *arguments))

    def describe(self) -> Mapping[str, object]:
        core = self.core
        shown = {name: getattr(core, name) for name in core.state_fields}
        shown["queue"] = ", ".join(str(one.waiter) for one in core.waiting()) or "-"
        if core.cause is not None:
            shown["closed or broken"] = core.cause
        own = {name: value for name, value in vars(self).items() if name not in ("core", "ended")}
        return shown | own

    # ==== Where it may end ====

    @terminal
    def no_task_is_left(self) -> bool:
        """Closed or broken, and with no task in the queue: nothing more need happen."""
        return self.core.cause is not None and not self.in_queue()

    # ==== Invariants ====

    @invariant
    def nothing_grantable_waits(self) -> bool:
        """No lost wakeup: no request that the policy would grant next fits (I3)."""
        return invariants.nothing_grantable_waits(self.core)

    @invariant
    def nothing_waits_when_closed_or_broken(self) -> bool:
        """Closed or broken, it has no task in the queue: the requests of all have been ended (C8)."""
        return invariants.nothing_waits_when_closed_or_broken(self.core)

    @invariant
    def nothing_joins_when_closed_or_broken(self) -> bool:
        """Closed or broken, it refuses each newcomer, and the attempt leaves no trace (C8)."""
        return self.core.cause is None or all(
            self.refuses("enqueue", *claim_and_priority) for claim_and_priority in self.newcomers
        )

    @invariant
    def nowait_agrees_with_the_queue(self) -> bool:
        """A nowait succeeds exactly when a request made now would be granted at once (I2)."""
        return all(
            invariants.nowait_agrees(self.core, claim, priority)
            for claim, priority in self.newcomers
        )

    # ==== Step properties ====

    @step
    def closed_stays_closed(self, before: Any) -> bool:
        """Once closed or broken it stays so, and for the same cause (C1)."""
        was_usable = before.core.cause is None
        return was_usable or bool(self.core.cause == before.core.cause)

    @step
    def ended_requests_stay_ended(self, before: Any) -> bool:
        """A request ends exactly once: withdrawing it after that changes nothing (I4)."""
        return invariants.ended_for_good(self.core, *self.ended)

    @step
    def positions_are_kept(self, before: Any) -> bool:
        """A task keeps its position until its request ends, and newcomers join at the end (I2)."""
        ended = [request.waiter for request in self.ended]
        return invariants.positions_are_kept(before.in_queue(), ended, self.in_queue())


class FifoSpec(QueueSpec):
    """A queue whose head blocks those behind it."""

    abstract = True

    @refines(AbstractQueue)
    def it_is_a_queue(self) -> Mapping[str, object]:
        """Each step is a step of the abstract queue, first come, first served, or changes nothing of it (I2)."""
        return {"waiting": tuple(self.in_queue()), "granted": tuple(self.granted())}

    @step
    def grants_follow_the_queue(self, before: Any) -> bool:
        """First come, first served: no task is granted while one that came earlier waits on (I2)."""
        return invariants.served_in_queue(before.in_queue(), self.granted(), self.in_queue())

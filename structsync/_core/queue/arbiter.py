"""The queue discipline behind every primitive, written once.

A primitive is *state*, a *queue* of requests, and three small functions over the state: ``admits``,
``admit`` and ``discharge``. Everything else is here: which request is next (by a policy), withdrawal at any
moment, closing, and the rule that keeps wakeups from being lost: **after every change, settle**.

When it is quiescent, that is between two transitions, this holds (I3)::

    no pending request that the policy would grant next is admitted by the state

Two transitions of one request have one home each: :meth:`Arbiter.grant`, and :meth:`Arbiter.end_with`
for every other end.

Rejected: granting a large claim in parts (tokio's batch semaphore) needs a second kind of ownership
for what was assigned and not yet granted, and loses it in a race (tokio #900); here a claim is all
or nothing. Rejected: a list of waiters beside the queue that maps tasks to requests; the queue is the
only home of what waits.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

from .request import BROKEN, GRANTED, PENDING, WITHDRAWN, ClaimT, Request, Status
from .state import EndedForGood as EndedForGood
from .state import PrimitiveState
from .user_code import UserCodeFailed

new_object = object.__new__

#: Instead of what ``admit`` returns, because that may be anything: it has not been called.
NOT_ADMITTED: Final = object()


class Arbiter(PrimitiveState[ClaimT]):
    """The public base of a pure core: a queue of requests and the policy that grants them.

    Subclass it, declare the state as annotated attributes of the class (hashable values), and write
    ``admits``, ``admit`` and ``discharge``. Wrap it in a :class:`structsync.Primitive` to use it in a trio
    program; give it to :mod:`structsync.checking` to check it. The arbiter's own names, such as ``queue``
    and ``cause``, are reserved: using one for the state is a TypeError when the class is made.

    Args:
      policy: ``"fifo"`` (the head blocks those behind it), ``"eligible"`` (the oldest that fits) or
          ``"priority"`` (smaller number first).
      ageing: with ``"priority"``, a request is ranked by its arrival + ``ageing`` x priority, so
          that fewer than ``ageing`` later arrivals per level may overtake; None for strict levels.
    """

    if TYPE_CHECKING:  # an annotation that is executed would declare state
        next_ticket: int

    # Transitions. Those that end requests return them, in the order of their grants.

    def admissible(self, claim: ClaimT, priority: int = 0) -> bool:
        """Return whether the claim, submitted now, would be granted at once (I2)."""
        if self.queue.length:
            policy = self.policy
            if not (
                policy.may_be_passed and policy.may_pass(self.queue, self.next_ticket, priority)
            ):
                return False
        if self.cause is not None:
            return False
        return self.admits(claim)

    def admissible_or_error(self, claim: ClaimT, priority: int = 0) -> bool:
        """Return the same; raise what a function of the user raises as it was raised."""
        try:
            return self.admissible(claim, priority)
        except BaseException as error:  # noqa: BLE001 - ours is raised again by guard_error
            raise self.guard_error(error) from None

    def enqueue(
        self, claim: ClaimT, priority: int = 0, waiter: Any = None, parked: bool = False
    ) -> Request[ClaimT]:
        """Put a claim that is not admissible now into the queue.

        Args:
          parked: whether the waiter sleeps from now on until the request ends.

        Raises:
          EndedForGood: if the primitive is closed or broken.
          Exception: what :meth:`refuse_impossible` raises, if it can never be granted.
        """
        if self.cause is not None:
            self.refuse(claim)
        self.refuse_impossible(claim)
        # What its constructor does, too; to call that costs a hundredth of a hand-over.
        request = new_object(self.request_type)
        request.claim = claim
        request.waiter = waiter
        request.parked = parked
        request.status = PENDING
        self.join(request, priority)
        return request

    def join(self, request: Request[ClaimT], priority: int = 0) -> None:
        """Put a pending request that is in no queue at the end of this one."""
        ticket = request.ticket = self.next_ticket
        self.next_ticket = ticket + 1
        if self.policy.ranked:
            self.policy.join(self.queue, request, priority)
        else:
            self.queue.append(request)
        if self.has_index:
            self.entered(request)

    def submit(self, claim: ClaimT, priority: int = 0, waiter: Any = None) -> Request[ClaimT]:
        """Grant the claim at once if that is fair, else put it into the queue.

        Raises:
          Exception: what ``enqueue`` raises; and what a function of the user raises.
        """
        if not self.admissible_or_error(claim, priority):
            return self.enqueue(claim, priority, waiter)
        request = self.request_type(claim, self.next_ticket, waiter)
        self.next_ticket += 1
        self.grant(request)
        return request

    def take(self, claim: ClaimT) -> None:
        """Grant a claim that is admissible now and need not be known as a request."""
        if self.queue.length:
            self.next_ticket += 1  # an arrival that overtook: the waiters age by it
        self.admit(claim)

    def grant(self, request: Request[ClaimT], handed: Any = NOT_ADMITTED) -> Any:
        """Grant a request that the state admits now: the state, the queue, the status (I5).

        Returns what :meth:`admit` does. That is ``handed``, where the claim was admitted in this very step.
        """
        if handed is NOT_ADMITTED:
            handed = self.admit(request.claim)
        queue = request.queue
        if queue is not None:
            queue.remove(request)
            if self.has_index:
                self.left(request)
        request.status = GRANTED
        return handed

    def end_with(
        self, request: Request[ClaimT], status: Status, cause: object = None
    ) -> Request[ClaimT]:
        """End a pending request otherwise than by a grant, and the others of its group with it."""
        self.leave(request)
        request.status = status
        if status is BROKEN:
            request.cause = cause
        if request.group is not None:
            request.group.ended_with(request)
        return request

    def leave(self, request: Request[ClaimT]) -> bool:
        """Take a request out of the queue, if it is pending there; the caller settles."""
        queue = self.queue
        if request.queue is not queue:
            return False
        queue.remove(request)
        if self.has_index:
            self.left(request)
        return True

    def replace(self, request: Request[ClaimT], successor: Request[ClaimT]) -> None:
        """Give a pending request's position in the queue to another one, which is in no queue."""
        successor.ticket = request.ticket
        self.queue.replace(request, successor)
        if self.has_index:
            self.left(request)
            self.entered(successor)

    def withdraw(self, request: Request[ClaimT]) -> list[Request[ClaimT]] | None:
        """Take a request out of the queue, and grant the requests behind it that now fit.

        Returns None, and changes nothing, if the request is not pending in this queue (I4).
        """
        if request.queue is not self.queue:
            return None
        self.end_with(request, WITHDRAWN)
        # Under "eligible" each that waits was evaluated in this very state, and is not admitted.
        return self.settle() if self.policy.head_blocks else []

    def settle(self, candidates: Iterable[Request[ClaimT]] | None = None) -> list[Request[ClaimT]]:
        """Grant whatever can be granted now, of the candidates if they are given, in grant order.

        Runs after every change that may make a request grantable. One pass is enough: a grant makes
        no room, so a request that was passed over is not admitted later in the pass.
        """
        ended: list[Request[ClaimT]] = []
        walk: Iterator[Request[ClaimT]] | None = None
        if candidates is not None or self.own_candidates or self.policy.own_candidates:
            walk = iter(self.candidates() if candidates is None else candidates)
            request = next(walk, None)
        else:
            request = self.queue.head  # an iterator would cost a fiftieth of a hand-over
        while request is not None:
            behind, group = request.behind, request.group
            try:
                fits = self.admits(request.claim)
                if group is not None:
                    fits = fits and group.consents(request)
            except BaseException as error:  # noqa: BLE001 - ours is raised again by guard_error
                ended.append(self.end_with(request, BROKEN, self.guard_error(error)))
            else:
                if fits:
                    ended.append(request)
                    if group is not None:
                        group.grant(request)
                    elif self.grant(request):
                        break
                elif self.policy.head_blocks:
                    break
            request = behind if walk is None else next(walk, None)
        return ended

    def guard_error(self, error: BaseException) -> BaseException:
        """Return what a function of the user raised, or raise an error that is our own again.

        A guard's error ends its own request only (I6).
        """
        if isinstance(error, UserCodeFailed):
            return error.error
        if self.user_written:
            return error
        raise error

    def is_next(self, request: Request[ClaimT]) -> bool:
        """Return whether a pending member of a group is at the head and fits; groups need "fifo"."""
        if self.queue.head is not request:
            return False
        try:
            return self.admits(request.claim)
        except BaseException as error:  # noqa: BLE001 - for the arbiter that evaluates the group
            raise UserCodeFailed(self.guard_error(error)) from None

    def release(self, claim: ClaimT) -> list[Request[ClaimT]]:
        """Release a claim, and grant the next requests that fit."""
        return self.discharge_and_settle(claim) or []

    def discharge_and_settle(self, claim: ClaimT) -> list[Request[ClaimT]] | None:
        """Do what :meth:`release` does; None if no task waits: a list costs a thirtieth of a block."""
        self.discharge(claim)
        return self.settle() if self.queue.length else None

    def end(self, cause: Hashable) -> list[Request[ClaimT]]:
        """Close or break the primitive for good: break every waiter, refuse later claims."""
        if self.cause is None:
            self.cause = cause
        return [self.end_with(request, BROKEN, cause) for request in self.waiting()]


def taker_of(core: Arbiter[ClaimT]) -> Callable[[ClaimT], object]:
    """Return the method that takes an admissible claim: :meth:`Arbiter.take`, or what that comes to.

    Where no newcomer may pass the waiters, none of them ages by it, and ``admit`` alone is left.
    """
    passes = core.policy.may_be_passed or type(core).take is not Arbiter.take
    return core.take if passes else core.admit


def releaser_of(core: Arbiter[ClaimT]) -> Callable[[ClaimT], list[Request[ClaimT]] | None]:
    """Return the method that releases a claim: :meth:`Arbiter.release`, or what that comes to."""
    return core.discharge_and_settle if type(core).release is Arbiter.release else core.release

"""The queue discipline behind every primitive, written once.

A primitive is *state*, a *queue* of requests, and three small functions over the state: ``admits``,
``admit`` and ``give_back``. Everything else is here: who is next (by a policy), withdrawal at any
moment, closing, and the rule that keeps wakeups from being lost: **after every change, settle**.

At rest, that is between two transitions, this holds (I3)::

    no pending request that the policy would grant next is admitted by the state

Rejected: granting a large claim in parts (tokio's batch semaphore) needs a second kind of ownership
for what was assigned and not yet granted, and loses it in a race (tokio #900); here a claim is all
or nothing. Rejected: a list of waiters beside the queue that maps tasks to requests; the queue is the
only home of who waits.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Hashable, Sequence
from typing import Any, ClassVar, Generic, Protocol, TypeAlias

from .policy import Policy, make_policy
from .request import BROKEN, GRANTED, WITHDRAWN, ClaimT, Request


class EndedForGood(Exception):
    """The primitive is closed or broken; ``cause`` says why."""

    def __init__(self, cause: Hashable) -> None:
        super().__init__(cause)
        self.cause = cause


class Place(Protocol):
    """A queue, seen from another one."""

    @property
    def arbiter(self) -> Arbiter[Any]: ...
    @property
    def home(self) -> Any: ...  # the primitive of the arbiter, opaque here; the shell's mark


#: A place that is to be settled, and what has ended there already.
ToSettle: TypeAlias = "tuple[Place, list[Request[Any]]]"


class Group(ABC):
    """Requests in several queues that end together: what an arbiter asks and tells one."""

    __slots__ = ()

    @abstractmethod
    def consents(self, request: Request[Any]) -> bool:
        """Return whether a request that its arbiter would grant now may be granted. Pure."""

    @abstractmethod
    def ended_with(self, request: Request[Any]) -> None:
        """End the others with a request that has ended just now; settle nothing."""

    @abstractmethod
    def left(self, request: Request[Any]) -> Sequence[ToSettle]:
        """Return where else something has ended with it, or may be grantable now."""


class Arbiter(ABC, Generic[ClaimT]):
    """The public base of a pure core: a queue of requests and the policy that grants them.

    Subclass it, declare the state as annotated attributes of the class (hashable values), and write
    ``admits``, ``admit`` and ``give_back``. Wrap it in a :class:`structsync.Primitive` to use it in
    a trio program; give it to :mod:`structsync.checking` to check it.

    Args:
      policy: ``"fifo"`` (the head blocks those behind it), ``"eligible"`` (the oldest that fits) or
          ``"priority"`` (smaller number first).
      ageing: with ``"priority"``, a request is ranked by its arrival + ``ageing`` x priority, so
          that fewer than ``ageing`` later arrivals per level may overtake; None for strict levels.
    """

    request_type: ClassVar[type[Request[Any]]] = Request
    state_fields: ClassVar[tuple[str, ...]] = ()  # the annotated attributes of the subclasses

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        own = inspect.get_annotations(cls).items()
        names = (name for name, kind in own if "ClassVar[" not in str(kind))
        cls.state_fields = tuple(dict.fromkeys((*cls.state_fields, *names)))

    def __init__(self, *, policy: str = "fifo", ageing: int | None = 100) -> None:
        self.policy: Policy = make_policy(policy, ageing)
        # Pending requests by ticket, oldest first.
        self.queue: OrderedDict[int, Request[ClaimT]] = OrderedDict()
        self.next_ticket: int = 0
        # Why the primitive is closed or broken; None while it is in service.
        self.cause: Hashable = None

    # The three functions of a primitive. They see the state and the claim, never the queue.

    @abstractmethod
    def admits(self, claim: ClaimT) -> bool:
        """Return whether the state has room for the claim now. Pure."""

    @abstractmethod
    def admit(self, claim: ClaimT) -> None:
        """Take the claim. Called only when :meth:`admits` holds; must not raise.

        It must not make room for others either: what makes room is :meth:`give_back`, after which
        those who wait are asked again.
        """

    @abstractmethod
    def give_back(self, claim: ClaimT) -> None:
        """Undo :meth:`admit`. May raise if nothing was taken, and then changes nothing."""

    def refuse_impossible(self, claim: ClaimT) -> None:
        """Raise if the claim can never be granted (I7): it must not block those behind it."""

    def refuse(self, claim: ClaimT) -> None:
        """Raise if the claim can no longer, or never, be granted."""
        if self.cause is not None:
            raise EndedForGood(self.cause)
        self.refuse_impossible(claim)

    def sum_of(self, claims: Sequence[ClaimT]) -> ClaimT:
        """Return one claim for several of one group, which has one place in this queue.

        Raises:
          RuntimeError: if there is more than one, and no claim that stands for them.
        """
        if len(claims) > 1:
            raise RuntimeError(
                "a group can claim this primitive once only, because its claims have no sum"
            )
        return claims[0]

    @property
    def at_rest(self) -> bool:
        """Whether nobody waits and nobody owns it, so that it may move to another run."""
        return not self.queue

    # Transitions. Those that end requests return them, in the order of their grants.

    def admissible(self, claim: ClaimT, priority: int = 0) -> bool:
        """Return whether the claim, submitted now, would be granted at once (I2)."""
        if self.queue and not self.policy.may_pass(self.queue, self.next_ticket, priority):
            return False
        return self.cause is None and self.admits(claim)

    def enqueue(self, claim: ClaimT, priority: int = 0, waiter: Any = None) -> Request[ClaimT]:
        """Put a claim that is not admissible now into the queue.

        Raises:
          OutOfService: if the primitive is closed or broken.
          Exception: what :meth:`refuse_impossible` raises, if it can never be granted.
        """
        self.refuse(claim)
        request = self.request_type(claim, self.next_ticket, waiter)
        self.join(request, priority)
        return request

    def join(self, request: Request[ClaimT], priority: int = 0) -> None:
        """Put a pending request that is in no queue at the end of this one."""
        ticket = request.ticket = self.next_ticket
        if self.policy.ranked:
            self.policy.joined(self.queue, ticket, priority)
        self.queue[ticket] = request
        self.next_ticket = ticket + 1

    def submit(self, claim: ClaimT, priority: int = 0, waiter: Any = None) -> Request[ClaimT]:
        """Grant the claim at once if that is fair, else put it into the queue."""
        if not self.admissible(claim, priority):
            return self.enqueue(claim, priority, waiter)
        request = Request(claim, self.next_ticket, waiter)
        self.take(claim)
        request.status = GRANTED
        return request

    def take(self, claim: ClaimT) -> None:
        """Grant a claim that is admissible now and need not be known as a request."""
        self.next_ticket += 1  # an arrival that overtook: those who wait age by it
        self.admit(claim)

    def leave(self, request: Request[ClaimT]) -> bool:
        """Take a request out of the queue, if it is pending there; the caller settles."""
        if self.queue.get(request.ticket) is not request:
            return False
        del self.queue[request.ticket]
        return True

    def replace(self, request: Request[ClaimT], successor: Request[ClaimT]) -> None:
        """Give a pending request's position in the queue to another one, which is in no queue."""
        successor.ticket = request.ticket
        self.queue[request.ticket] = successor

    def withdraw(self, request: Request[ClaimT]) -> list[Request[ClaimT]] | None:
        """Take a request out of the queue and let in those behind it.

        Returns None, and changes nothing, if the request is not pending in this queue (I4).
        """
        if not self.leave(request):
            return None
        request.status = WITHDRAWN
        if request.group is not None:
            request.group.ended_with(request)
        # Under "eligible" each that waits was looked at in this very state, and is not admitted.
        return self.settle() if self.policy.head_blocks else []

    def settle(self) -> list[Request[ClaimT]]:
        """Grant whatever can be granted now, in grant order.

        Runs after every change that may make somebody grantable.
        """
        ended: list[Request[ClaimT]] = []
        queue, policy = self.queue, self.policy
        while queue:
            for request in policy.candidates(queue):
                group = request.group
                try:
                    fits = self.admits(request.claim) and (group is None or group.consents(request))
                except BaseException as error:  # noqa: BLE001 - a guard's error ends its own request only (I6)
                    self._break(request, error)
                    ended.append(request)
                    break
                if fits:
                    self.admit(request.claim)  # the grant, the state, the status: one step (I5)
                    del queue[request.ticket]
                    request.status = GRANTED
                    if group is not None:
                        group.ended_with(request)
                    ended.append(request)
                    break
                if policy.head_blocks:
                    return ended
            else:
                break
        return ended

    def is_next(self, request: Request[ClaimT]) -> bool:
        """Return whether a pending request stands at the head and fits, whatever its group says."""
        head = next(iter(self.policy.candidates(self.queue)))
        return head is request and self.admits(request.claim)

    def release(self, claim: ClaimT) -> list[Request[ClaimT]]:
        """Give a claim back and grant what that makes room for."""
        self.give_back(claim)
        return self.settle() if self.queue else []

    def end(self, cause: Hashable) -> list[Request[ClaimT]]:
        """Take the primitive out of service for good: break every waiter, refuse later claims."""
        if self.cause is None:
            self.cause = cause
        ended = self.waiting()
        for request in ended:
            self._break(request, cause)
        return ended

    def _break(self, request: Request[ClaimT], cause: object) -> None:
        self.leave(request)
        request.status = BROKEN
        request.cause = cause
        if request.group is not None:
            request.group.ended_with(request)

    # Views, for statistics, the checker and the explorer.

    def waiting(self) -> list[Request[ClaimT]]:
        """Return the pending requests in the order in which they stand."""
        return self.policy.in_order(self.queue)

    def snapshot(self) -> Hashable:
        """Return everything that decides the future, as a hashable value.

        Equal situations are equal values: positions in the queue are counted, not numbered. The waiters in
        it are those that were given at submit.
        """
        own = vars(self)
        state = tuple([own[name] for name in self.state_fields])
        queue = tuple([(request.claim, request.waiter) for request in self.queue.values()])
        return (state, self.cause, queue, self.policy.snapshot(self.queue, self.next_ticket))

    def restore(self, snapshot: Any) -> None:
        """Return to a situation that :meth:`snapshot` described; its requests are made anew."""
        state, self.cause, queue, ranks = snapshot
        vars(self).update(zip(self.state_fields, state, strict=True))
        self.next_ticket = 0
        self.queue.clear()
        tickets = self.policy.restore(ranks, len(queue))
        for ticket, (claim, waiter) in zip(tickets, queue, strict=True):
            self.queue[ticket] = self.request_type(claim, ticket, waiter)

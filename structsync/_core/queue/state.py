"""What a primitive is made of, without its transitions: the state, the queue and the three functions.

A snapshot is everything that decides the future. The transitions are in :mod:`.arbiter`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, ClassVar, Generic

from .annotations import annotations_of
from .own_core import refuse_reserved_names
from .policy import Policy, make_policy
from .request import ClaimT, Queue, Request


class EndedForGood(Exception):
    """The primitive is closed or broken; ``cause`` says why."""

    def __init__(self, cause: Hashable) -> None:
        super().__init__(cause)
        self.cause = cause


class PrimitiveState(ABC, Generic[ClaimT]):
    """What a primitive remembers: its state, its queue, and why it is closed or broken."""

    request_type: ClassVar[type[Request[Any]]] = Request
    state_fields: ClassVar[tuple[str, ...]] = ()  # the annotated attributes of the subclasses
    has_index: ClassVar[bool] = False  # whether it is told which requests enter and leave the queue
    grants_make_room: ClassVar[bool] = False  # for others, so that it is to be settled after them
    user_written: ClassVar[bool] = False  # whether an error of admits() is an error of the user
    own_candidates: ClassVar[bool] = False  # whether they are others than those of the policy

    policy: Policy
    queue: Queue[ClaimT]
    next_ticket: int
    cause: Hashable  # why the primitive is closed or broken; None while it is neither

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        own = annotations_of(cls).items()
        names = (name for name, kind in own if "ClassVar[" not in str(kind))
        cls.state_fields = tuple(dict.fromkeys((*cls.state_fields, *names)))
        cls.has_index = cls.entered is not PrimitiveState.entered
        cls.own_candidates = cls.candidates is not PrimitiveState.candidates
        cls.user_written = not cls.__module__.startswith("structsync._core.")
        if cls.user_written:
            refuse_reserved_names(cls)

    def __init__(self, *, policy: str = "fifo", ageing: int | None = 100) -> None:
        self.policy = make_policy(policy, ageing)
        self.queue = self.policy.new_queue()
        self.next_ticket = 0
        self.cause = None

    # The three functions of a primitive. They see the state and the claim, never the queue.

    @abstractmethod
    def admits(self, claim: ClaimT) -> bool:
        """Return whether the state has room for the claim now. Pure."""

    @abstractmethod
    def admit(self, claim: ClaimT) -> bool | None:
        """Take the claim. Called only when :meth:`admits` holds; must not raise.

        It must not make room for other claims: only :meth:`discharge` does, after which waiting requests
        are evaluated again.

        Returns:
          True if there is no room for any claim now, so that no other request need be evaluated; returning
          None is always correct.
        """

    @abstractmethod
    def discharge(self, claim: ClaimT) -> None:
        """Undo :meth:`admit`. May raise if nothing was taken, and then changes nothing."""

    def handed_out(self, claim: ClaimT) -> Any:
        """Return what an acquire of this claim returns, now that it is granted. Pure."""
        return None

    def refuse_impossible(self, claim: ClaimT) -> None:
        """Raise if the claim can never be granted (I7): it would block the requests behind it."""

    def refuse(self, claim: ClaimT) -> None:
        """Raise if the claim can no longer, or never, be granted."""
        if self.cause is not None:
            raise EndedForGood(self.cause)
        self.refuse_impossible(claim)

    def sum_of(self, claims: Sequence[ClaimT]) -> ClaimT:
        """Return one claim for several of one group, which has one position in this queue.

        Raises:
          RuntimeError: if there is more than one, and no claim that stands for them.
        """
        if len(claims) > 1:
            raise RuntimeError(
                "a group can claim this primitive once only, because its claims have no sum"
            )
        return claims[0]

    @property
    def is_idle(self) -> bool:
        """Whether no task waits and no task is known to hold it, so that it may move to another run."""
        return not self.queue

    # An index into the queue, for cores that need one: overridden together, or not at all.

    def start_index(self) -> None:
        """Begin with the index of an empty queue."""

    def entered(self, request: Request[ClaimT]) -> None:
        """Take note of a request that stands in the queue now."""

    def left(self, request: Request[ClaimT]) -> None:
        """Take note of a request that stands in the queue no more."""

    def candidates(self) -> Iterable[Request[ClaimT]]:
        """Yield those that may be granted next, in the order in which they are evaluated.

        The request that was yielded last may end; the others stay where they are.
        """
        return self.policy.candidates(self.queue)

    # Views, for statistics, the checker and the explorer.

    def waiting(self) -> list[Request[ClaimT]]:
        """Return the pending requests in the order in which they stand."""
        return self.policy.in_order(self.queue)

    def count_waiting(self) -> int:
        """Return how many requests are pending; of one look, so that it can be called in the middle of anything."""
        return len(self.queue)

    def next_ones(self) -> list[Request[ClaimT]]:
        """Return those that would be granted if the state had room for them, and no others."""
        waiting = self.waiting()
        return waiting[:1] if self.policy.head_blocks else waiting

    def snapshot(self) -> Hashable:
        """Return everything that decides the future, as a hashable value.

        Equal situations are equal values: positions in the queue are counted, not numbered. The
        waiters in it are those that were given at submit.
        """
        own = vars(self)
        state = tuple([own[name] for name in self.state_fields])
        queue = self.queue
        waiting = tuple([(one.claim, one.waiter) for one in queue]) if queue.length else ()
        return (state, self.cause, waiting, self.policy.snapshot(queue, self.next_ticket))

    def restore(self, snapshot: Any) -> None:
        """Return to a situation that :meth:`snapshot` described; its requests are made anew."""
        state, self.cause, queue, ranks = snapshot
        vars(self).update(zip(self.state_fields, state, strict=True))
        self.next_ticket = 0
        self.queue.clear()
        self.start_index()
        requests = [self.request_type(claim, 0, waiter) for claim, waiter in queue]
        self.policy.restore(self.queue, requests, ranks)
        if self.has_index:
            for request in requests:
                self.entered(request)

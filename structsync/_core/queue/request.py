"""A request: what is wanted, its position in a queue, and how it ended; and the queue itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator, Sequence
from enum import StrEnum
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

ClaimT = TypeVar("ClaimT")


class Status(StrEnum):
    """The status of a request: ``pending``, then exactly one of the other three."""

    PENDING = "pending"
    GRANTED = "granted"
    WITHDRAWN = "withdrawn"
    BROKEN = "broken"


# Module constants, because looking a member up in an enum class costs as much as a transition.
PENDING, GRANTED, WITHDRAWN, BROKEN = Status


class Request(Generic[ClaimT]):
    """One claim in the queue of one arbiter.

    Only the arbiter writes ``ticket`` and ``status`` (I4: a request ends exactly once), and only its
    queue the links.
    """

    __slots__ = (
        "ahead",
        "behind",
        "cause",
        "claim",
        "parked",
        "primitive",
        "queue",
        "status",
        "ticket",
        "waiter",
    )

    claim: ClaimT
    ticket: int  # position in the queue; a number that only grows
    status: Status
    waiter: Any  # whose request it is, opaque here
    parked: bool  # whether the waiter sleeps until the request ends; the shell's mark
    primitive: Any  # of which it is claimed, opaque here; the shell's mark, set before it parks
    cause: object  # why it ended; set only once it is broken
    queue: Queue[ClaimT] | None  # where it stands
    ahead: Request[ClaimT] | None
    behind: Request[ClaimT] | None
    # Those it is granted with; of the class, so that a request that stands alone pays nothing.
    group: Group | None = None

    def __init__(self, claim: ClaimT, ticket: int, waiter: Any = None) -> None:
        self.claim = claim
        self.ticket = ticket
        self.waiter = waiter
        self.parked = False
        self.status = PENDING
        self.queue = None

    def __call__(self, raise_cancel: Any) -> Any:
        """Stop the wait for it: what trio calls to cancel the task that sleeps here.

        A method bound to the request would cost a sleeper 64 bytes, and a fiftieth of a hand-over.
        """
        return self.primitive._abort(self, raise_cancel)

    def __repr__(self) -> str:
        return f"<{self.status} request {self.ticket} for {self.claim!r}>"


class Queue(Generic[ClaimT]):
    """Pending requests in the order of their tickets, linked through the requests themselves.

    Rejected: an ordered dict by ticket. A withdrawal in the middle of 100,000 touches memory that no
    cache holds, and an entry costs more than the two links.
    """

    __slots__ = ("head", "length", "tail")

    head: Request[ClaimT] | None
    tail: Request[ClaimT] | None
    length: int

    def __init__(self) -> None:
        self.head = self.tail = None
        self.length = 0

    def append(self, request: Request[ClaimT]) -> None:
        """Put a request that is in no queue at the end."""
        tail = self.tail
        request.ahead = tail
        request.behind = None
        request.queue = self
        if tail is None:
            self.head = request
        else:
            tail.behind = request
        self.tail = request
        self.length += 1

    def remove(self, request: Request[ClaimT]) -> None:
        """Take out a request of this queue."""
        ahead, behind = request.ahead, request.behind
        # Not left linked: a reference to an ended request would keep all that came after it.
        if ahead is None:
            self.head = behind
        else:
            ahead.behind = behind
            request.ahead = None
        if behind is None:
            self.tail = ahead
        else:
            behind.ahead = ahead
            request.behind = None
        request.queue = None
        self.length -= 1

    def replace(self, request: Request[ClaimT], successor: Request[ClaimT]) -> None:
        """Give the position of a request of this queue to another one, which is in no queue."""
        ahead, behind = request.ahead, request.behind
        successor.ahead, successor.behind, successor.queue = ahead, behind, self
        if ahead is None:
            self.head = successor
        else:
            ahead.behind = successor
        if behind is None:
            self.tail = successor
        else:
            behind.ahead = successor
        request.queue = request.ahead = request.behind = None

    def clear(self) -> None:
        """Take out all requests."""
        if self.length:
            for request in self:
                self.remove(request)

    def __len__(self) -> int:
        return self.length

    def __bool__(self) -> bool:
        return self.head is not None

    def __iter__(self) -> Iterator[Request[ClaimT]]:
        """Yield the requests in their order; the one that was yielded last may be taken out."""
        request = self.head
        while request is not None:
            behind = request.behind
            yield request
            request = behind


class Settles(Protocol):
    """What is known of an arbiter in another queue than its own: it can be settled."""

    def settle(self) -> list[Request[Any]]: ...


class QueueRef(Protocol):
    """A queue, seen from another one: its arbiter, and the primitive of that."""

    @property
    def arbiter(self) -> Settles: ...
    @property
    def primitive(self) -> Any: ...  # opaque here; the shell's mark


class Concerned(Hashable, Protocol):
    """What an end in one queue may have changed: other queues, one or several."""

    def queues(self) -> Sequence[QueueRef]: ...


#: What is to be settled, and what has ended there already.
ToSettle: TypeAlias = tuple[Concerned, Sequence[Request[Any]]]


class Group(ABC):
    """Requests in several queues that end together: what an arbiter evaluates and reports."""

    __slots__ = ()

    @abstractmethod
    def consents(self, request: Request[Any]) -> bool:
        """Return whether a request that its arbiter would grant now may be granted.

        Changes nothing that decides; :meth:`grant` may follow at once.
        """

    @abstractmethod
    def grant(self, request: Request[Any]) -> None:
        """Grant the request that was consented to, and end the others with it; settle nothing."""

    @abstractmethod
    def ended_with(self, request: Request[Any]) -> None:
        """End the others with a request that was withdrawn or broken just now; settle nothing."""

    @abstractmethod
    def to_settle(self, request: Request[Any]) -> Sequence[ToSettle]:
        """Return where else something has ended with the request, or may be grantable now."""


CoreRequest = Request  # for users, to whom the request of a primitive is the Request

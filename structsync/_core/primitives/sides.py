"""The queue of a buffer: puts and gets, each in a lane of their own."""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter
from typing import Any, ClassVar, TypeAlias

from structsync._core.queue.policy import Fifo
from structsync._core.queue.request import Queue, Request

#: A claim on room for items, which are put in by the grant: what is to be kept, in this order.
Put: TypeAlias = tuple[Any, ...]


class Get:
    """A claim on up to ``most`` items, and one at least.

    Once it is granted, the claim of its request is the list of the items.
    """

    __slots__ = ("most",)
    #: Whether it waits, once there are some, until there are ``most``.
    collects: ClassVar[bool] = False
    #: Whether it is granted an item, and not a list of items.
    single: ClassVar[bool] = False
    #: Whether it is granted an item that it may put back.
    lends: ClassVar[bool] = False
    most: int

    def __init__(self, most: int) -> None:
        self.most = most

    def opened(self) -> None:
        """Called when it begins to collect: it is the next to get, and its first item is there."""

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.most == other.most

    def __hash__(self) -> int:
        return hash((type(self), self.most))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.most})"


class One(Get):
    """A claim on an item; once it is granted, the claim of its request is the item."""

    __slots__ = ()
    single = True

    def __init__(self) -> None:
        super().__init__(1)


class Lend(Get):
    """A claim on an item in hand, of a block; each is made once, and stands for the item from then on.

    Attributes:
      borrower: the task whose block it is, opaque here.
    """

    __slots__ = ("borrower",)
    lends = True
    borrower: Any

    def __init__(self, borrower: Any = None) -> None:
        super().__init__(1)
        self.borrower = borrower

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)


class Batch(Get):
    """A claim on ``most`` items, or fewer once its window is over."""

    __slots__ = ()
    collects = True


class Lane(Queue[Any]):
    """The requests that wait on one side."""

    __slots__ = ("other",)
    other: Lane  # those on the other side, for which a grant on this one may make room


class Sides(Queue[Any]):
    """Pending requests in two lanes, each first come, first served; ``head`` is not kept."""

    __slots__ = ("gets", "puts")

    gets: Lane
    puts: Lane

    def __init__(self) -> None:
        self.gets, self.puts = Lane(), Lane()
        self.gets.other, self.puts.other = self.puts, self.gets

    @property
    def length(self) -> int:  # type: ignore[override]  # what stands here stands in a lane, which counts
        return self.gets.length + self.puts.length

    def lane(self, claim: object) -> Lane:
        """Return the lane in which a claim stands."""
        return self.puts if type(claim) is tuple else self.gets

    def append(self, request: Request[Any]) -> None:
        # as lane() does, without the call: one stands here in each hand-over
        (self.puts if type(request.claim) is tuple else self.gets).append(request)
        request.queue = self

    def remove(self, request: Request[Any]) -> None:
        (self.puts if type(request.claim) is tuple else self.gets).remove(request)

    def replace(self, request: Request[Any], successor: Request[Any]) -> None:
        self.lane(request.claim).replace(request, successor)
        successor.queue = self

    def __bool__(self) -> bool:
        return self.length > 0

    def __iter__(self) -> Iterator[Request[Any]]:
        standing = [*self.gets, *self.puts]
        if self.gets.length and self.puts.length:
            standing.sort(key=attrgetter("ticket"))
        return iter(standing)


class OnBothSides(Fifo):
    """First come, first served among puts, and among gets."""

    __slots__ = ()
    single_queue: ClassVar[bool] = False

    def new_queue(self) -> Sides:
        return Sides()

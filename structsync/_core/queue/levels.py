"""The queue of the policy "priority": a list for each level, and a heap of the levels.

Rejected: a heap of all requests. One that is withdrawn stays in it until a rebuild, and of 100,000 each grant
looks at entries that no cache holds. Rejected: the levels in a sorted list; where each that waits has a level
of its own, whatever joins moves all that are behind.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heapify, heappop, heappush, heapreplace
from operator import attrgetter
from typing import Any, Final, TypeAlias

from .request import ClaimT, Queue, Request

SPARE: Final = 16  # so many levels more than twice the waiters are known, and no more


class Level(Request[Any]):
    """Both ends of the list of those on one level: its links are to the first (behind) and the last (ahead).

    So the list is a ring. A request that leaves links two others to each other, and need not know its level.
    """

    __slots__ = ("number",)

    number: int

    def __init__(self, number: int) -> None:
        self.number = number
        self.ahead = self.behind = self


#: The rank and the ticket of the first on a level, when that was last looked at, and the level.
Top: TypeAlias = tuple[int, int, Level]


class Levels(Queue[ClaimT]):
    """Pending requests by level, the smallest number first; on one level the oldest. No ``head`` is kept.

    Each level that is known has one entry in ``tops``, a heap. A request that joins a level ranks behind all that
    were on it, so an entry may be before the first of its level, never behind; it is brought up to date, or
    dropped if none is left there, when it gets to the top of the heap.
    """

    __slots__ = ("by_number", "tops")

    length: int
    by_number: dict[int, Level]
    tops: list[Top]

    def __init__(self) -> None:
        super().__init__()
        self.by_number = {}
        self.tops = []

    def rank(self, ticket: int, number: int) -> int:
        """Return where a request of that level stands; of equal ranks the smaller ticket is first."""
        return number

    def append(self, request: Request[ClaimT], number: int = 0) -> None:
        """Put a request that is in no queue at the end of a level."""
        level = self.by_number.get(number)
        if level is None:
            if len(self.tops) > 2 * self.length + SPARE:  # amortized: it drops more than half
                self._drop_empty()
            level = Level(number)
            heappush(self.tops, (self.rank(request.ticket, number), request.ticket, level))
            self.by_number[number] = level
        last: Any = level.ahead
        request.ahead = last
        request.behind = level
        request.queue = self
        last.behind = level.ahead = request
        self.length += 1

    def remove(self, request: Request[ClaimT]) -> None:
        ahead: Any = request.ahead
        behind: Any = request.behind
        ahead.behind = behind
        behind.ahead = ahead
        request.queue = request.ahead = request.behind = None
        self.length -= 1

    def replace(self, request: Request[ClaimT], successor: Request[ClaimT]) -> None:
        ahead: Any = request.ahead
        behind: Any = request.behind
        successor.ahead, successor.behind, successor.queue = ahead, behind, self
        ahead.behind = behind.ahead = successor
        request.queue = request.ahead = request.behind = None

    def clear(self) -> None:
        super().clear()
        self._drop_empty()  # all: tickets may begin anew, and then an entry would be behind its level

    def top(self) -> Top:
        """Return the rank, the ticket and the level of the request that is first of all; one has to wait."""
        tops = self.tops
        while True:
            top = tops[0]
            _, ticket, level = top
            first: Any = level.behind
            if first is level:
                heappop(tops)
                self._drop(level)
            elif first.ticket == ticket:
                return top
            else:
                heapreplace(tops, (self.rank(first.ticket, level.number), first.ticket, level))

    def ranked(self) -> list[tuple[int, int, Request[ClaimT]]]:
        """Return the rank, the ticket and the request of all, level by level."""
        return [
            (self.rank(one.ticket, number), one.ticket, one)
            for number, level in self.by_number.items()
            for one in on(level)
        ]

    def __bool__(self) -> bool:
        return self.length > 0

    def __iter__(self) -> Iterator[Request[ClaimT]]:
        standing: list[Request[ClaimT]] = []
        for level in self.by_number.values():  # as on() does, without the calls: most are empty
            request: Any = level.behind
            while request is not level:
                standing.append(request)
                request = request.behind
        if len(self.by_number) > 1:
            standing.sort(key=attrgetter("ticket"))
        return iter(standing)

    def _drop_empty(self) -> None:
        """Forget the levels on which no request is."""
        for level in [*self.by_number.values()]:
            if level.behind is level:
                self._drop(level)
        self.tops = [top for top in self.tops if top[2].behind is not None]
        heapify(self.tops)

    def _drop(self, level: Level) -> None:
        """Forget a level on which no request is; its entry is dropped by the caller."""
        del self.by_number[level.number]
        level.ahead = level.behind = None  # else the ring would keep itself alive


class AgeingLevels(Levels[ClaimT]):
    """The same, where the number of a level is that of the arrivals by which those on it are set back."""

    __slots__ = ()

    def rank(self, ticket: int, number: int) -> int:
        return ticket + number


def on(level: Level) -> list[Request[Any]]:
    """Return the requests on a level, the oldest first."""
    requests: list[Request[Any]] = []
    request: Any = level.behind
    while request is not level:
        requests.append(request)
        request = request.behind
    return requests

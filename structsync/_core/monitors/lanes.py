"""The queue of a monitor: one lane per entry, merged by the order of arrival."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import heapify, heappop, heapreplace
from operator import attrgetter
from typing import Any

from structsync._core.queue.request import PENDING, Queue, Request

from .entry import EntryCore


class Lanes(Queue[Any]):
    """Pending calls; those of one entry stand in a lane of their own, and ``head`` is not kept.

    A guard that depends on the state alone has one answer for all calls that wait for its entry, so of
    such an entry only the oldest is a candidate: ten thousand callers of one entry cost a call of
    another entry one evaluation.
    """

    __slots__ = ("by_entry",)

    length: int

    def __init__(self) -> None:
        super().__init__()
        # Where an entry has several lanes, as in a stand-in, by more than the entry.
        self.by_entry: dict[Any, Queue[Any]] = {}

    def append(self, request: Request[Any]) -> None:
        lane = self.by_entry.get(request.claim.entry)
        if lane is None:
            lane = self.by_entry[request.claim.entry] = Queue()
        lane.append(request)
        request.queue = self
        self.length += 1

    def remove(self, request: Request[Any]) -> None:
        entry = request.claim.entry
        lane = self.by_entry[entry]
        lane.remove(request)
        self.length -= 1
        if not lane.length:
            del self.by_entry[entry]

    def replace(self, request: Request[Any], successor: Request[Any]) -> None:
        self.by_entry[request.claim.entry].replace(request, successor)  # both are of one entry
        successor.queue = self

    def of(self, entry: EntryCore) -> Iterable[Request[Any]]:
        """Return the calls of an entry, the oldest first; the one that is yielded may be taken out."""
        return self.by_entry.get(entry, ())

    def __bool__(self) -> bool:
        return self.length > 0

    def __iter__(self) -> Iterator[Request[Any]]:
        standing: list[Request[Any]] = []
        for lane in self.by_entry.values():  # by the links: a model checker evaluates this often
            request = lane.head
            while request is not None:
                standing.append(request)
                request = request.behind
        if len(self.by_entry) > 1:
            # Lanes are sorted, and to sort what consists of sorted parts is to merge them.
            standing.sort(key=attrgetter("ticket"))
        return iter(standing)

    def candidates(self) -> Iterator[Request[Any]]:
        """Yield those that may be granted next, the oldest first.

        Of each entry the oldest; and those behind it where the entry reads the request, so that a
        younger one may be permitted, or where the oldest has ended meanwhile.
        """
        heads = [(lane.head.ticket, lane.head) for lane in self.by_entry.values() if lane.head]
        heapify(heads)  # no two tickets are equal, so that requests are never compared
        while heads:
            _, request = heads[0]
            behind = request.behind
            yield request
            if behind and (request.claim.entry.reads_request or request.status is not PENDING):
                heapreplace(heads, (behind.ticket, behind))
            else:
                heappop(heads)

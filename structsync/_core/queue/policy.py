"""Fairness policies: which pending request is granted next, and who may pass a queue.

A policy reads the queue of an arbiter (pending requests by ticket, oldest first) and keeps no fact of
its own about who is pending: the heap of :class:`Priority` is an index into that line, in which an
entry is stale once its ticket has left the queue.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable
from heapq import heapify, heappop, heappush
from typing import Any, ClassVar, Literal, TypeAlias

from .request import Request

PolicyName: TypeAlias = Literal["fifo", "eligible", "priority"]
Queue: TypeAlias = OrderedDict[int, Request[Any]]
Ranks: TypeAlias = tuple[tuple[int, int], ...]  # (ticket, rank), oldest ticket first
Candidates: TypeAlias = Callable[[Queue], Iterable[Request[Any]]]


class Fifo:
    """Strict first come, first served: the head blocks those behind it."""

    __slots__ = ()
    name: ClassVar[str] = "fifo"
    head_blocks: ClassVar[bool] = True  # the first candidate that does not fit ends the search
    ranked: ClassVar[bool] = False  # whether it must hear of every request that joins

    def may_pass(self, queue: Queue, ticket: int, priority: int) -> bool:
        """Return whether a newcomer stands before everybody in the (non-empty) queue."""
        return False

    def joined(self, queue: Queue, ticket: int, priority: int) -> None:
        """Take note of a request that is about to be put at the end of the queue."""

    # Of a non-empty queue: those that may be granted next, the preferred one first.
    candidates: Candidates = staticmethod(OrderedDict.values)

    def in_order(self, queue: Queue) -> list[Request[Any]]:
        """Return the pending requests in the order in which they stand."""
        return list(queue.values())

    def snapshot(self, queue: Queue, next_ticket: int) -> Ranks:
        """Return what this policy knows beyond the order of the queue, counted from the next ticket."""
        return ()

    def restore(self, ranks: Ranks, length: int) -> Iterable[int]:
        """Return to what :meth:`snapshot` returned; answer the tickets in the queue, the next being 0."""
        return range(-length, 0)


class Eligible(Fifo):
    """The oldest request that fits is next; requests that do not fit are passed over."""

    __slots__ = ()
    name: ClassVar[str] = "eligible"
    head_blocks: ClassVar[bool] = False

    def may_pass(self, queue: Queue, ticket: int, priority: int) -> bool:
        # At rest nobody in the queue fits (I3), so a newcomer that fits overtakes no eligible request.
        return True


class Priority(Fifo):
    """Smaller number first, FIFO among equals; the head blocks those behind it.

    The rank is fixed when a request joins: ``ticket + ageing * priority``, so that fewer than
    ``ageing`` later arrivals per level may overtake (no starvation; of equal ranks the older goes
    first). ``ageing=None`` means strict levels.
    """

    __slots__ = ("_ranks", "ageing")
    name: ClassVar[str] = "priority"
    ranked: ClassVar[bool] = True

    def __init__(self, ageing: int | None) -> None:
        self.ageing: int | None = ageing
        self._ranks: list[tuple[int, int]] = []  # a heap of (rank, ticket)

    def may_pass(self, queue: Queue, ticket: int, priority: int) -> bool:
        self._drop_stale(queue)
        return (self._rank(ticket, priority), ticket) < self._ranks[0]

    def joined(self, queue: Queue, ticket: int, priority: int) -> None:
        if len(self._ranks) > 2 * len(queue) + 16:  # amortized: each rebuild drops more than half
            self._ranks = [entry for entry in self._ranks if entry[1] in queue]
            heapify(self._ranks)
        # after the rebuild: it would take the newcomer, who is not in the queue yet, for a stale entry
        heappush(self._ranks, (self._rank(ticket, priority), ticket))

    def candidates(self, queue: Queue) -> Iterable[Request[Any]]:
        self._drop_stale(queue)
        return (queue[self._ranks[0][1]],)

    def in_order(self, queue: Queue) -> list[Request[Any]]:
        return [queue[ticket] for _, ticket in sorted(self._ranks) if ticket in queue]

    def snapshot(self, queue: Queue, next_ticket: int) -> Ranks:
        ranks = sorted((ticket, rank) for rank, ticket in self._ranks if ticket in queue)
        if self.ageing is None:  # the levels alone decide; how old somebody is does not
            return tuple((place - len(ranks), rank) for place, (_, rank) in enumerate(ranks))
        return tuple((ticket - next_ticket, rank - next_ticket) for ticket, rank in ranks)

    def restore(self, ranks: Ranks, length: int) -> Iterable[int]:
        self._ranks = sorted((rank, ticket) for ticket, rank in ranks)  # sorted, hence a heap
        return [ticket for ticket, _ in ranks]

    def _rank(self, ticket: int, priority: int) -> int:
        return priority if self.ageing is None else ticket + self.ageing * priority

    def _drop_stale(self, queue: Queue) -> None:
        while self._ranks[0][1] not in queue:
            heappop(self._ranks)


Policy: TypeAlias = Fifo | Eligible | Priority


def make_policy(name: str, ageing: int | None) -> Policy:
    """Return the policy of that name.

    Raises:
      ValueError: if there is no such policy, or ``ageing`` is negative.
      TypeError: if ``ageing`` is neither an int nor None.
    """
    if ageing is not None and (isinstance(ageing, bool) or not isinstance(ageing, int)):
        raise TypeError(f"ageing must be an int or None, not {ageing!r}")
    if ageing is not None and ageing < 0:
        raise ValueError(f"ageing must be >= 0, not {ageing}")
    if name == "fifo":
        return Fifo()
    if name == "eligible":
        return Eligible()
    if name == "priority":
        return Priority(ageing)
    raise ValueError(f"policy must be 'fifo', 'eligible' or 'priority', not {name!r}")

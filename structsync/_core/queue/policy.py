"""Fairness policies: which pending request is granted next, and who may pass a queue.

A policy reads the queue of an arbiter (pending requests by ticket, oldest first) and keeps no fact of
its own about who is pending: the heap of :class:`Priority` is an index into that queue, in which an
entry is stale once its ticket has left the queue.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from heapq import heapify, heappop, heappush
from typing import Any, ClassVar, Literal, TypeAlias, cast

from .request import Queue, Request, TicketQueue

PolicyName: TypeAlias = Literal["fifo", "eligible", "priority"]
AnyQueue: TypeAlias = Queue[Any]
Tickets: TypeAlias = Mapping[int, Request[Any]]
Ranks: TypeAlias = tuple[tuple[int, int], ...]  # (ticket, rank), oldest ticket first


class Fifo:
    """Strict first come, first served: the head blocks those behind it."""

    __slots__ = ()
    name: ClassVar[str] = "fifo"
    head_blocks: ClassVar[bool] = True  # the first candidate that does not fit ends the search
    # Whether may_pass() can be true at all, and whether the candidates are others than the queue in its
    # order: read off the subclass, so that the hot path need not call what says no, or iterate.
    may_be_passed: ClassVar[bool] = False
    own_candidates: ClassVar[bool] = False
    one_line: ClassVar[bool] = True  # whether each request blocks those behind it
    ranked: ClassVar[bool] = False  # whether it must know of every request that joins
    queue_type: ClassVar[type[AnyQueue]] = Queue

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.may_be_passed = cls.may_pass is not Fifo.may_pass
        cls.own_candidates = cls.candidates is not Fifo.candidates

    def may_pass(self, queue: AnyQueue, ticket: int, priority: int) -> bool:
        """Return whether a newcomer goes before all in the (non-empty) queue."""
        return False

    def joined(self, queue: AnyQueue, ticket: int, priority: int) -> None:
        """Take note of a request that is about to be put at the end of the queue."""

    def candidates(self, queue: AnyQueue) -> Iterable[Request[Any]]:
        """Yield those that may be granted next, the preferred one first.

        The one that was yielded last may be taken out, and no other.
        """
        return queue

    def in_order(self, queue: AnyQueue) -> list[Request[Any]]:
        """Return the pending requests in the order in which they stand."""
        return list(queue)

    def snapshot(self, queue: AnyQueue, next_ticket: int) -> Ranks:
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

    def may_pass(self, queue: AnyQueue, ticket: int, priority: int) -> bool:
        # At rest no task in the queue fits (I3), so a newcomer that fits overtakes no eligible request.
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
    queue_type: ClassVar[type[AnyQueue]] = TicketQueue

    def __init__(self, ageing: int | None) -> None:
        self.ageing: int | None = ageing
        self._ranks: list[tuple[int, int]] = []  # a heap of (rank, ticket)

    def may_pass(self, queue: AnyQueue, ticket: int, priority: int) -> bool:
        self._drop_stale(tickets_of(queue))
        return (self._rank(ticket, priority), ticket) < self._ranks[0]

    def joined(self, queue: AnyQueue, ticket: int, priority: int) -> None:
        if len(self._ranks) > 2 * len(queue) + 16:  # amortized: each rebuild drops more than half
            tickets = tickets_of(queue)
            self._ranks = [entry for entry in self._ranks if entry[1] in tickets]
            heapify(self._ranks)
        # after the rebuild: it would take the newcomer, who is not in the queue yet, for a stale entry
        heappush(self._ranks, (self._rank(ticket, priority), ticket))

    def candidates(self, queue: AnyQueue) -> Iterator[Request[Any]]:
        tickets = tickets_of(queue)
        while tickets:
            self._drop_stale(tickets)
            yield tickets[self._ranks[0][1]]

    def in_order(self, queue: AnyQueue) -> list[Request[Any]]:
        tickets = tickets_of(queue)
        return [tickets[ticket] for _, ticket in sorted(self._ranks) if ticket in tickets]

    def snapshot(self, queue: AnyQueue, next_ticket: int) -> Ranks:
        tickets = tickets_of(queue)
        ranks = sorted((ticket, rank) for rank, ticket in self._ranks if ticket in tickets)
        if self.ageing is None:  # the levels alone decide; how old a task is does not
            return tuple((place - len(ranks), rank) for place, (_, rank) in enumerate(ranks))
        return tuple((ticket - next_ticket, rank - next_ticket) for ticket, rank in ranks)

    def restore(self, ranks: Ranks, length: int) -> Iterable[int]:
        self._ranks = sorted((rank, ticket) for ticket, rank in ranks)  # sorted, hence a heap
        return [ticket for ticket, _ in ranks]

    def _rank(self, ticket: int, priority: int) -> int:
        return priority if self.ageing is None else ticket + self.ageing * priority

    def _drop_stale(self, tickets: Tickets) -> None:
        while self._ranks[0][1] not in tickets:
            heappop(self._ranks)


def tickets_of(queue: AnyQueue) -> Tickets:
    """Return the requests of a ranked queue by their tickets."""
    return cast("TicketQueue[Any]", queue).by_ticket


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

"""Fairness policies: which pending request is granted next, and which may pass a queue.

A policy reads the queue of an arbiter and keeps no fact of its own about what is pending.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar, Literal, TypeAlias, cast

from .levels import AgeingLevels, Levels
from .request import Queue, Request

PolicyName: TypeAlias = Literal["fifo", "eligible", "priority"]
AnyQueue: TypeAlias = Queue[Any]
Ranks: TypeAlias = tuple[tuple[int, int], ...]  # (ticket, rank), oldest ticket first


class Fifo:
    """Strict first come, first served: the head blocks those behind it."""

    __slots__ = ()
    name: ClassVar[str] = "fifo"
    head_blocks: ClassVar[bool] = True  # the first candidate that does not fit ends the search
    # Whether may_pass() can be true at all, and whether the candidates are others than the queue in its
    # order: read off the subclass, so that the hot path need not call what returns False, or iterate.
    may_be_passed: ClassVar[bool] = False
    own_candidates: ClassVar[bool] = False
    single_queue: ClassVar[bool] = True  # whether all stand in one queue; a buffer has two
    ranked: ClassVar[bool] = False  # whether it decides where in the queue a request joins

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.may_be_passed = cls.may_pass is not Fifo.may_pass
        cls.own_candidates = cls.candidates is not Fifo.candidates

    def may_pass(self, queue: AnyQueue, ticket: int, priority: int) -> bool:
        """Return whether a newcomer goes before all in the (non-empty) queue."""
        return False

    def new_queue(self) -> AnyQueue:
        """Return an empty queue of the kind that this policy reads."""
        return Queue()

    def join(self, queue: AnyQueue, request: Request[Any], priority: int) -> None:
        """Put a request that has its ticket into the queue, behind all that stand before it."""
        queue.append(request)

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

    def restore(self, queue: AnyQueue, requests: Sequence[Request[Any]], ranks: Ranks) -> None:
        """Fill an empty queue as :meth:`snapshot` described it; the ticket to be given next is 0."""
        for ticket, request in enumerate(requests, start=-len(requests)):
            request.ticket = ticket
            queue.append(request)


class Eligible(Fifo):
    """The oldest request that fits is next; requests that do not fit are passed over."""

    __slots__ = ()
    name: ClassVar[str] = "eligible"
    head_blocks: ClassVar[bool] = False

    def may_pass(self, queue: AnyQueue, ticket: int, priority: int) -> bool:
        # When it is quiescent no request in the queue fits (I3), so a newcomer that fits overtakes no eligible request.
        return True


class Priority(Fifo):
    """Smaller number first, FIFO among equals; the head blocks those behind it.

    The rank is fixed when a request joins: ``ticket + ageing * priority``, so that fewer than
    ``ageing`` later arrivals per level may overtake (no starvation; of equal ranks the older goes
    first). ``ageing=None`` means strict levels.
    """

    __slots__ = ("ageing",)
    name: ClassVar[str] = "priority"
    ranked: ClassVar[bool] = True

    def __init__(self, ageing: int | None) -> None:
        self.ageing: int | None = ageing

    def new_queue(self) -> AnyQueue:
        return Levels() if self.ageing is None else AgeingLevels()

    def level(self, priority: int) -> int:
        """Return the number of the level on which a request of that priority stands."""
        return priority if self.ageing is None else self.ageing * priority

    def may_pass(self, queue: AnyQueue, ticket: int, priority: int) -> bool:
        levels = levels_of(queue)
        rank, *_ = levels.top()
        return levels.rank(ticket, self.level(priority)) < rank  # of equals the older is first

    def join(self, queue: AnyQueue, request: Request[Any], priority: int) -> None:
        levels_of(queue).append(request, self.level(priority))

    def candidates(self, queue: AnyQueue) -> Iterator[Request[Any]]:
        levels = levels_of(queue)
        while levels.length:
            _, _, level = levels.top()
            first: Any = level.behind
            yield first

    def in_order(self, queue: AnyQueue) -> list[Request[Any]]:
        return [request for *_, request in sorted(levels_of(queue).ranked())]

    def snapshot(self, queue: AnyQueue, next_ticket: int) -> Ranks:
        ranks = sorted((ticket, rank) for rank, ticket, _ in levels_of(queue).ranked())
        if self.ageing is None:  # the levels alone decide; how old a task is does not
            return tuple((place - len(ranks), rank) for place, (_, rank) in enumerate(ranks))
        return tuple((ticket - next_ticket, rank - next_ticket) for ticket, rank in ranks)

    def restore(self, queue: AnyQueue, requests: Sequence[Request[Any]], ranks: Ranks) -> None:
        levels = levels_of(queue)
        for request, (ticket, rank) in zip(requests, ranks, strict=True):
            request.ticket = ticket
            levels.append(request, rank if self.ageing is None else rank - ticket)


def levels_of(queue: AnyQueue) -> Levels[Any]:
    """Return the queue of a policy with priorities as what it is."""
    return cast("Levels[Any]", queue)


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

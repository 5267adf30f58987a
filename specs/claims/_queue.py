"""Words that several claims use: cores with a queue, and what is true of a queue."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, MutableMapping
from typing import Any, TypeVar

from structsync import Arbiter, Status
from structsync._core.queue.claimants import ClaimantArbiter
from structsync._core.queue.request import Queue, Request

CoreT = TypeVar("CoreT", bound=Arbiter[Any])

# How many may wait. Three is the least at which one is in the middle, so that the first, the last,
# and one with neighbours on both sides can each be the one that is granted or withdrawn.
BOUND = 3

# How many may wait where a bug may stop after the first few.
LONG = 6


def with_queue(core: CoreT, claims: Iterable[object], priorities: Iterable[int] = ()) -> CoreT:
    """Return the core with these claims in the queue, oldest first; each waiter is its number."""
    levels = list(priorities)
    for number, claim in enumerate(claims):
        core.enqueue(claim, levels[number] if levels else 0, waiter=number)
    return core


class ByEquality(MutableMapping[Any, Any]):
    """A dict that compares its keys and hashes none: for a hash, CrossHair would pick one number."""

    def __init__(self) -> None:
        self.pairs: list[tuple[Any, Any]] = []

    def __getitem__(self, key: Any) -> Any:
        for one, value in self.pairs:
            if one == key:
                return value
        raise KeyError

    def __setitem__(self, key: Any, value: Any) -> None:
        self.pairs = [pair for pair in self.pairs if pair[0] != key]
        self.pairs.append((key, value))

    def __delitem__(self, key: Any) -> None:
        before = len(self.pairs)
        self.pairs = [pair for pair in self.pairs if pair[0] != key]
        if len(self.pairs) == before:
            raise KeyError

    def __iter__(self) -> Iterator[Any]:
        return iter([key for key, _ in self.pairs])

    def __len__(self) -> int:
        return len(self.pairs)


def claims_of(requests: Iterable[Request[Any]]) -> list[Any]:
    return [request.claim for request in requests]


def waiters_of(requests: Iterable[Request[Any]]) -> list[int]:
    return [request.waiter for request in requests]


def all_are(status: Status, requests: Iterable[Request[Any]]) -> bool:
    return all(request.status is status for request in requests)


def index_is_exact(core: ClaimantArbiter) -> bool:
    """The index of waiters has those in the queue and no others, so that none is refused by mistake."""
    return len(core.pending) == len(core.queue) and all(
        core.pending[core.claimant_of(request.claim)] is request for request in core.queue
    )


def links_are_exact(queue: Queue[Any]) -> bool:
    """From the head and from the tail the same requests are found, and they are all."""
    found = [*queue]
    ahead, request = [], queue.tail
    while request is not None:
        ahead.append(request)
        request = request.ahead
    return (
        found == ahead[::-1]
        and queue.length == len(found)
        and all(one.queue is queue for one in found)
    )


def in_queue(core: Arbiter[Any], position: int) -> Request[Any]:
    """The request at this position in the queue, the oldest being at 0."""
    found: Request[Any] = [*core.queue][position]
    return found


def distinct(names: list[int]) -> bool:
    """No two are equal. (A set would have to look at the values, and then nothing is confirmed.)"""
    return all(one != other for number, one in enumerate(names) for other in names[:number])

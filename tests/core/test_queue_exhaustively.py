"""The queue and its policies against a list, for every short sequence of operations.

All primitives share this container, so it is verified once. The list is that of the naive models.
Every sequence is run from an empty queue and from one in which three wait and a fourth has left: a
queue of three is enough for a head, a middle and an end. The levels of the priorities are known for some
time after all have left, which a longer past would show; the tests of the policies have those.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest

from structsync._core.primitives.semaphore import SemaphoreCore
from structsync._core.queue.request import PENDING, Request

from ..stateful.models import Ended, SemaphoreModel  # noqa: TID252 - the models have one home

DISCIPLINES: list[tuple[str, int | None]] = [
    ("fifo", None),
    ("eligible", None),
    ("priority", 0),
    ("priority", 1),
    ("priority", 3),
    ("priority", None),
]
OPERATIONS: list[tuple[str, int, int]] = [
    ("submit", 1, 0),
    ("submit", 2, 0),
    ("submit", 1, -1),
    ("withdraw", 0, 0),  # the oldest, the second, the third
    ("withdraw", 1, 0),
    ("withdraw", 2, 0),
    ("grant", 1, 0),
    ("replace", 1, 0),
    ("restore", 0, 0),
]
WAITING = [
    ("submit", 3, 1),
    ("submit", 1, 0),
    ("submit", 2, 0),
    ("submit", 1, 1),
    ("withdraw", 1, 0),
]


class Pair:
    """The core and the list; every operation is done to both."""

    def __init__(self, policy: str, ageing: int | None) -> None:
        self.options = (policy, ageing)
        self.core = SemaphoreCore(0, policy=policy, ageing=ageing)
        self.model = SemaphoreModel(0, None, policy, ageing)
        self.names = iter("abcdefghijklmnopqrstuvwxyz")

    def oldest(self, place: int) -> Request[int] | None:
        queue = list(self.core.queue)
        return queue[place] if place < len(queue) else None

    def submit(self, claim: int, priority: int) -> None:
        who = next(self.names)
        request = self.core.submit(claim, priority, who)
        ended = [] if request.status is PENDING else [(who, request.status.value)]
        assert ended == self.model.arrive(who, claim, priority)

    def withdraw(self, place: int, _: int) -> None:
        if request := self.oldest(place):
            ended = self.core.withdraw(request)
            assert ended is not None
            assert outcomes(ended) == self.model.withdraw(request.waiter)
            assert self.core.withdraw(request) is None

    def grant(self, permits: int, _: int) -> None:
        assert outcomes(self.core.release(permits)) == self.model.release(permits)

    def replace(self, place: int, _: int) -> None:
        if request := self.oldest(place):
            successor = Request(request.claim, -1, next(self.names))
            self.core.replace(request, successor)
            for entry in self.model.entries:
                if entry.who == request.waiter:
                    entry.who = successor.waiter

    def restore(self, _: int, __: int) -> None:
        snapshot = self.core.snapshot()
        policy, ageing = self.options
        self.core = SemaphoreCore(0, policy=policy, ageing=ageing)
        self.core.restore(snapshot)
        assert self.core.snapshot() == snapshot

    def check(self) -> None:
        standing = [(entry.who, entry.claim) for entry in self.model.standing()]
        assert [(one.waiter, one.claim) for one in self.core.waiting()] == standing
        assert self.core.value == self.model.value
        for claim, priority in ((1, 0), (2, 0), (1, -1)):
            at_once = self.model.would_be_served(claim, priority)
            assert self.core.admissible(claim, priority) == at_once


def outcomes(ended: list[Request[int]]) -> Ended:
    return [(request.waiter, request.status.value) for request in ended]


def sequences(length: int) -> Iterator[list[tuple[str, int, int]]]:
    for past in ([], WAITING):
        for future in product(OPERATIONS, repeat=length):
            yield [*past, *future]


def run_all(policy: str, ageing: int | None, length: int) -> None:
    for sequence in sequences(length):
        pair = Pair(policy, ageing)
        for name, first, second in sequence:
            getattr(pair, name)(first, second)
        # At the end is enough: each shorter sequence is here too, as one that ends with restores.
        pair.check()


@pytest.mark.parametrize(("policy", "ageing"), DISCIPLINES)
def test_every_sequence_of_three_operations_does_what_a_list_would(
    policy: str, ageing: int | None
) -> None:
    run_all(policy, ageing, 3)


@pytest.mark.slow
@pytest.mark.parametrize(("policy", "ageing"), DISCIPLINES)
def test_every_sequence_of_four_operations_does_what_a_list_would(
    policy: str, ageing: int | None
) -> None:
    run_all(policy, ageing, 4)


def test_a_queue_that_restores_in_the_wrong_order_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    intact = SemaphoreCore.restore

    def restore(self: SemaphoreCore, snapshot: object) -> None:
        intact(self, snapshot)
        if len(self.queue) > 1:
            first = next(iter(self.queue))
            self.queue.remove(first)
            self.queue.append(first)

    monkeypatch.setattr(SemaphoreCore, "restore", restore)
    with pytest.raises(AssertionError):
        run_all("fifo", None, 1)


def test_a_successor_that_gets_another_place_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def replace(self: SemaphoreCore, request: Request[int], successor: Request[int]) -> None:
        self.leave(request)
        self.join(successor)

    monkeypatch.setattr(SemaphoreCore, "replace", replace)
    with pytest.raises(AssertionError):
        run_all("fifo", None, 1)

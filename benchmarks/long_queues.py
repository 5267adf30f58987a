"""Submit, withdraw and grant in the core with a very long queue, against a long one.

In one sample as many requests go through as the very long queue has, so that work which a policy
puts off (the heap of "priority" is rebuilt now and then) is paid for within it, on both sides.

Withdrawals come in two orders. From anywhere, each one touches memory that no cache holds when the
queue is very long; a bare ordered dict pays for that in the same proportion, and is there to compare.
The oldest first lie close together.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from functools import partial
from itertools import compress
from random import Random
from time import thread_time

from structsync._core.primitives.semaphore import SemaphoreCore
from structsync._core.queue.request import Request

from ._measure import Case, Effort, ratio

BATCH = 500  # transitions between two looks at the clock


class Queue:
    """A core with a steady number of waiters, renewed in batches."""

    def __init__(self, policy: str, waiters: int) -> None:
        self.random = Random(waiters)  # the same choices in every run
        self.core = SemaphoreCore(0, policy=policy)
        self.waiting: list[Request[int]] = []  # oldest first
        self._fill(waiters)

    def submit(self) -> float:
        """Time new requests; as many old ones leave before."""
        self._withdraw(self._some())
        spent = thread_time()
        self._fill(BATCH)
        return thread_time() - spent

    def withdraw_anywhere(self) -> float:
        """Time withdrawals from all over the queue; as many new requests join after."""
        return self._time_withdrawals(self._some())

    def withdraw_oldest(self) -> float:
        """Time withdrawals in the order of arrival; as many new requests join after."""
        leaving = self.waiting[:BATCH]
        del self.waiting[:BATCH]
        return self._time_withdrawals(leaving)

    def _time_withdrawals(self, leaving: list[Request[int]]) -> float:
        spent = thread_time()
        self._withdraw(leaving)
        spent = thread_time() - spent
        self._fill(BATCH)
        return spent

    def grant(self) -> float:
        """Time releases, each of which grants one request; as many new ones join after."""
        release = self.core.release
        granted: list[Request[int]] = []
        spent = thread_time()
        for _ in range(BATCH):
            granted += release(1)
        spent = thread_time() - spent
        gone = {request.waiter for request in granted}
        assert len(gone) == BATCH
        self.waiting = [request for request in self.waiting if request.waiter not in gone]
        self._fill(BATCH)
        return spent

    def _fill(self, count: int) -> None:
        first = self.core.next_ticket
        priorities = self._priorities(count)
        submit = self.core.submit
        self.waiting += [
            submit(1, priority, first + place) for place, priority in enumerate(priorities)
        ]

    def _priorities(self, count: int) -> list[int]:
        if not self.core.policy.ranked:
            return [0] * count
        return [place % 10 for place in range(count)]

    def _some(self) -> list[Request[int]]:
        waiting = self.waiting
        chosen = self.random.sample(range(len(waiting)), BATCH)
        staying = bytearray(b"\1") * len(waiting)
        for place in chosen:
            staying[place] = 0
        self.waiting = list(compress(waiting, staying))
        return [waiting[place] for place in chosen]

    def _withdraw(self, leaving: list[Request[int]]) -> None:
        withdraw = self.core.withdraw
        for request in leaving:
            withdraw(request)


class BareLine(Queue):
    """The ordered dict alone, with the same requests in it and nobody who decides."""

    def __init__(self, waiters: int) -> None:
        self.bare: OrderedDict[int, Request[int]] = OrderedDict()
        self.next = 0
        super().__init__("fifo", waiters)

    def _fill(self, count: int) -> None:
        for ticket in range(self.next, self.next + count):
            request = self.bare[ticket] = Request(1, ticket)
            self.waiting.append(request)
        self.next += count

    def _withdraw(self, leaving: list[Request[int]]) -> None:
        bare = self.bare
        for request in leaving:
            if bare.get(request.ticket) is request:
                del bare[request.ticket]


def cases(effort: Effort) -> Iterator[Case]:
    sizes = (effort.of(100_000, 2_000), 1_000)
    pairs = sizes[0] // BATCH
    steps = (Queue.submit, Queue.withdraw_oldest, Queue.withdraw_anywhere, Queue.grant)
    for policy in ("fifo", "priority"):
        long, short = (Queue(policy, waiters) for waiters in sizes)
        for step in steps:
            sample = partial(ratio, partial(step, long), partial(step, short), pairs=pairs)
            yield Case(f"{policy}: {step.__name__}".replace("_", " "), sample)
    bare, few = (BareLine(waiters).withdraw_anywhere for waiters in sizes)
    sample = partial(ratio, bare, few, pairs=pairs)
    yield Case("ordered dict: withdraw anywhere", sample, compared=False)

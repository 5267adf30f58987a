"""Submit, withdraw and grant in the core with a very long line, against a long one.

In one sample as many requests go through as the very long line has, so that work which a policy
puts off (the heap of "priority" is rebuilt now and then) is paid for within it, on both sides.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from random import Random
from time import thread_time

from structsync._core.request import Request
from structsync._core.semaphore import SemaphoreCore

from ._measure import Case, Effort, ratio

BATCH = 500  # transitions between two looks at the clock


class Line:
    """A core with a steady number of waiters, renewed in batches."""

    def __init__(self, policy: str, waiters: int) -> None:
        self.random = Random(waiters)  # the same choices in every run
        self.core = SemaphoreCore(0, policy=policy)
        self.waiting: list[Request[int]] = []
        self._fill(waiters)

    def submit(self) -> float:
        """Time new requests; as many old ones leave before."""
        self._withdraw(self._some())
        spent = thread_time()
        self._fill(BATCH)
        return thread_time() - spent

    def withdraw(self) -> float:
        """Time withdrawals anywhere in the line; as many new requests join after."""
        leaving = self._some()
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
        waiting, random = self.waiting, self.random
        for place in range(BATCH):  # to the end, from where they can be cut off
            other = random.randrange(len(waiting) - place)
            last = -1 - place
            waiting[other], waiting[last] = waiting[last], waiting[other]
        leaving = waiting[-BATCH:]
        del waiting[-BATCH:]
        return leaving

    def _withdraw(self, leaving: list[Request[int]]) -> None:
        withdraw = self.core.withdraw
        for request in leaving:
            withdraw(request)


def cases(effort: Effort) -> Iterator[Case]:
    sizes = (effort.of(100_000, 2_000), 1_000)
    pairs = sizes[0] // BATCH
    for policy in ("fifo", "priority"):
        long, short = (Line(policy, waiters) for waiters in sizes)
        for step in (Line.submit, Line.withdraw, Line.grant):
            subject, reference = partial(step, long), partial(step, short)
            sample = partial(ratio, subject, reference, pairs=pairs)
            yield Case(f"{policy}: {step.__name__}", sample)

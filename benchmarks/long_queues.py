"""Submit, withdraw and grant in the core with a very long queue, against a long one.

In one sample as many requests go through as the very long queue has, so that work which a policy
puts off ("priority" forgets now and then on which levels no task waits) is paid for within it, on both sides.

"priority" keeps a list for each level, and a heap of the levels: so what counts is how many there are. They are
few in most programs: ten here, with either length of the queue. The worst case is on a row of its own: as many
levels as requests, so that the heap has a hundred times more entries in the very long queue.

Withdrawals come in two orders. From anywhere, each one touches memory that no cache holds when the
queue is very long; a bare linked list pays for that in the same proportion, and is there to compare.
The oldest first lie close together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import compress, count, cycle, islice, repeat
from random import Random
from time import thread_time
from typing import Any

from structsync._core.primitives.semaphore import SemaphoreCore

from ._measure import Case, Effort, ratio

BATCH = 500  # transitions between two looks at the clock
FEW = 10  # levels


class Queue:
    """A core with a steady number of waiters, renewed in batches."""

    def __init__(self, policy: str, waiters: int, levels: Iterator[int] | None = None) -> None:
        self.random = Random(waiters)  # the same choices in every run
        self.core = SemaphoreCore(0, policy=policy)
        self.levels = levels or repeat(0)
        self.waiters = count()
        self.waiting: list[Any] = []  # oldest first
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

    def _time_withdrawals(self, leaving: list[Any]) -> float:
        spent = thread_time()
        self._withdraw(leaving)
        spent = thread_time() - spent
        self._fill(BATCH)
        return spent

    def grant(self) -> float:
        """Time releases, each of which grants one request; as many new ones join after."""
        release = self.core.release
        granted: list[Any] = []
        spent = thread_time()
        for _ in range(BATCH):
            granted += release(1)
        spent = thread_time() - spent
        gone = set(map(id, granted))
        assert len(gone) == BATCH
        self.waiting = [request for request in self.waiting if id(request) not in gone]
        self._fill(BATCH)
        return spent

    def _fill(self, number: int) -> None:
        submit, waiters = self.core.submit, self.waiters
        levels = [*islice(self.levels, number)]
        # each has a waiter of its own, as in a program: an object more that no cache holds
        self.waiting += [submit(1, level, next(waiters)) for level in levels]

    def _some(self) -> list[Any]:
        waiting = self.waiting
        chosen = self.random.sample(range(len(waiting)), BATCH)
        staying = bytearray(b"\1") * len(waiting)
        for place in chosen:
            staying[place] = 0
        self.waiting = list(compress(waiting, staying))
        return [waiting[place] for place in chosen]

    def _withdraw(self, leaving: list[Any]) -> None:
        withdraw = self.core.withdraw
        for request in leaving:
            withdraw(request)


class Node:
    """Links of a bare list; two words of payload, for about the size of a request."""

    __slots__ = ("after", "before", "claim", "ticket")

    def __init__(self, before: Node | None) -> None:
        self.before: Node = before or self
        self.after: Node = before.after if before else self
        self.before.after = self.after.before = self
        self.claim = self.ticket = 1


class BareList(Queue):
    """A linked list alone, with as many nodes in it and without decisions."""

    def __init__(self, waiters: int) -> None:
        self.head = Node(None)
        super().__init__("fifo", waiters)

    def _fill(self, number: int) -> None:
        self.waiting += [Node(self.head.before) for _ in range(number)]

    def _withdraw(self, leaving: list[Any]) -> None:
        for node in leaving:
            node.before.after, node.after.before = node.after, node.before


def few_levels() -> Iterator[int]:
    return cycle(range(FEW))


def own_levels() -> Iterator[int]:
    """Yield no number twice, and all in no order."""
    return (each * 2_654_435_761 % 2**32 for each in count())


POLICIES: dict[str, Callable[[int], Queue]] = {
    "fifo": partial(Queue, "fifo"),
    f"priority, {FEW} levels": lambda waiters: Queue("priority", waiters, few_levels()),
}
STEPS = (Queue.submit, Queue.withdraw_oldest, Queue.grant)


def cases(effort: Effort) -> Iterator[Case]:
    """All but withdrawals from anywhere."""
    for policy, queue in POLICIES.items():
        yield from _cases(policy, STEPS, queue, effort)


def own_level_cases(effort: Effort) -> Iterator[Case]:
    """All, where no two requests are on one level."""

    def queue(waiters: int) -> Queue:
        return Queue("priority", waiters, own_levels())

    yield from _cases("priority, a level each", (*STEPS, Queue.withdraw_anywhere), queue, effort)


def anywhere_cases(effort: Effort) -> Iterator[Case]:
    """Withdrawals from anywhere, which no cache helps."""
    for policy, queue in POLICIES.items():
        yield from _cases(policy, (Queue.withdraw_anywhere,), queue, effort)
    (bare,) = _cases("linked list", (Queue.withdraw_anywhere,), BareList, effort)
    yield replace(bare, compared=False)


def _cases(
    name: str,
    steps: Iterable[Callable[[Queue], float]],
    queue: Callable[[int], Queue],
    effort: Effort,
) -> Iterator[Case]:
    long, short = (queue(waiters) for waiters in _sizes(effort))
    for step in steps:
        what = step.__name__.replace("_", " ")
        yield Case(f"{name}: {what}", partial(_ratio, step, long, short))


def _sizes(effort: Effort) -> tuple[int, int]:
    return effort.of(100_000, 2_000), 1_000


def _ratio(step: Callable[[Queue], float], long: Queue, short: Queue) -> float:
    pairs = len(long.waiting) // BATCH
    return ratio(partial(step, long), partial(step, short), pairs=pairs)

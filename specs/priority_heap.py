"""The heap of a queue with priorities keeps all who wait, however many withdrawn entries it holds.

Whoever withdraws leaves the queue at once and the heap later: its entry is *stale* until it comes to
the top or the heap is rebuilt. Elsewhere an index is built anew whenever a state is restored; here the
heap itself is a part of the state, so that its upkeep is checked over many steps. State and actions are
otherwise those of every semaphore (`permits.py`), with a bound on how many arrive.

In `RememberedHeapSpec` the heap is not part of the state: the core is as it ships, and begins with a heap that is about
to be rebuilt. The search restores it, and sees a heap without stale entries; the random walks (`no_hidden_history`) do
not restore it.
"""

from __future__ import annotations

from typing import Any, cast

from structsync._core.primitives.semaphore import SemaphoreCore
from structsync._core.queue.policy import Priority
from structsync.checking import action, implies, invariant, invariants, start, step

from .permits import PermitsSpec, may_request

# ==== Bounds ====

PERMITS = 2  # so that one can be free while a task waits for both
LEVELS = {"a": 0, "b": 1, "c": 2, "d": 2, "e": 1}  # two on each level but the first
WEIGHTS = {"a": 1, "b": 2, "c": 1, "d": 2, "e": 1}

# An arrival has the heap rebuilt if it then has more entries than this above twice those who waited.
SPARE = 17

FEW = 4  # arrivals: one is inside, one withdraws, one waits, and one is a newcomer
WITH_A_REBUILD = 2  # arrivals: the one that has the heap rebuilt, and one that finds it rebuilt

# So many entries of those who withdrew (None) that the next arrival has the heap rebuilt, and in which
# order they came: what remains of this heap without them is no heap, unless it is made one.
CROWD = ("a", "d", *[None] * 7, "c", *[None] * 14, "b")
LEVEL_OF_CROWD = 1  # behind "a", so that they do not come to the top before the rebuild


def crowd_the_heap_of(core: SemaphoreCore) -> None:
    """Take all permits, and leave a few waiting among many that have withdrawn."""
    core.take(PERMITS)
    requests = [
        core.enqueue(1, LEVEL_OF_CROWD)
        if who is None
        else core.enqueue(WEIGHTS[who], LEVELS[who], who)
        for who in CROWD
    ]
    for request in requests:
        if request.waiter is None:
            core.withdraw(request)


class HeapCore(SemaphoreCore):
    """A semaphore with strict levels; its snapshot has the heap, with tickets numbered in their order."""

    def __init__(self, crowded: bool, wrong: Priority | None = None) -> None:
        super().__init__(PERMITS, max_value=PERMITS, policy="priority", ageing=None)
        if wrong is not None:
            self.policy = wrong
        if crowded:
            crowd_the_heap_of(self)

    @property
    def heap(self) -> list[tuple[int, int]]:
        return cast(Priority, self.policy)._ranks

    def snapshot(self) -> Any:
        heap = self.heap
        waiting = [one.ticket for one in self.queue]
        tickets = sorted({*waiting, *(ticket for _, ticket in heap)})
        number = {ticket: n for n, ticket in enumerate(tickets, start=-len(tickets))}
        live = tuple(number[ticket] for ticket in waiting)
        return (super().snapshot(), tuple((rank, number[ticket]) for rank, ticket in heap), live)

    def restore(self, snapshot: Any) -> None:
        (state, cause, queue, _), heap, live = snapshot
        ranks = {ticket: rank for rank, ticket in heap}
        super().restore(
            (state, cause, queue, tuple((ticket, ranks.get(ticket, 0)) for ticket in live))
        )
        self.heap[:] = heap


class HeapSpec(PermitsSpec):
    """Tasks that come, wait and withdraw, as often as the bound says."""

    abstract = True

    weights = WEIGHTS
    newcomers = ((1, 0), (1, 1), (1, 2))
    core: HeapCore
    arrivals: int  # how many more may come

    # ==== Actions ====

    @action(who=may_request, when=lambda spec, who: spec.arrivals > 0)
    def request(self, who: str) -> None:
        self.arrivals -= 1
        self.submitted(self.core.submit(WEIGHTS[who], LEVELS[who], who))

    # ==== Invariants ====

    @invariant
    def nowait_agrees_with_the_queue(self) -> bool:
        """A nowait succeeds exactly when a request made now would be granted (I2).

        Tried out on a copy, because to look at the top of the heap drops what is stale there.
        """
        return all(
            invariants.nowait_agrees(invariants.twin_of(self.core), *one) for one in self.newcomers
        )

    @invariant
    def who_waits_is_in_the_heap(self) -> bool:
        """Each that waits has an entry in the heap, and no ticket has two."""
        entries = [ticket for _, ticket in self.core.heap]
        waiting = {one.ticket for one in self.core.queue}
        no_ticket_has_two = len(entries) == len({*entries})
        return no_ticket_has_two and waiting <= {*entries}

    # ==== Step properties ====

    @step
    def the_heap_stays_small(self, before: Any) -> bool:
        """When a task has joined, the heap has at most twice as many entries as tasks waited, and a constant."""
        waited = before.in_queue()
        joined = any(who not in waited for who in self.in_queue())
        return implies(joined, len(self.core.heap) <= 2 * len(waited) + SPARE)

    @step
    def the_most_important_is_granted(self, before: Any) -> bool:
        """Of those who waited the smallest number goes first, and of equals the oldest (I2)."""
        waited = before.in_queue()
        ended = [one.waiter for one in self.ended]
        granted = [who for who in self.granted() if who in waited]
        could_be_next = [who for who in waited if who in granted or who not in ended]
        in_order = sorted(could_be_next, key=lambda who: (LEVELS[who], waited.index(who)))
        return granted == in_order[: len(granted)]


class SmallHeapSpec(HeapSpec):
    """At first no task waits; each stale entry comes to the top before the heap is rebuilt."""

    core: HeapCore = start(HeapCore, False)
    arrivals: int = start(lambda: FEW)


class CrowdedHeapSpec(HeapSpec):
    """At first many have withdrawn and some wait; the next arrival has the heap rebuilt."""

    core: HeapCore = start(HeapCore, True)
    out: tuple[str, ...] = start(lambda: ("holder",) * PERMITS)
    arrivals: int = start(lambda: WITH_A_REBUILD)


def crowded(core: type[SemaphoreCore] = SemaphoreCore) -> SemaphoreCore:
    """Return a core as it ships, whose next arrival has the heap rebuilt."""
    made = core(PERMITS, max_value=PERMITS, policy="priority", ageing=None)
    crowd_the_heap_of(made)
    return made


class RememberedHeapSpec(PermitsSpec):
    """A core as it ships, whose heap remembers those who have withdrawn."""

    weights = WEIGHTS
    newcomers = ((1, 0), (1, 1), (1, 2))
    core: SemaphoreCore = start(crowded)
    out: tuple[str, ...] = start(lambda: ("holder",) * PERMITS)

    @action(who=may_request)
    def request(self, who: str) -> None:
        self.submitted(self.core.submit(WEIGHTS[who], LEVELS[who], who))

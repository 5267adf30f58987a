"""The levels of a queue with priorities have all waiters, however many were left by tasks that withdrew.

A request that is withdrawn leaves its level at once. But a level that is empty now is known until it comes to the top
of the heap of levels, or until the empty ones are forgotten; and the heap has, for each level, the rank of
the request that was its first when that was last looked at. Elsewhere all that is built anew whenever a state is
restored; here it is a part of the state, so that its upkeep is checked over many steps. State and actions are otherwise
those of every semaphore (`permits.py`), with a bound on how many arrive.

In `RememberedLevelsSpec` it is not part of the state: the core is as it ships, and begins with empty levels that the
next new level has forgotten. The search restores it, and sees no empty level; the random walks (`no_hidden_history`)
do not restore it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from structsync._core.primitives.semaphore import SemaphoreCore
from structsync._core.queue.levels import Level, Levels, on
from structsync._core.queue.policy import Priority
from structsync._core.queue.request import Request
from structsync.checking import action, implies, invariant, invariants, start, step

from .permits import PermitsSpec, may_request

# ==== Bounds ====

PERMITS = 2  # so that one can be free while a task waits for both
WEIGHTS = {"a": 1, "b": 2, "c": 1, "d": 2, "e": 1}

FEW = 4  # arrivals: one is inside, one withdraws, one waits, and one is a newcomer
AGEING = 2  # so that of two levels either may be the next, by which request is the first on them
LEVELS = {"a": 0, "b": 1, "c": 2, "d": 2, "e": 1}  # two on each level but the first

# A new level has the empty ones forgotten if more than this above twice the number of waiters are known.
SPARE = 16
WITH_A_CLEARANCE = (
    2  # arrivals: the one with a new level, and one that finds the empty ones forgotten
)

# Those that wait came first, in this order, and then those that have withdrawn, each on a level of its own. What
# remains of this heap without the empty levels is no heap, unless it is made one.
CROWD_LEVELS = {"a": 0, "b": 31, "c": 32, "d": 33, "e": 34}
WHO_WAITS = ("a", "c", "b", "d")
LEFT = range(1, 22)  # the levels of those that withdrew: behind "a", so that none comes to the top


def leave_levels_of(core: SemaphoreCore) -> None:
    """Take all permits, and leave a few waiting, and many levels that are empty now."""
    core.take(PERMITS)
    for who in WHO_WAITS:
        core.enqueue(WEIGHTS[who], CROWD_LEVELS[who], who)
    for request in [core.enqueue(1, level) for level in LEFT]:
        core.withdraw(request)


class LevelsCore(SemaphoreCore):
    """A semaphore with priorities; its snapshot has the levels, with tickets counted from the next one."""

    def __init__(self, ageing: int | None, policy: Priority | None = None) -> None:
        super().__init__(PERMITS, max_value=PERMITS, policy="priority", ageing=ageing)
        if policy is not None:
            self.policy = policy
            self.queue = policy.new_queue()
        if ageing is None:
            leave_levels_of(self)

    @property
    def levels(self) -> Levels[Any]:
        return cast("Levels[Any]", self.queue)

    def snapshot(self) -> Any:
        levels, following = self.levels, self.next_ticket
        ages = cast(Priority, self.policy).ageing is not None
        tops = [
            (rank - following if ages else rank, ticket - following, level.number)
            for rank, ticket, level in levels.tops
        ]
        tickets = [one.ticket - following for one in levels]
        return (super().snapshot(), tuple(tops), tuple(sorted(levels.by_number)), tuple(tickets))

    def restore(self, snapshot: Any) -> None:
        base, tops, known, tickets = snapshot
        super().restore(base)
        levels = self.levels
        for request, ticket in zip(levels, tickets, strict=True):
            request.ticket = ticket
        for number in {*known} - {*levels.by_number}:
            levels.by_number[number] = Level(number)
        levels.tops = [
            (rank, ticket, levels.by_number.get(number) or Level(number))
            for rank, ticket, number in tops
        ]


class LevelsSpec(PermitsSpec):
    """Tasks that come, wait and withdraw, as often as the bound says."""

    abstract = True

    weights = WEIGHTS
    newcomers = ((1, 0), (1, 1), (1, 2))
    levels: Mapping[str, int]  # of each task
    core: LevelsCore
    arrivals: int  # how many more may come

    # ==== Actions ====

    @action(who=may_request, when=lambda spec, who: spec.arrivals > 0)
    def request(self, who: str) -> None:
        self.arrivals -= 1
        self.submitted(self.core.submit(WEIGHTS[who], self.levels[who], who))

    # ==== Invariants ====

    @invariant
    def nowait_agrees_with_the_queue(self) -> bool:
        """A nowait succeeds exactly when a request made now would be granted (I2).

        Tried out on a copy, because to look at the top of the heap brings that up to date.
        """
        return all(
            invariants.nowait_agrees(invariants.twin_of(self.core), *one) for one in self.newcomers
        )

    @invariant
    def every_waiter_is_on_a_level_in_the_heap(self) -> bool:
        """Each that waits is on a level that is known, and of these each has one entry in the heap."""
        core = self.core
        entries = sorted(level.number for *_, level in core.levels.tops)
        known = core.levels.by_number
        on_levels = [one.waiter for level in known.values() for one in on(level)]
        waiting = len(core.queue)
        return entries == sorted(known) and len(on_levels) == len({*on_levels}) == waiting

    @invariant
    def no_level_is_before_its_entry(self) -> bool:
        """The first on a level is not before what the heap has of it, which is a heap."""
        levels = self.core.levels
        tops = [(rank, ticket) for rank, ticket, _ in levels.tops]
        firsts = [next(iter(on(level)), None) for *_, level in levels.tops]
        return all(tops[(at - 1) // 2] <= tops[at] for at in range(1, len(tops))) and all(
            first is None or top <= (levels.rank(first.ticket, level.number), first.ticket)
            for top, first, (*_, level) in zip(tops, firsts, levels.tops, strict=True)
        )

    # ==== Step properties ====

    @step
    def the_levels_stay_few(self, before: Any) -> bool:
        """When a task has joined a new level, at most twice as many are known as tasks waited, and a constant."""
        known = {*self.core.levels.by_number}
        joined_a_new_one = not known <= {*before.core.levels.by_number}
        return implies(joined_a_new_one, len(known) <= 2 * len(before.in_queue()) + SPARE + 1)

    @step
    def the_most_important_is_granted(self, before: Any) -> bool:
        """Of those that waited the smallest rank goes first, and of equal ranks the oldest (I2)."""
        waited = [*before.core.queue]
        ended = [one.waiter for one in self.ended]
        granted = [who for who in self.granted() if who in before.in_queue()]
        could_be_next = [one for one in waited if one.waiter in granted or one.waiter not in ended]
        in_order = [one.waiter for one in sorted(could_be_next, key=self.place)]
        return granted == in_order[: len(granted)]

    # ==== Words that properties use ====

    @staticmethod
    def place(request: Request[Any]) -> tuple[int, int]:
        """Return where a request stands, by its level and its ticket."""
        raise NotImplementedError


class FewLevelsSpec(LevelsSpec):
    """At first no task waits; each empty level comes to the top."""

    core: LevelsCore = start(LevelsCore, AGEING)
    arrivals: int = start(lambda: FEW)
    levels = LEVELS

    @staticmethod
    def place(request: Request[Any]) -> tuple[int, int]:
        return request.ticket + AGEING * LEVELS[request.waiter], request.ticket


class CrowdedLevelsSpec(LevelsSpec):
    """At first many have withdrawn and some wait; the next new level has the empty ones forgotten."""

    core: LevelsCore = start(LevelsCore, None)
    out: tuple[str, ...] = start(lambda: ("holder",) * PERMITS)
    arrivals: int = start(lambda: WITH_A_CLEARANCE)
    levels = CROWD_LEVELS

    @staticmethod
    def place(request: Request[Any]) -> tuple[int, int]:
        return CROWD_LEVELS[request.waiter], request.ticket


def crowded(core: type[SemaphoreCore] = SemaphoreCore) -> SemaphoreCore:
    """Return a core as it ships, whose next new level has the empty ones forgotten."""
    made = core(PERMITS, max_value=PERMITS, policy="priority", ageing=None)
    leave_levels_of(made)
    return made


class RememberedLevelsSpec(PermitsSpec):
    """A core as it ships, which remembers the levels of those that have withdrawn."""

    weights = WEIGHTS
    newcomers = ((1, 0), (1, 31), (1, 32))
    core: SemaphoreCore = start(crowded)
    out: tuple[str, ...] = start(lambda: ("holder",) * PERMITS)

    @action(who=may_request)
    def request(self, who: str) -> None:
        self.submitted(self.core.submit(WEIGHTS[who], CROWD_LEVELS[who], who))

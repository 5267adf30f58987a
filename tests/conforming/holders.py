"""Semaphores, locks and limiters, held against their specifications."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from structsync import CapacityLimiter, Semaphore
from structsync.checking import action
from structsync.specs.capacity_limiter import FULL as ALL_TOKENS
from structsync.specs.capacity_limiter import CapacityLimiterSpec
from structsync.specs.eligible import EligibleSpec
from structsync.specs.lock import LockSpec
from structsync.specs.lock_policies import (
    EligibleLimiterSpec,
    EligibleLockSpec,
    PriorityLimiterSpec,
    PriorityLockSpec,
)
from structsync.specs.permits import PermitsSpec
from structsync.specs.priority import PrioritySpec
from structsync.specs.semaphore import FULL, TAKERS, SemaphoreSpec, SignalsSpec

from .users import BY_REQUEST, Counts, Seen, Users, no_task

# ==== Semaphores ====


class SeenPermits(Seen):
    out: tuple[str, ...]

    def told(self) -> Mapping[str, object]:
        return {"value": self.core.value, "out": self.out}


class SeenSemaphore(SeenPermits, SemaphoreSpec):
    pass


class SeenEligible(SeenPermits, EligibleSpec):
    pass


class SeenPriority(SeenPermits, PrioritySpec):
    pass


class SeenBlocks(SeenPermits, SemaphoreSpec):
    """A block gives back all at once."""

    @action(who=no_task)
    def release_one(self, who: str) -> None: ...


class OfSemaphore(Users):
    """Who has permits has them until a step releases them."""

    def __init__(
        self, make: Callable[[], Semaphore], spec: type[PermitsSpec], levels: Mapping[str, int]
    ) -> None:
        super().__init__()
        self.primitive = make()
        self.weights = spec.weights
        self.levels = levels
        self.out: list[str] = []

    async def request(self, who: str) -> None:
        n, level = self.weights[who], self.levels.get(who, 0)
        if await self.passes(who, self.primitive.acquire(n, priority=level)):
            self.out += [who] * n

    def withdraw(self, who: str) -> None:
        self.cancel("request", who=who)

    def release(self, who: str) -> None:
        n = self.out.count(who)
        self.out = [one for one in self.out if one != who]
        self.primitive.release(n)

    def release_one(self, who: str) -> None:
        self.out.remove(who)
        self.primitive.release()

    def resize(self, size: int) -> None:
        self.primitive.resize(size)

    def grow(self) -> None:
        self.primitive.resize(FULL)

    def close_again(self) -> None:
        self.primitive.close()

    def told(self) -> Mapping[str, object]:
        return {"value": self.primitive.value, "out": tuple(sorted(self.out))}


class OfBlocks(OfSemaphore):
    """Who has permits is in a block."""

    async def request(self, who: str) -> None:
        n = self.weights[who]
        block = self.primitive.permits(n)
        if await self.passes(who, block.__aenter__()):
            self.out += [who] * n
            await self.order(who)
            self.out = [one for one in self.out if one != who]
            await block.__aexit__(None, None, None)

    def release(self, who: str) -> None:
        self.tell(who)


class SeenSignals(Seen, Counts, SignalsSpec):
    def told(self) -> Mapping[str, object]:
        return {"value": self.unused, "passed": self.passed}


class OfSignals(Users):
    """Signals are given by any task."""

    def __init__(self) -> None:
        super().__init__()
        self.primitive = Semaphore(0)

    async def take(self, who: str) -> None:
        await self.passes(who, self.primitive.acquire(TAKERS[who]))

    def withdraw(self, who: str) -> None:
        self.cancel("take", who=who)

    def give(self) -> None:
        self.primitive.release()

    def give_many(self, signals: int) -> None:
        self.primitive.release(signals)

    def told(self) -> Mapping[str, object]:
        return {"value": self.primitive.value, "passed": self.passed}


# ==== Locks and limiters: who holds it is a task ====


class SeenLock(Seen, LockSpec):
    """A task disappears once; in the queue it has a place beyond its wait only by a request."""

    @action(who=lambda spec: spec.owners if spec.why is None else ())
    def owner_disappears(self, who: str) -> None:
        super().owner_disappears(who)

    @action(who=lambda spec: [who for who in spec.in_queue() if who in BY_REQUEST])
    def waiter_disappears(self, who: str) -> None:
        super().waiter_disappears(who)

    @action(who=lambda spec: spec.owners if spec.why != "broken" else ())
    def release(self, who: str) -> None:
        super().release(who)

    def told(self) -> Mapping[str, object]:
        return {"holding": self.owners if self.why != "broken" else ()}


class OfLock(Users):
    def __init__(self, make: Callable[[], Any], levels: Mapping[str, int]) -> None:
        super().__init__()
        self.primitive = make()
        self.levels = levels

    async def request(self, who: str) -> None:
        level = self.levels.get(who, 0)
        if who in BY_REQUEST:
            await self.asks(who, lambda: self.primitive.request(priority=level))
            return
        granted = await self.passes(who, self.primitive.acquire(priority=level))
        if granted and await self.holds(who) == "release":
            self.primitive.release()

    def withdraw(self, who: str) -> None:
        self.give_up("request", who)

    def release(self, who: str) -> None:
        self.tell(who)

    def owner_disappears(self, who: str) -> None:
        self.tell(who, "disappear")

    def waiter_disappears(self, who: str) -> None:
        self.tell(who, "disappear")


class SeenHolders(Seen):
    holders: tuple[str, ...]

    def told(self) -> Mapping[str, object]:
        return {"holding": self.holders}


class SeenPriorityLock(SeenHolders, PriorityLockSpec):
    pass


class SeenEligibleLock(SeenHolders, EligibleLockSpec):
    pass


class SeenPriorityLimiter(SeenHolders, PriorityLimiterSpec):
    pass


class SeenEligibleLimiter(SeenHolders, EligibleLimiterSpec):
    pass


class SeenLimiter(Seen, CapacityLimiterSpec):
    def told(self) -> Mapping[str, object]:
        return {"holding": self.lent, "tokens": self.core.total_tokens}


class OfLimiter(OfLock):
    def __init__(self) -> None:
        super().__init__(lambda: CapacityLimiter(ALL_TOKENS), {})

    def resize(self, tokens: int) -> None:
        self.primitive.total_tokens = tokens

    def grow(self) -> None:
        self.primitive.total_tokens = ALL_TOKENS

    def told(self) -> Mapping[str, object]:
        return {"holding": self.holds_it(), "tokens": self.primitive.total_tokens}


class OfBorrowers(OfLimiter):
    """Tokens are lent to names, and any task returns them."""

    async def request(self, who: str) -> None:
        if await self.passes(who, self.primitive.acquire_on_behalf_of(who)):
            self.holding.append(who)

    def release(self, who: str) -> None:
        self.holding.remove(who)
        self.primitive.release_on_behalf_of(who)

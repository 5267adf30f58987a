"""Latches, barriers, wait queues, parkers, values and rate limiters: a grant holds nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import trio

from structsync import Barrier, CoreRequest, Latch, Parker, RateLimiter, Value, WaitQueue
from structsync.checking import action, start
from structsync.specs.barrier import PARTIES, BarrierSpec, waiting
from structsync.specs.latch import COUNT, LatchSpec
from structsync.specs.parker import ParkerSpec
from structsync.specs.rate_limiter import BURST, TICKS, RateLimiterSpec
from structsync.specs.rate_limiter import WEIGHTS as RATES
from structsync.specs.value import AT_FIRST, ValueSpec, wanting
from structsync.specs.wait_queue import WaitQueueSpec

from .users import OUT_OF_SERVICE, Counts, Seen, Users, no_task


class Waiters(Users):
    def withdraw(self, who: str) -> None:
        self.cancel("wait", who=who)

    def told(self) -> Mapping[str, object]:
        return {"passed": self.passed}


class SeenLatch(Seen, Counts, LatchSpec):
    def told(self) -> Mapping[str, object]:
        return {"passed": self.passed, "count": self.left}


class OfLatch(Waiters):
    def __init__(self) -> None:
        super().__init__()
        self.primitive = Latch(COUNT)

    async def wait(self, who: str) -> None:
        await self.passes(who, self.primitive.wait())

    def count_down(self) -> None:
        self.primitive.count_down()

    def count_down_by(self, number: int) -> None:
        self.primitive.count_down(number)

    def told(self) -> Mapping[str, object]:
        return {"passed": self.passed, "count": self.primitive.count}


class SeenWaitQueue(Seen, Counts, WaitQueueSpec):
    def told(self) -> Mapping[str, object]:
        return {"passed": self.passed}


class OfWaitQueue(Waiters):
    def __init__(self) -> None:
        super().__init__()
        self.primitive = WaitQueue()

    async def wait(self, who: str) -> None:
        await self.passes(who, self.primitive.wait())

    def wake(self) -> None:
        self.primitive.wake()

    def wake_several(self, number: int) -> None:
        self.primitive.wake(number)

    def wake_all(self) -> None:
        self.primitive.wake_all()


class SeenParker(Seen, Counts, ParkerSpec):
    def told(self) -> Mapping[str, object]:
        return {"passed": self.passed}


class OfParker(Waiters):
    def __init__(self) -> None:
        super().__init__()
        self.primitive = Parker()

    async def block(self, who: str) -> None:
        await self.passes(who, self.primitive.block())

    def withdraw(self, who: str) -> None:
        self.cancel("block", who=who)

    def unblock(self) -> None:
        self.primitive.unblock()


# ==== Barriers ====


class SeenBarrier(Seen, BarrierSpec):
    """A cancelled party is not counted."""

    numbers: tuple[int, ...] = start(tuple)  # that parties were given, of all rounds

    def got(self, request: CoreRequest[Any]) -> None:
        self.numbers = tuple(sorted((*self.numbers, request.claim)))

    @action(who=no_task)
    def leave_and_break(self, who: str) -> None: ...

    def told(self) -> Mapping[str, object]:
        return {"numbers": self.numbers, "parties": self.parties, "broken": self.core.broken}


class SeenBreakingBarrier(SeenBarrier):
    """A cancelled party breaks the round."""

    @action(who=waiting)
    def leave_and_break(self, who: str) -> None:
        BarrierSpec.leave_and_break(self, who)

    @action(who=no_task)
    def withdraw(self, who: str) -> None: ...


class Failed(Exception):
    """What the action of a barrier raises."""


class OfBarrier(Waiters):
    told_by = (*OUT_OF_SERVICE, Failed)

    def __init__(self, cancelled: Any) -> None:
        super().__init__()
        self.primitive = Barrier(PARTIES, cancelled=cancelled, action=self.act)
        self.fails = False
        self.scopes: dict[str, trio.CancelScope] = {}
        self.numbers: list[int] = []

    def act(self) -> None:
        if self.fails:
            raise Failed

    def all_parties_stay(self) -> None:
        """From now on no task is cancelled."""

    async def come(self, who: str, fails: bool) -> None:
        self.fails = fails

        async def wait() -> None:
            self.numbers.append(await self.primitive.wait())

        with trio.CancelScope() as self.scopes[who]:
            await self.passes(who, wait())

    def leave(self, fails: bool) -> None:
        self.fails = fails
        try:
            self.primitive.leave()
        except Failed:
            assert fails

    def withdraw(self, who: str) -> None:
        self.scopes[who].cancel()

    def leave_and_break(self, who: str) -> None:
        self.scopes[who].cancel()

    def abort(self) -> None:
        self.primitive.abort()

    def reset(self) -> None:
        self.primitive.reset()

    def told(self) -> Mapping[str, object]:
        barrier = self.primitive
        numbers = tuple(sorted(self.numbers))
        return {"numbers": numbers, "parties": barrier.parties, "broken": barrier.broken}


# ==== Values ====


class SeenValue(Seen, ValueSpec):
    found: tuple[int, ...] = start(tuple)  # for what a task waited, of all that were granted

    def got(self, request: CoreRequest[Any]) -> None:
        self.found = tuple(sorted((*self.found, self.assigned)))

    def told(self) -> Mapping[str, object]:
        return {"found": self.found, "value": self.assigned}


class OfValue(Waiters):
    told_by = (*OUT_OF_SERVICE, LookupError)

    def __init__(self) -> None:
        super().__init__()
        self.primitive = Value(AT_FIRST)
        self.found: list[int] = []

    async def wait(self, who: str) -> None:
        async def wait() -> None:
            self.found.append(await self.primitive.wait_for(wanting(who)))

        await self.passes(who, wait())

    def assign(self, value: int) -> None:
        self.primitive.value = value

    def assign_one(self) -> None:
        self.primitive.value = 1

    def assign_two(self) -> None:
        self.primitive.value = 2

    def told(self) -> Mapping[str, object]:
        return {"found": tuple(sorted(self.found)), "value": self.primitive.value}


# ==== Rate limiters ====


class SeenRateLimiter(Seen, Counts, RateLimiterSpec):
    """In one run there is one clock, and the explorer's stops at each timer: it is never read late."""

    @action(ticks=no_task)
    def read_the_clock_after(self, ticks: int) -> None:
        super().read_the_clock_after(ticks)

    @action(hours=no_task)
    def change_the_clock(self, hours: int) -> None: ...

    def told(self) -> Mapping[str, object]:
        return {"passed": self.passed, "value": self.level // TICKS}


class OfRateLimiter(Waiters):
    def __init__(self) -> None:
        super().__init__()
        self.primitive = RateLimiter(1, TICKS, burst=BURST)

    async def acquire(self, who: str) -> None:
        await self.passes(who, self.primitive.acquire(RATES[who]))

    def withdraw(self, who: str) -> None:
        self.cancel("acquire", who=who)

    def tick(self) -> None:
        self.pass_time(1)

    def read_the_clock_after(self, ticks: int) -> None: ...

    def change_the_clock(self, hours: int) -> None: ...

    def told(self) -> Mapping[str, object]:
        return {"passed": self.passed, "value": self.primitive.value}

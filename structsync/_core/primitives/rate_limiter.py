"""Permits that time brings back: the decisions of :class:`structsync.RateLimiter`.

A token bucket without a sum that grows: what is on hand is computed from the last moment at which the
bucket was full (``anchor``) and the number of permits granted since then (``spent``, an int). So the
time of the thousandth grant is rounded once, not a thousand times. Whether a claim fits and when it will
fit are one comparison, so that a request that is woken at that time fits then.

Time comes from outside: :meth:`RateLimiterCore.elapse` is told what the clock shows.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

from structsync._core.queue.arbiter import Arbiter
from structsync._core.queue.request import Request


class TimedRequest(Request[int]):
    """A request that is granted by the clock."""

    __slots__ = ("timer",)

    timer: object  # what wakes its waiter in time, opaque here; the shell's mark


class RateLimiterCore(Arbiter[int]):
    """A bucket of ``burst`` permits, and a queue of claims for some of them."""

    request_type: ClassVar[type[Request[Any]]] = TimedRequest

    rate: float  # so many permits come back in each ``per``
    per: float
    burst: int  # the most that are on hand at once
    now: float  # what the clock showed last
    anchor: float  # when the bucket was full last
    spent: int  # permits granted since the anchor

    def __init__(self, rate: float, per: float, burst: int) -> None:
        super().__init__()
        self.rate = rate
        self.per = per
        self.burst = burst
        self.now = self.anchor = 0
        self.spent = 0

    def time_of(self, claim: int) -> float:
        """Return the moment from which on so many permits are on hand; it may be over."""
        missing = self.spent + claim - self.burst
        return self.anchor + missing * self.per / self.rate if missing > 0 else self.anchor

    def value(self, now: float) -> int:
        """Return how many permits are on hand at some time, beyond those for whom they are due then."""
        _, permits = self.due(now)
        least, most = 0, self.burst
        while least < most:  # by halves: a division would round where time_of() does not
            middle = (least + most + 1) // 2
            if self.time_of(permits + middle) <= now:
                least = middle
            else:
                most = middle - 1
        return least

    def admits(self, claim: int) -> bool:
        return claim <= self.burst and self.time_of(claim) <= self.now

    def admit(self, claim: int) -> None:
        # It was full before now, so what came since is lost. Full at this very moment, nothing is: then
        # the anchor stays, or the times of a limiter in steady use would be sums again.
        if self.time_of(self.burst) < self.now:
            self.anchor, self.spent = self.now, 0
        self.spent += claim

    def discharge(self, claim: int) -> None:
        raise NotImplementedError("only time refills a rate limiter")

    def refuse_impossible(self, claim: int) -> None:
        if claim > self.burst:
            raise ValueError(
                f"cannot acquire {claim} permits from a rate limiter that never has more than "
                f"{self.burst}; ask for fewer, or make it with burst={claim}"
            )

    def elapse(self, now: float) -> list[Request[int]]:
        """Go on to the time that the clock shows, and grant what that makes room for.

        Each is granted as of the moment at which it fitted, however late the clock is read.
        """
        ended: list[Request[int]] = []
        while (head := self.queue.head) is not None and self.time_of(head.claim) <= now:
            self.now = max(self.now, self.time_of(head.claim))
            ended += self.settle()
        self.now = max(self.now, now)
        return ended

    def change_clock(self, now: float) -> None:
        """Go on by another clock, which shows ``now``; no time has passed in between."""
        rounds = isinstance(self.anchor, float)  # ints, of a limiter outside of every run, do not
        on_hand = self.value(self.now) if rounds else 0
        self.anchor = now - (self.now - self.anchor)
        self.now = now
        while rounds and self.value(now) < on_hand:  # what is there must not be taken back
            self.anchor -= max(math.ulp(self.anchor), math.ulp(now))

    def due(self, now: float) -> tuple[int, int]:
        """Return how many in the queue are granted by some time, and how many permits they take."""
        requests = permits = 0
        for request in self.queue:
            if self.time_of(permits + request.claim) > now:
                break
            requests += 1
            permits += request.claim
        return requests, permits

    def time_for(self, request: Request[int]) -> float:
        """Return the moment at which a request in the queue fits, if those ahead of it stay."""
        # The bucket is never full while a task waits, so the anchor stays till then.
        ahead: Request[int] | None = request
        permits = 0
        while ahead is not None:
            permits += ahead.claim
            ahead = ahead.ahead
        return self.time_of(permits)

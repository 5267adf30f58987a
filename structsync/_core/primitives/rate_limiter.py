"""Permits that time brings back: the decisions of :class:`structsync.RateLimiter`.

A token bucket without a sum that grows: what is on hand is computed from the last moment at which the
bucket was full (``anchor``) and the number of permits granted since then (``spent``, an int). So the
time of the thousandth grant is rounded once, not a thousand times. Whether a claim fits and when it will
fit are one comparison, so that a request that is woken at that time fits then.

Time comes from outside: :meth:`RateLimiterCore.elapse` is told what the clock shows.
"""

from __future__ import annotations

import math
from itertools import islice
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
        return self.moment(self.anchor, self.spent, claim)

    def moment(self, anchor: float, spent: int, claim: int) -> float:
        """Return the same of a bucket from which so many were taken since it was full."""
        missing = spent + claim - self.burst
        return anchor + missing * self.per / self.rate if missing > 0 else anchor

    def after(self, anchor: float, spent: int, claim: int, now: float) -> tuple[float, int]:
        """Return when a bucket was full last, and how many it spent since, after a grant."""
        # It was full before now, so what came since is lost. Full at this very moment, nothing is: then
        # the anchor stays, or the times of a limiter in steady use would be sums again.
        if self.is_over(self.moment(anchor, spent, self.burst), now):
            return now, claim
        return anchor, spent + claim

    def is_over(self, moment: float, now: float) -> bool:
        """Return whether a moment is over by more than the clock was rounded."""
        return moment < now and moment + math.ulp(now) < now

    def value(self, now: float) -> int:
        """Return how many permits are on hand at some time, beyond those that are due to waiters then."""
        _, anchor, spent = self.due(now)
        least, most = 0, self.burst
        while least < most:  # by halves: a division would round where moment() does not
            middle = (least + most + 1) // 2
            if self.moment(anchor, spent, middle) <= now:
                least = middle
            else:
                most = middle - 1
        return least

    def admits(self, claim: int) -> bool:
        return claim <= self.burst and self.time_of(claim) <= self.now

    def admit(self, claim: int) -> None:
        self.anchor, self.spent = self.after(self.anchor, self.spent, claim, self.now)

    def discharge(self, claim: int) -> None:
        raise NotImplementedError("only time refills a rate limiter")

    def refuse_impossible(self, claim: int) -> None:
        if claim > self.burst:
            raise ValueError(
                f"cannot acquire {claim} permits from a rate limiter that never has more than "
                f"{self.burst}; ask for fewer, or make it with burst={claim}"
            )

    def elapse(self, now: float) -> list[Request[int]]:
        """Go on to the time that the clock shows, and grant what is on hand then.

        However late the clock is read, that is no more than the bucket holds: what is granted together is
        used together.
        """
        self.now = max(self.now, now)
        return self.settle()

    def next_reading(self, now: float) -> float:
        """Return the time to go on to first, of a clock that shows ``now``.

        A request for which no task sleeps is granted as of the moment at which it fits: no timer reads the
        clock then, so the next reader of the clock does so in its place.
        """
        head = self.queue.head
        return now if head is None or head.parked else min(self.time_of(head.claim), now)

    def change_clock(self, now: float) -> None:
        """Go on by another clock, which shows ``now``; no time has passed in between."""
        rounds = isinstance(self.anchor, float)  # ints, of a limiter outside of every run, do not
        on_hand = self.value(self.now) if rounds else 0
        self.anchor = now - (self.now - self.anchor)
        self.now = now
        while rounds and self.value(now) < on_hand:  # what is there must not be taken back
            self.anchor -= max(math.ulp(self.anchor), math.ulp(now))

    def due(self, now: float) -> tuple[int, float, int]:
        """Return how many in the queue are granted if the clock shows so much, and the bucket after that.

        That is when it was full last, and how many permits it has granted since.
        """
        requests, anchor, spent = 0, self.anchor, self.spent
        for request in self.queue:
            moment = self.moment(anchor, spent, request.claim)
            if moment > now:
                break
            granted = now if request.parked else moment
            anchor, spent = self.after(anchor, spent, request.claim, granted)
            requests += 1
        return requests, anchor, spent

    def is_due(self, request: Request[int], now: float) -> bool:
        """Return whether a request in the queue is granted if the clock shows so much."""
        requests, _, _ = self.due(now)
        return request in islice(self.queue, requests)

    def time_for(self, request: Request[int]) -> float:
        """Return the moment at which a request in the queue fits, if those ahead of it stay."""
        # The bucket is not full while a task waits, unless the clock is read late: the anchor stays till then.
        ahead: Request[int] | None = request
        permits = 0
        while ahead is not None:
            permits += ahead.claim
            ahead = ahead.ahead
        return self.time_of(permits)

    def next_time(self, now: float) -> float | None:
        """Return when the first is granted that is not if the clock shows so much; None if none is left."""
        requests, anchor, spent = self.due(now)
        waiting = next(islice(self.queue, requests, None), None)
        return None if waiting is None else self.moment(anchor, spent, waiting.claim)

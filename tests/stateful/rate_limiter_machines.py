"""The machines of the rate limiter, core and trio run, and the bucket that is their model."""

from __future__ import annotations

import trio
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule

import structsync
from structsync._core.primitives.rate_limiter import RateLimiterCore

from .core_machine import CoreMachine
from .models import Ended, QueueModel, Refused
from .shell_machine import PATIENCE
from .small_shells import OneLineMachine

TICKS = st.sampled_from([1, 2, 3])  # that a permit takes


class RateLimiterModel(QueueModel):
    """A bucket in ticks, out of which those who wait take when the clock is read."""

    def __init__(self, ticks: int, burst: int) -> None:
        super().__init__()
        self.ticks = ticks
        self.burst = burst
        self.level = self.ticks * self.burst

    def fits(self, claim: int) -> bool:
        return claim * self.ticks <= self.level

    def take(self, claim: int) -> None:
        self.level -= claim * self.ticks

    def refuse(self, claim: int) -> None:
        if claim > self.burst:
            raise Refused

    def pass_time(self, ticks: int) -> Ended:
        self.level = min(self.level + ticks, self.ticks * self.burst)
        return self.serve()


class RateLimiterMachine(CoreMachine):
    core: RateLimiterCore
    model: RateLimiterModel

    @initialize(ticks=TICKS, burst=st.integers(1, 3))
    def create(self, ticks: int, burst: int) -> None:
        self.core, self.model = RateLimiterCore(1, ticks, burst), RateLimiterModel(ticks, burst)

    def another_core(self) -> RateLimiterCore:
        return RateLimiterCore(1, 1, 1)

    @rule(permits=st.integers(1, 4))
    def acquire(self, permits: int) -> None:
        self.submit(permits)

    @rule(ticks=st.integers(1, 7))
    def read_the_clock_after(self, ticks: int) -> None:
        now = self.core.now + ticks
        self.agree(lambda: self.core.elapse(now), lambda: self.model.pass_time(ticks))

    @rule(by=st.integers(-9, 9))
    def change_the_clock(self, by: int) -> None:
        self.core.change_clock(self.core.now + by)

    @invariant()
    def what_is_on_hand_is_what_the_model_says(self) -> None:
        if hasattr(self, "core"):
            assert self.core.value(self.core.now) == self.model.level // self.model.ticks


class RateLimiterShellMachine(OneLineMachine):
    primitive: structsync.RateLimiter
    model: RateLimiterModel

    @initialize(ticks=TICKS, burst=st.integers(1, 3))
    def create(self, ticks: int, burst: int) -> None:
        self.primitive = structsync.RateLimiter(1, ticks, burst=burst)
        self.model = RateLimiterModel(ticks, burst)

    @rule(permits=st.integers(1, 4), patience=PATIENCE)
    def acquire(self, permits: int, patience: int | None) -> None:
        self.visit(lambda: self.primitive.acquire(permits), permits, "ValueError", patience)

    @precondition(lambda self: not self.model.closed)
    @rule(permits=st.integers(1, 4))
    def acquire_nowait(self, permits: int) -> None:
        def take() -> None:
            if permits > self.model.burst:
                self.must_raise(ValueError, lambda: self.primitive.acquire_nowait(permits))
            elif self.model.would_be_served(permits):
                self.must_pass(lambda: self.primitive.acquire_nowait(permits))
                self.predict("requested", "driver")
                self.end(self.model.arrive("driver", permits))
            else:
                self.must_raise(trio.WouldBlock, lambda: self.primitive.acquire_nowait(permits))

        self.stepper.step(take)

    @rule(seconds=st.integers(1, 3))
    def time_passes(self, seconds: int) -> None:
        # Before any task is cancelled by it: a grant beats a deadline.
        self.stepper.step(lambda: self.stepper.clock.jump(seconds))
        self.end(self.model.pass_time(seconds))
        self.predict_what_is_late()

    @invariant()
    def what_is_on_hand_is_what_the_model_says(self) -> None:
        if hasattr(self, "primitive"):
            value = self.stepper.step(lambda: self.primitive.value)
            assert value == self.model.level // self.model.ticks

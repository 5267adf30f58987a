"""The machines of the cores that are one line each: semaphore, limiter, wait queue, parker."""

from __future__ import annotations

import math

from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule

from structsync._core.primitives.capacity_limiter import CapacityLimiterCore
from structsync._core.primitives.parker import Busy, ParkerCore
from structsync._core.primitives.semaphore import SemaphoreCore
from structsync._core.primitives.wait_queue import WaitQueueCore

from .core_machine import AGEINGS, POLICIES, PRIORITIES, CoreMachine, one_of
from .models import LimiterModel, ParkerModel, SemaphoreModel, WaitQueueModel


class SemaphoreMachine(CoreMachine):
    core: SemaphoreCore
    model: SemaphoreModel

    @initialize(
        value=st.integers(0, 4),
        room=st.none() | st.integers(0, 2),
        policy=POLICIES | st.just("priority"),  # which has most to it
        ageing=AGEINGS,
    )
    def create(self, value: int, room: int | None, policy: str, ageing: int | None) -> None:
        max_value = None if room is None else value + room
        self.options = (max_value, policy, ageing)
        self.core = SemaphoreCore(value, max_value=max_value, policy=policy, ageing=ageing)
        self.model = SemaphoreModel(value, max_value, policy, ageing)
        self.opening, self.released, self.added = value, 0, 0
        self.claims: dict[str, int] = {}

    def another_core(self) -> SemaphoreCore:
        max_value, policy, ageing = self.options
        return SemaphoreCore(0, max_value=max_value, policy=policy, ageing=ageing)

    @rule(permits=st.integers(1, 4), priority=PRIORITIES)
    def request(self, permits: int, priority: int) -> None:
        if who := self.submit(permits, priority):
            self.claims[who] = permits

    @precondition(lambda self: self.model.value > 0)
    @rule(priority=PRIORITIES)
    def request_one_too_many(self, priority: int) -> None:
        """A head that does not fit although there are permits: the one to overtake."""
        self.request(self.model.value + 1, priority)

    @precondition(lambda self: self.model.entries and self.model.would_be_served(1, -2))
    @rule()
    def overtake(self) -> None:
        self.request(1, -2)

    @rule(permits=st.integers(1, 3))
    def release(self, permits: int) -> None:
        before = self.core.snapshot()
        self.agree(lambda: self.core.release(permits), lambda: self.model.release(permits))
        if self.core.snapshot() != before:
            self.released += permits

    @rule(max_value=st.integers(0, 5))
    def resize(self, max_value: int) -> None:
        old = self.model.max_value
        self.agree(lambda: self.core.resize(max_value), lambda: self.model.resize(max_value))
        self.added += 0 if old is None else max_value - old

    @invariant()
    def permits_are_conserved(self) -> None:
        if hasattr(self, "core"):
            granted = [n for who, n in self.claims.items() if self.statuses[who] == "granted"]
            out = sum(granted) - self.released
            assert self.core.value == self.opening + self.added - out == self.model.value


class LimiterMachine(CoreMachine):
    core: CapacityLimiterCore
    model: LimiterModel

    @initialize(total=st.sampled_from([0, 1, 2, math.inf]), policy=POLICIES, ageing=AGEINGS)
    def create(self, total: float, policy: str, ageing: int | None) -> None:
        self.options = (policy, ageing)
        self.core = CapacityLimiterCore(total, policy=policy, ageing=ageing)
        self.model = LimiterModel(total, policy, ageing)

    def another_core(self) -> CapacityLimiterCore:
        policy, ageing = self.options
        return CapacityLimiterCore(0, policy=policy, ageing=ageing)

    @rule(priority=PRIORITIES)
    def borrow(self, priority: int) -> None:
        self.ask(self.newcomer(), priority)

    @precondition(lambda self: self.requests)
    @rule(borrower=one_of(lambda self: list(self.requests)), priority=PRIORITIES)
    def borrow_again(self, borrower: str, priority: int) -> None:
        """A task asks who holds, waits, gave back or withdrew."""
        self.ask(borrower, priority)

    def ask(self, borrower: str, priority: int) -> None:
        self.submit(borrower, priority, who=borrower, refusal=RuntimeError)

    @precondition(lambda self: self.requests)
    @rule(borrower=one_of(lambda self: list(self.requests)))
    def release(self, borrower: str) -> None:
        self.agree(
            lambda: self.core.release(borrower),
            lambda: self.model.release(borrower),
            RuntimeError,
        )

    @rule(total=st.sampled_from([0, 1, 2, 3, math.inf]))
    def resize(self, total: float) -> None:
        self.agree(lambda: self.core.resize(total), lambda: self.model.resize(total))

    @invariant()
    def the_borrowers_are_those_of_the_model(self) -> None:
        if hasattr(self, "core"):
            assert set(self.core.borrowers) == set(self.model.borrowers)
            assert self.core.pending == {one.claim: one for one in self.core.queue}


class WaitQueueMachine(CoreMachine):
    core: WaitQueueCore
    model: WaitQueueModel

    @initialize()
    def create(self) -> None:
        self.core, self.model = WaitQueueCore(), WaitQueueModel()

    def another_core(self) -> WaitQueueCore:
        return WaitQueueCore()

    @rule()
    def wait(self) -> None:
        self.submit(None)

    @rule(count=st.none() | st.integers(0, 3))
    def wake(self, count: int | None) -> None:
        self.agree(lambda: self.core.wake(count), lambda: self.model.wake(count))

    @invariant()
    def no_wake_is_kept(self) -> None:
        assert not hasattr(self, "core") or self.core.wakes == 0


class ParkerMachine(CoreMachine):
    core: ParkerCore
    model: ParkerModel

    @initialize()
    def create(self) -> None:
        self.core, self.model = ParkerCore(), ParkerModel()

    def another_core(self) -> ParkerCore:
        return ParkerCore()

    @rule()
    def block(self) -> None:
        self.submit(None, refusal=Busy)

    @rule()
    def unblock(self) -> None:
        self.agree(lambda: self.core.release(None), self.model.unblock)

    @invariant()
    def unblocks_are_conserved(self) -> None:
        assert not hasattr(self, "core") or self.core.unblocks == self.model.unblocks

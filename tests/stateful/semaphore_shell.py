"""The machine of a semaphore in a trio run."""

from __future__ import annotations

from typing import Any

import trio
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule

import structsync

from .core_machine import AGEINGS, POLICIES, PRIORITIES, one_of
from .models import Refused, SemaphoreModel
from .shell_machine import PATIENCE, ShellMachine

PERMITS = st.integers(1, 3)
# What can be done without waiting; the number is an amount, or picks a visitor.
SYNCHRONOUS = st.tuples(
    st.sampled_from(["leave", "leave", "cancel", "withdraw", "nowait", "release", "resize"]),
    st.integers(0, 4),
)


class SemaphoreShellMachine(ShellMachine):
    primitive: structsync.Semaphore
    model: SemaphoreModel

    @initialize(
        value=st.integers(0, 4),
        room=st.none() | st.integers(0, 2),
        policy=POLICIES | st.just("priority"),  # which has most to it
        ageing=AGEINGS,
        checkpoint=st.sampled_from(["always", "budget"]),
    )
    def create(
        self, value: int, room: int | None, policy: Any, ageing: int | None, checkpoint: Any
    ) -> None:
        max_value = None if room is None else value + room
        self.primitive = structsync.Semaphore(
            value, max_value=max_value, policy=policy, ageing=ageing, checkpoint=checkpoint
        )
        self.model = SemaphoreModel(value, max_value, policy, ageing)
        self.looks_for_a_cancellation_first = checkpoint == "budget"
        self.claims: dict[str, int] = {}  # what each visitor got, or will get

    # ==== arriving ====

    def priority(self, priority: int) -> int:
        return priority if self.model.policy == "priority" else 0

    def acquire(self, who: str, permits: int, priority: int, patience: int | None) -> None:
        async def call() -> None:
            await self.primitive.acquire(permits, priority=priority)

        self.call(who, call, patience)

    def predict_arrival(self, who: str, permits: int, priority: int) -> None:
        visitor = self.visitors[who]
        if self.model.closed:
            visitor.expected = "ClosedResourceError"
            return
        try:
            ended = self.model.arrive(who, permits, priority)
        except Refused:
            visitor.expected = "ValueError"
            return
        self.predict("requested", who)
        self.claims[who] = permits
        self.end(ended)

    @precondition(lambda self: len(self.model.entries) < 4)  # or the queue only grows
    @rule(calls=st.lists(st.tuples(PERMITS, PRIORITIES, PATIENCE), min_size=1, max_size=3))
    def arrive_together(self, calls: list[tuple[int, int, int | None]]) -> None:
        arrivals: dict[str, tuple[int, int]] = {}

        def start() -> None:
            for permits, priority, patience in calls:
                who = self.newcomer()
                arrivals[who] = (permits, self.priority(priority))
                self.acquire(who, *arrivals[who], patience)

        self.stepper.step(start)
        # Who came first is for trio's scheduler to say; what follows from it, for the model.
        came = [who for kind, who in self.observed if kind == "requested" and who in arrivals]
        for who in [*came, *(who for who in arrivals if who not in came)]:
            self.predict_arrival(who, *arrivals[who])

    @rule(permits=PERMITS, priority=PRIORITIES)
    def arrive_in_a_cancelled_scope(self, permits: int, priority: int) -> None:
        priority = self.priority(priority)

        def start() -> str:
            who = self.newcomer()
            self.acquire(who, permits, priority, None)
            self.visitors[who].actor.scope.cancel()
            return who

        who = self.stepper.step(start)
        if self.looks_for_a_cancellation_first or self.model.would_be_served(permits, priority):
            self.visitors[who].expected = "cancelled"  # it has not even arrived
        else:
            self.predict_arrival(who, permits, priority)
            self.predict_cancelled_arrival(who)

    @precondition(lambda self: self.model.value > 0 and len(self.model.entries) < 4)
    @rule(priority=PRIORITIES)
    def ask_for_one_too_many(self, priority: int) -> None:
        """A head that does not fit although there are permits: the one to overtake."""
        self.arrive_together([(self.model.value + 1, priority, None)])

    @precondition(lambda self: self.model.entries and self.model.would_be_served(1, -2))
    @rule(times=st.integers(1, 4))
    def overtake(self, times: int) -> None:
        """Once, and stay; or again and again, until those in the queue are too old for it."""
        for _ in range(times):
            if self.model.would_be_served(1, -2):
                self.arrive_together([(1, -2, None)])
                if times > 1:
                    self.leave(-1)

    @precondition(lambda self: self.model.entries)
    @rule(number=st.integers(0, 2))
    def cancel(self, number: int) -> None:
        self.stepper.step(lambda: self.do_cancel(number))

    # ==== requests as objects ====

    @precondition(lambda self: not self.model.closed)
    @rule(permits=PERMITS, priority=PRIORITIES)
    def request(self, permits: int, priority: int) -> None:
        async def call() -> None:
            visitor.request = self.primitive.request(permits, priority=self.priority(priority))

        who = self.stepper.step(self.newcomer)
        visitor = self.visitors[who]
        self.stepper.step(lambda: self.call(who, call))
        self.predict_arrival(who, permits, self.priority(priority))
        if visitor.expected == "blocked":
            visitor.expected = "returned"

    def handles(self) -> list[str]:
        return [who for who, one in self.visitors.items() if one.request is not None]

    @precondition(lambda self: self.handles())
    @rule(who=one_of(lambda self: self.handles()), patience=PATIENCE)
    def wait_on_a_request(self, who: str, patience: int | None) -> None:
        visitor = self.visitors[who]
        request = visitor.request
        if visitor.expected == "blocked" or request is None:
            return
        self.stepper.step(lambda: self.call(who, request.wait, patience))
        if visitor.status != "pending":
            visitor.expected = self.outcome_of(visitor, visitor.status)

    # ==== leaving, and several changes in one step ====

    def holders(self) -> list[str]:
        return [who for who in self.claims if self.visitors[who].status == "granted"]

    @precondition(lambda self: self.holders())
    @rule(number=st.integers(0, 3))
    def leave(self, number: int) -> None:
        self.stepper.step(lambda: self.do_leave(number))

    def do_leave(self, number: int) -> None:
        if holders := self.holders():
            self.do_release(self.claims.pop(holders[number % len(holders)]))

    @rule(changes=st.lists(SYNCHRONOUS, min_size=1, max_size=4))
    def in_one_step(self, changes: list[tuple[str, int]]) -> None:
        def carry_out() -> None:
            for change, number in changes:
                getattr(self, f"do_{change}")(number)

        self.stepper.step(carry_out)

    def do_release(self, number: int) -> None:
        permits = number or 1
        try:
            ended = self.model.release(permits)
        except Refused:
            self.must_raise(ValueError, lambda: self.primitive.release(permits))
        else:
            self.primitive.release(permits)
            self.end(ended)

    def do_resize(self, number: int) -> None:
        try:
            ended = self.model.resize(number)
        except Refused:
            self.must_raise(ValueError, lambda: self.primitive.resize(number))
        else:
            self.primitive.resize(number)
            self.end(ended)

    def do_cancel(self, number: int) -> None:
        if who := self.pick(number):
            self.visitors[who].actor.scope.cancel()
            self.predict_cancel(who)

    def do_withdraw(self, number: int) -> None:
        handles = self.handles()
        if not handles:
            return
        who = handles[-1 - number % len(handles)]
        visitor = self.visitors[who]
        assert visitor.request is not None
        assert visitor.request.withdraw() == (visitor.status == "pending")
        if visitor.status == "pending":
            self.end_one(who, "withdrawn", lambda: self.model.withdraw(who))

    def do_nowait(self, number: int) -> None:
        permits = number or 1
        if self.model.would_be_served(permits):
            self.must_pass(lambda: self.primitive.acquire_nowait(permits))
            self.predict("requested", "driver")
            self.end(self.model.arrive("driver", permits))
            return
        largest = self.model.largest
        if self.model.closed:
            error: type[Exception] = trio.ClosedResourceError
        else:
            error = trio.WouldBlock if largest is None or permits <= largest else ValueError
        self.must_raise(error, lambda: self.primitive.acquire_nowait(permits))

    @precondition(lambda self: len(self.visitors) > 20)
    @rule()
    def close(self) -> None:
        self.stepper.step(self.primitive.close)
        self.end(self.model.close())

    @invariant()
    def the_value_is_that_of_the_model(self) -> None:
        if hasattr(self, "primitive"):
            assert self.primitive.value == self.model.value

"""A primitive in a real trio run and its naive model, driven side by side; the base of the machines.

Each visitor is a task. After each rule every task is parked; then the observed events, the outcomes
of the calls, the statistics and the invariants are compared with what the model says. Events, not
wake-ups, tell the order of grants: trio runs woken tasks in any order.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import pytest
import trio
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

import structsync
from structsync.checking import invariants

from .models import Ended, QueueModel
from .stepper import Actor, Stepper

Events = list[tuple[str, str]]  # (kind, who)
PATIENCE = st.none() | st.integers(1, 5)
OUTCOMES = {"granted": "returned", "withdrawn": "cancelled", "broken": "ClosedResourceError"}


@dataclass
class Visitor:
    """A task and what the model expects of its latest call."""

    actor: Actor
    expected: str = "returned"
    deadline: float = math.inf
    request: structsync.Request[Any] | None = None
    status: str = "pending"  # how its request should stand


class ShellMachine(RuleBasedStateMachine):
    primitive: structsync.Primitive[Any]
    model: QueueModel

    def __init__(self) -> None:
        super().__init__()
        self.visitors: dict[str, Visitor] = {}
        self.observed: Events = []
        self.predicted: Events = []
        self.stack = ExitStack()
        self.stepper = Stepper()
        self.stack.enter_context(structsync.observe(self.note))

    def teardown(self) -> None:
        self.stack.close()
        self.stepper.end()

    def note(self, event: structsync.PrimitiveEvent) -> None:
        if event.kind not in ("released", "changed", "closed"):
            assert event.task is not None
            self.observed.append((event.kind, event.task.name))

    # ==== visitors ====

    def newcomer(self) -> str:
        """Start a task and return its name."""
        who = f"w{len(self.visitors)}"
        self.visitors[who] = Visitor(Actor(self.stepper, who))
        return who

    def call(
        self, who: str, call: Callable[[], Awaitable[object]], patience: int | None = None
    ) -> None:
        visitor = self.visitors[who]
        visitor.deadline = math.inf
        if patience is not None:
            # No two deadlines are equal, because trio says nothing about the order of equal ones.
            visitor.deadline = self.stepper.clock.current_time() + patience + self.tick()
        visitor.expected = "blocked"
        visitor.actor.call(call, visitor.deadline)

    def tick(self) -> float:
        self._ticks = getattr(self, "_ticks", 0) + 1
        return self._ticks * 1e-6

    def pick(self, number: int) -> str | None:
        """One of the visitors, the blocked ones by preference; None if there are none."""
        blocked = [who for who, one in self.visitors.items() if one.expected == "blocked"]
        names = blocked or list(self.visitors)
        return names[number % len(names)] if names else None

    def must_pass(self, take: Callable[[], object]) -> None:
        """Take what the model grants at once: a refusal is a judgement of the machine."""
        try:
            take()
        except trio.WouldBlock as error:
            raise AssertionError("refused, although the model grants it") from error

    def must_raise(self, error: type[Exception], call: Callable[[], object]) -> None:
        with pytest.raises(error):
            call()

    # ==== what the model says ====

    def predict(self, kind: str, who: str) -> None:
        self.predicted.append((kind, who))

    def end(self, ended: Ended) -> None:
        for who, status in ended:
            self.predict(status, who)
            if who in self.visitors:
                visitor = self.visitors[who]
                visitor.status = status
                if visitor.expected == "blocked":
                    visitor.expected = self.outcome_of(visitor, status)

    def outcome_of(self, visitor: Visitor, status: str) -> str:
        if visitor.request is not None and status == "withdrawn":
            return "RequestWithdrawn"
        return OUTCOMES[status]

    def predict_cancel(self, who: str) -> None:
        """What cancelling the latest call does: nothing unless it is blocked (grant wins)."""
        visitor = self.visitors[who]
        if visitor.expected != "blocked":
            return
        if visitor.request is None:
            self.end_one(who, "withdrawn", lambda: self.model.withdraw(who))
        else:
            visitor.expected = "cancelled"  # its request keeps its place

    def predict_cancelled_arrival(self, who: str) -> None:
        """What an arrival in a cancelled scope comes to: no refusal is its outcome."""
        if self.visitors[who].expected == "blocked":
            self.predict_cancel(who)
        else:
            self.visitors[who].expected = "cancelled"

    def end_one(self, who: str, status: str, transition: Callable[[], Ended]) -> None:
        """The request ends, and then those that its end lets in."""
        self.end([(who, status)])
        self.end(transition())

    # ==== rules that every primitive has ====

    @rule(seconds=st.integers(1, 3))
    def time_passes(self, seconds: int) -> None:
        self.stepper.step(lambda: self.stepper.clock.jump(seconds))
        self.predict_what_is_late()

    def predict_what_is_late(self) -> None:
        """Who has waited until its deadline is cancelled, the earliest first."""
        late = [
            (visitor.deadline, who)
            for who, visitor in self.visitors.items()
            if visitor.deadline <= self.stepper.clock.current_time()
        ]
        for _, who in sorted(late):
            self.predict_cancel(who)
            self.visitors[who].deadline = math.inf

    # ==== what holds at quiescence ====

    @invariant()
    def events_are_those_of_the_model(self) -> None:
        assert self.observed == self.predicted
        self.observed.clear()
        self.predicted.clear()

    @invariant()
    def every_call_ended_as_the_model_says(self) -> None:
        for who, visitor in self.visitors.items():
            assert visitor.actor.outcome == visitor.expected, who
            if visitor.request is not None:
                assert visitor.request.status.value == visitor.status, who

    @invariant()
    def nothing_grantable_waits(self) -> None:
        if hasattr(self, "primitive"):
            assert invariants.nothing_grantable_waits(self.primitive._core)
            assert invariants.nothing_waits_when_closed_or_broken(self.primitive._core)

    @invariant()
    def as_many_wait_as_the_model_says(self) -> None:
        if hasattr(self, "primitive"):
            assert self.primitive.statistics().tasks_waiting == len(self.model.entries)

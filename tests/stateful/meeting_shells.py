"""The machines of barrier and latch in a trio run."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule

import structsync

from .meeting_machines import BarrierModel, LatchModel
from .models import Ended, Refused
from .shell_machine import PATIENCE, Visitor
from .small_shells import OneLineMachine


class BarrierShellMachine(OneLineMachine):
    primitive: structsync.Barrier
    model: BarrierModel

    @initialize(parties=st.integers(1, 4), cancelled=st.sampled_from(["leaves", "breaks"]))
    def create(self, parties: int, cancelled: Any) -> None:
        self.primitive = structsync.Barrier(parties, cancelled=cancelled)
        self.model = BarrierModel(parties)
        self.breaks = cancelled == "breaks"
        self.told: set[str] = set()  # in this step, that the round is broken
        self.numbers: dict[str, int] = {}
        self.predicted_numbers: dict[str, int] = {}

    def outcome_of(self, visitor: Visitor, status: str) -> str:
        if status == "broken" and not self.model.closed:
            return "BrokenResourceError"
        return super().outcome_of(visitor, status)

    def end(self, ended: Ended) -> None:
        super().end(ended)
        if not self.model.closed:
            self.told |= {who for who, status in ended if status == "broken"}
        round_ = [who for who, status in ended if status == "granted"]
        self.predicted_numbers |= {who: number for number, who in enumerate(round_)}

    def predict_cancel(self, who: str) -> None:
        if self.breaks and self.visitors[who].expected == "blocked":
            self.end_one(who, "withdrawn", lambda: self.model.leave_and_break(who))
        elif who in self.told:
            self.visitors[
                who
            ].expected = "cancelled"  # of the two it raises what it was sent itself
        else:
            super().predict_cancel(who)

    async def meet(self, who: str) -> None:
        self.numbers[who] = await self.primitive.wait()

    @rule(patience=PATIENCE)
    def come(self, patience: int | None) -> None:
        who = f"w{len(self.visitors)}"  # the newcomer
        self.visit(lambda: self.meet(who), None, "BrokenResourceError", patience)

    @precondition(lambda self: not self.model.broken and not self.model.closed)
    @rule(number=st.integers(0, 3))
    def one_leaves_before_the_round_is_full(self, number: int) -> None:
        """What takes many steps by chance: others come in its place, and all get their numbers."""
        while len(self.model.entries) < self.model.parties - 1:
            self.come(None)
        if self.model.entries:
            self.cancel(number)
        while self.model.entries:  # none, if that has broken the round
            self.come(None)

    @rule()
    def come_cancelled(self) -> None:
        """Even the last to come does not fill the round then."""

        def start() -> str:
            who = self.newcomer()
            self.call(who, lambda: self.meet(who))
            self.visitors[who].actor.scope.cancel()
            return who

        who = self.stepper.step(start)
        if self.model.closed or self.model.broken:
            self.visitors[who].expected = "cancelled"
        else:
            self.predict("requested", who)
            self.model.join(who, None)
            self.predict_cancel(who)

    @precondition(lambda self: len(self.visitors) > 4)  # or hardly a round is ever full
    @rule(number=st.integers(0, 5))
    def abort(self, number: int) -> None:
        self.change(self.primitive.abort, self.model.break_round, number)

    @precondition(lambda self: self.model.broken or len(self.visitors) > 4)
    @rule(number=st.integers(0, 5))
    def reset(self, number: int) -> None:
        self.change(self.primitive.reset, self.model.reset, number)

    @precondition(lambda self: self.model.parties > 1 and self.visitors)
    @rule(number=st.integers(0, 5))
    def leave(self, number: int) -> None:
        self.change(self.primitive.leave, self.model.leave, number)

    @invariant()
    def it_is_as_broken_as_the_model(self) -> None:
        if hasattr(self, "primitive"):
            assert self.primitive.broken == self.model.broken
            assert self.primitive.parties == self.model.parties
            self.told.clear()

    @invariant()
    def numbers_are_those_of_the_model(self) -> None:
        if hasattr(self, "primitive"):
            assert self.numbers == self.predicted_numbers


class LatchShellMachine(OneLineMachine):
    primitive: structsync.Latch
    model: LatchModel

    @initialize(count=st.integers(0, 9))
    def create(self, count: int) -> None:
        self.primitive, self.model = structsync.Latch(count), LatchModel(count)

    @rule(patience=PATIENCE)
    def wait(self, patience: int | None) -> None:
        self.visit(self.primitive.wait, 0, "", patience)

    # With no task there it should not open before any task comes, not in every run.
    @precondition(lambda self: self.model.entries or self.model.count > 6)
    @rule(n=st.integers(1, 3), number=st.integers(0, 5))
    def count_down(self, n: int, number: int) -> None:
        def real() -> None:
            if n > self.model.count:
                self.must_raise(ValueError, lambda: self.primitive.count_down(n))
            else:
                self.primitive.count_down(n)

        def model() -> Ended:
            try:
                return self.model.count_down(n)
            except Refused:
                return []

        self.change(real, model, number)

    @invariant()
    def the_count_is_that_of_the_model(self) -> None:
        if hasattr(self, "primitive"):
            assert self.primitive.count == self.model.count

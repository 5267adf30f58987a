"""The machines of the value that is waited for, core and trio run, and their model."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, rule

import structsync
from structsync._core.primitives.value import Awaited, ValueCore

from .core_machine import CoreMachine
from .models import Ended, QueueModel
from .shell_machine import PATIENCE
from .small_shells import OneLineMachine

VALUES = st.integers(0, 4)
WANTED = st.frozensets(VALUES, min_size=1, max_size=2)


class ValueModel(QueueModel):
    """The claim is the set of values that are waited for, or an object that has it."""

    def __init__(self, value: int) -> None:
        super().__init__("eligible")
        self.value = value

    def fits(self, claim: Any) -> bool:
        return self.value in claim.predicate.__self__

    def take(self, claim: Any) -> None:
        pass

    def assign(self, value: int) -> Ended:
        self.value = value
        return self.serve()


class ValueMachine(CoreMachine):
    core: ValueCore
    model: ValueModel

    @initialize(value=VALUES)
    def create(self, value: int) -> None:
        self.core, self.model = ValueCore(value), ValueModel(value)

    def another_core(self) -> ValueCore:
        return ValueCore(-1)

    @rule(wanted=WANTED)
    def wait(self, wanted: frozenset[int]) -> None:
        claim = Awaited(wanted.__contains__)
        who = self.submit(claim)
        if who and self.statuses[who] == "granted":
            assert claim.found == self.model.value

    @rule(value=VALUES)
    def assign(self, value: int) -> None:
        waiting = self.core.waiting()
        self.agree(lambda: self.core.assign(value), lambda: self.model.assign(value))
        granted = [one for one in waiting if one.status == "granted"]
        assert all(one.claim.found == value for one in granted)

    @invariant()
    def the_value_is_that_of_the_model(self) -> None:
        assert not hasattr(self, "core") or self.core.value == self.model.value


class ValueShellMachine(OneLineMachine):
    primitive: structsync.Value[int]
    model: ValueModel

    @initialize(value=VALUES)
    def create(self, value: int) -> None:
        self.primitive, self.model = structsync.Value(value), ValueModel(value)

    @rule(wanted=WANTED, patience=PATIENCE)
    def wait(self, wanted: frozenset[int], patience: int | None) -> None:
        async def call() -> None:
            assert await self.primitive.wait_for(wanted.__contains__) in wanted

        self.visit(call, Awaited(wanted.__contains__), "", patience)

    @rule(value=VALUES, number=st.integers(0, 5))
    def assign(self, value: int, number: int) -> None:
        def real() -> None:
            self.primitive.value = value

        self.change(real, lambda: self.model.assign(value), number)

    @rule(value=VALUES, then=VALUES)
    def assign_for_a_moment(self, value: int, then: int) -> None:
        """No task has run when the next value is there."""

        def assign_both() -> None:
            for one in (value, then):
                self.primitive.value = one
                self.end(self.model.assign(one))

        self.stepper.step(assign_both)

    @invariant()
    def the_value_is_that_of_the_model(self) -> None:
        if hasattr(self, "primitive"):
            assert self.primitive.value == self.model.value

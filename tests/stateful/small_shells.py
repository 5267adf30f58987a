"""The machines of limiter, wait queue and parker in a trio run."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule

import structsync

from .core_machine import one_of
from .models import Ended, LimiterModel, ParkerModel, Refused, WaitQueueModel
from .shell_machine import PATIENCE, ShellMachine

BORROWERS = st.sampled_from(["x", "y", "z"])


class OneLineMachine(ShellMachine):
    """Visitors that make one kind of blocking call; each is a new task."""

    def visit(
        self,
        call: Callable[[], Awaitable[object]],
        claim: Any,
        refusal: str,
        patience: int | None,
    ) -> None:
        who = self.stepper.step(self.newcomer)
        self.stepper.step(lambda: self.call(who, call, patience))
        visitor = self.visitors[who]
        if self.model.closed:
            visitor.expected = "ClosedResourceError"
            return
        try:
            ended = self.model.arrive(who, claim)
        except Refused:
            visitor.expected = refusal
            return
        self.predict("requested", who)
        self.end(ended)

    @precondition(lambda self: self.model.entries)
    @rule(number=st.integers(0, 3))
    def cancel(self, number: int) -> None:
        self.stepper.step(lambda: self.do_cancel(number))

    def do_cancel(self, number: int) -> None:
        if who := self.pick(number):
            self.visitors[who].actor.scope.cancel()
            self.predict_cancel(who)

    def change(self, real: Callable[[], object], model: Callable[[], Ended], number: int) -> None:
        """The change and a cancellation in one step, in both orders or alone."""

        def both() -> None:
            if number % 3 == 1:
                self.do_cancel(number)
            real()
            self.end(model())
            if number % 3 == 2:
                self.do_cancel(number)

        self.stepper.step(both)

    @precondition(lambda self: len(self.visitors) > 10)
    @rule()
    def close(self) -> None:
        self.stepper.step(self.primitive.close)
        self.end(self.model.close())


class LimiterShellMachine(OneLineMachine):
    primitive: structsync.CapacityLimiter
    model: LimiterModel

    @initialize(total=st.sampled_from([0, 1, 2, math.inf]))
    def create(self, total: float) -> None:
        self.primitive, self.model = structsync.CapacityLimiter(total), LimiterModel(total)

    @precondition(lambda self: not self.model.closed)
    @rule(borrower=BORROWERS | st.none(), patience=PATIENCE)
    def borrow(self, borrower: str | None, patience: int | None) -> None:
        name = borrower or f"borrower {len(self.visitors)}"

        async def call() -> None:
            await self.primitive.acquire_on_behalf_of(name)

        self.visit(call, name, "RuntimeError", patience)

    def holders(self) -> list[str]:
        return self.model.borrowers

    @precondition(lambda self: self.holders())
    @rule(borrower=one_of(lambda self: self.holders()), number=st.integers(0, 5))
    def release(self, borrower: str, number: int) -> None:
        self.change(
            lambda: self.primitive.release_on_behalf_of(borrower),
            lambda: self.model.release(borrower),
            number,
        )

    @rule(total=st.sampled_from([0, 1, 2, 3, math.inf]), number=st.integers(0, 5))
    def resize(self, total: float, number: int) -> None:
        def real() -> None:
            self.primitive.total_tokens = total

        self.change(real, lambda: self.model.resize(total), number)

    @invariant()
    def the_borrowers_are_those_of_the_model(self) -> None:
        if hasattr(self, "primitive"):
            assert self.primitive.statistics().borrowers == self.model.borrowers


class WaitQueueShellMachine(OneLineMachine):
    primitive: structsync.WaitQueue
    model: WaitQueueModel

    @initialize()
    def create(self) -> None:
        self.primitive, self.model = structsync.WaitQueue(), WaitQueueModel()

    @rule(patience=PATIENCE)
    def wait(self, patience: int | None) -> None:
        self.visit(self.primitive.wait, None, "", patience)

    @rule(count=st.integers(0, 3), number=st.integers(0, 5))
    def wake(self, count: int, number: int) -> None:
        self.change(lambda: self.primitive.wake(count), lambda: self.model.wake(count), number)

    @rule(number=st.integers(0, 5))
    def wake_all(self, number: int) -> None:
        self.change(self.primitive.wake_all, lambda: self.model.wake(None), number)


class ParkerShellMachine(OneLineMachine):
    primitive: structsync.Parker
    model: ParkerModel

    @initialize()
    def create(self) -> None:
        self.primitive, self.model = structsync.Parker(), ParkerModel()

    @rule(patience=PATIENCE)
    def block(self, patience: int | None) -> None:
        self.visit(self.primitive.block, None, "BusyResourceError", patience)

    @rule(number=st.integers(0, 5))
    def unblock(self, number: int) -> None:
        self.change(self.primitive.unblock, self.model.unblock, number)

    @invariant()
    def the_unblocks_are_those_of_the_model(self) -> None:
        if hasattr(self, "primitive"):
            assert self.primitive.statistics().unblocks == self.model.unblocks

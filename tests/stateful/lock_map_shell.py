"""The machine of a lock map in a trio run: nothing keeps a lock alive but those who hold it or wait for it."""

from __future__ import annotations

import gc
from typing import Any

import trio
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule

import structsync

from .core_machine import one_of
from .models import Ended, QueueModel
from .shell_machine import PATIENCE
from .small_shells import OneLineMachine

KEYS = st.sampled_from("xyz")


class LockMapModel(QueueModel):
    """Who holds which key, and who waits for one: of each key the oldest is next. A claim is both."""

    def __init__(self) -> None:
        super().__init__("eligible")
        self.holders: dict[str, str] = {}

    def fits(self, claim: tuple[str, str]) -> bool:
        return claim[0] not in self.holders

    def take(self, claim: tuple[str, str]) -> None:
        key, who = claim
        self.holders[key] = who

    def release(self, key: str) -> Ended:
        del self.holders[key]
        return self.serve()


class LockMapShellMachine(OneLineMachine):
    primitive: structsync.LockMap[str]
    model: LockMapModel

    @initialize()
    def create(self) -> None:
        self.primitive, self.model = structsync.LockMap(), LockMapModel()

    def note(self, event: structsync.PrimitiveEvent) -> None:
        if event.kind != "broken":  # closing goes from key to key, in no order that is promised
            super().note(event)

    def predict(self, kind: str, who: str) -> None:
        if kind != "broken":
            super().predict(kind, who)

    # ==== rules ====

    @rule(key=KEYS, patience=PATIENCE)
    def acquire(self, key: str, patience: int | None) -> None:
        async def call() -> None:
            await self.primitive[key].acquire()  # and no task has the lock itself

        self.visit(call, (key, f"w{len(self.visitors)}"), "", patience)

    @rule(key=KEYS)
    def try_it(self, key: str) -> None:
        """A nowait, by a task of its own."""
        who = self.stepper.step(self.newcomer)

        async def call() -> None:
            self.primitive[key].acquire_nowait()

        self.stepper.step(lambda: self.call(who, call))
        if self.model.closed:
            self.visitors[who].expected = "ClosedResourceError"
        elif self.model.fits((key, who)):
            self.visitors[who].expected = "returned"
            self.model.take((key, who))
            self.predict("requested", who)
            self.predict("granted", who)
        else:
            self.visitors[who].expected = "WouldBlock"

    @precondition(lambda self: self.model.holders)
    @rule(key=one_of(lambda self: [*self.model.holders]), number=st.integers(0, 5))
    def release(self, key: str, number: int) -> None:
        """By the task that holds it, and perhaps while another one is cancelled."""
        who = self.model.holders[key]

        async def call() -> None:
            self.change_now(lambda: self.primitive[key].release(), key, number)

        self.stepper.step(lambda: self.call(who, call))
        self.visitors[who].expected = "returned"

    def change_now(self, real: Any, key: str, number: int) -> None:
        if number % 3 == 1:
            self.do_cancel(number)
        real()
        self.end(self.model.release(key))
        if number % 3 == 2:
            self.do_cancel(number)

    def do_cancel(self, number: int) -> None:
        if waiting := [entry.who for entry in self.model.entries]:
            who = waiting[number % len(waiting)]
            self.visitors[who].actor.scope.cancel()
            self.predict_cancel(who)

    @precondition(lambda self: self.model.holders)
    @rule(key=one_of(lambda self: [*self.model.holders]))
    def a_stranger_may_not_release(self, key: str) -> None:
        self.stepper.step(lambda: self.must_raise(RuntimeError, self.primitive[key].release))

    # ==== what holds at quiescence ====

    @invariant()
    def the_keys_are_those_that_are_held(self) -> None:
        if hasattr(self, "primitive"):
            assert {*self.primitive} == {*self.model.holders}
            assert self.primitive.statistics().locks_held == len(self.model.holders)

    @invariant()
    def each_key_has_the_owner_that_the_model_says(self) -> None:
        if hasattr(self, "primitive"):
            for key, who in self.model.holders.items():
                owner: trio.lowlevel.Task | None = self.primitive[key].statistics().owner
                assert owner is not None
                assert owner.name == who

    @invariant()
    def nothing_is_left_of_a_key_that_no_task_uses(self) -> None:
        if hasattr(self, "primitive"):
            used = {*self.model.holders, *(entry.claim[0] for entry in self.model.entries)}
            if not {*self.primitive._locks} <= used:
                gc.collect()  # an error that was raised has its frames, in a circle
            assert {*self.primitive._locks} <= used

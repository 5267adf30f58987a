"""The machine of a lock and its conditions in a trio run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule

import structsync

from .core_machine import AGEINGS, PRIORITIES, one_of
from .lock_machine import CONDITIONS
from .lock_model import LockModel
from .models import Ended, Refused
from .shell_machine import OUTCOMES, PATIENCE, ShellMachine, Visitor
from .stepper import Actor

TASKS = ["a", "b", "c", "d", "e"]
# What the owner can do without waiting; the number counts, or picks a visitor.
OWNERS_CHANGES = st.tuples(
    st.sampled_from(["notify", "notify", "cancel", "cancel", "release"]),
    st.just(1) | st.integers(0, 4),
)


class LockShellMachine(ShellMachine):
    """Five tasks, one lock, two conditions. Only the grants of the lock are compared as events: a wait
    has two primitives, and each tells of it."""

    primitive: structsync.Lock
    model: LockModel

    @initialize(policy=st.sampled_from(["fifo", "priority"]), ageing=AGEINGS)
    def create(self, policy: Any, ageing: int | None) -> None:
        self.primitive = structsync.Lock(policy=policy, ageing=ageing)
        self.conditions = {name: structsync.Condition(self.primitive) for name in CONDITIONS}
        self.model = LockModel(CONDITIONS, policy, ageing)
        self.error_of_lock = ""
        self.stepper.step(self.start_tasks)

    def start_tasks(self) -> None:
        for who in TASKS:
            self.visitors[who] = Visitor(Actor(self.stepper, who))

    def note(self, event: structsync.PrimitiveEvent) -> None:
        if event.kind == "granted" and event.primitive is self.primitive:
            super().note(event)

    def predict(self, kind: str, who: str) -> None:
        if kind == "granted":
            super().predict(kind, who)

    # ==== what the model says of calls ====

    def end(self, ended: Ended) -> None:
        super().end(ended)
        for who, status in ended:
            # A wait that was cancelled says so, whatever came after it.
            if status == "broken" and self.model.waits.get(who) != "withdrawn":
                self.visitors[who].expected = self.error_of_lock
            elif self.model.waits.get(who) in OUTCOMES:
                self.visitors[who].expected = OUTCOMES[self.model.waits[who]]

    def predict_cancel(self, who: str) -> None:
        if self.model.waits.get(who) == "pending":
            self.end(self.model.cancel(who))
        elif who not in self.model.returning:
            super().predict_cancel(who)

    # ==== rules ====

    def free(self) -> list[str]:
        """Tasks that do nothing now."""
        return [who for who in self.visitors if self.visitors[who].expected != "blocked"]

    def newly(self) -> list[str]:
        return [who for who in self.free() if who != self.model.owner]

    @precondition(lambda self: self.newly())
    @rule(who=one_of(lambda self: self.newly()), priority=PRIORITIES, patience=PATIENCE)
    def acquire(self, who: str, priority: int, patience: int | None) -> None:
        number = priority if self.model.policy == "priority" else 0

        async def call() -> None:
            await self.primitive.acquire(priority=number)

        self.model.waits.pop(who, None)
        self.visitors[who].status = "pending"
        self.stepper.step(lambda: self.call(who, call, patience))
        if self.model.closed:
            self.visitors[who].expected = self.error_of_lock
        else:
            self.end(self.model.arrive(who, who, number))

    @precondition(lambda self: self.model.owner in self.visitors)
    @rule(condition=st.sampled_from(CONDITIONS), patience=PATIENCE)
    def wait(self, condition: str, patience: int | None) -> None:
        who = str(self.model.owner)
        try:
            ended = self.model.wait(who, condition)
        except Refused:
            error = self.error_of_lock if self.model.closed else "ClosedResourceError"
            self.as_owner(self.conditions[condition].wait)
            self.visitors[who].expected = error
            return
        self.stepper.step(lambda: self.call(who, self.conditions[condition].wait, patience))
        self.end(ended)

    @precondition(lambda self: not self.model.owner and not self.model.closed)
    @rule(condition=st.sampled_from(CONDITIONS), count=st.integers(2, 4))
    def several_wait(self, condition: str, count: int) -> None:
        """What takes many steps by chance: several tasks wait for the same."""
        for who in self.newly()[:count]:
            self.acquire(who, 0, None)
            if self.model.owner == who:
                self.wait(condition, None)

    def as_owner(self, call: Callable[[], Any]) -> None:
        self.stepper.step(lambda: self.call(str(self.model.owner), call))

    @precondition(lambda self: self.model.owner in self.visitors)
    @rule(
        condition=st.sampled_from(CONDITIONS),
        changes=st.lists(OWNERS_CHANGES, min_size=1, max_size=4),
    )
    def owner_in_one_step(self, condition: str, changes: list[tuple[str, int]]) -> None:
        who = str(self.model.owner)

        async def call() -> None:
            for change, number in changes:
                if change == "notify":
                    self.do_notify(who, condition, number)
                elif change == "release":
                    self.do_release(who)
                else:
                    self.do_cancel(who, number)

        self.as_owner(call)
        self.visitors[who].expected = "returned"

    def do_notify(self, who: str, condition: str, number: int) -> None:
        try:
            self.model.notify(who, condition, number)
        except Refused:
            self.must_raise(RuntimeError, lambda: self.conditions[condition].notify(number))
        else:
            self.conditions[condition].notify(number)

    def do_release(self, who: str) -> None:
        try:
            ended = self.model.release(who)
        except Refused:
            self.must_raise(RuntimeError, self.primitive.release)
        else:
            self.primitive.release()
            self.end(ended)

    def do_cancel(self, me: str, number: int) -> None:
        others = [who for who in self.visitors if who != me]
        who = others[number % len(others)]
        self.visitors[who].actor.scope.cancel()
        self.predict_cancel(who)

    @precondition(lambda self: self.model.owner in self.visitors)
    @rule()
    def release(self) -> None:
        self.owner_in_one_step("full", [("release", 0)])

    @rule(who=st.sampled_from(TASKS))
    def cancel(self, who: str) -> None:
        if who in self.visitors:
            self.stepper.step(self.visitors[who].actor.scope.cancel)
            self.predict_cancel(who)

    @precondition(lambda self: self.notified() and self.newly())
    @rule()
    def queue_up_behind_the_notified(self) -> None:
        """So that it matters who takes over the place of a notified waiter."""
        self.acquire(self.newly()[0], 0, None)

    def notified(self) -> list[str]:
        return [entry.who for entry in self.model.entries if entry.condition]

    @precondition(lambda self: self.notified())
    @rule(who=one_of(lambda self: self.notified()))
    def cancel_a_notified_waiter(self, who: str) -> None:
        self.cancel(who)

    # ==== ends ====

    def late(self) -> bool:
        """Whether it is time for what ends most of the fun."""
        return self.model.arrivals > 15

    @precondition(lambda self: self.late() and self.free())
    @rule(who=one_of(lambda self: self.free()))
    def exit(self, who: str) -> None:
        self.stepper.step(self.visitors[who].actor.exit)
        del self.visitors[who]
        if self.model.owner == who and not self.model.closed:
            self.error_of_lock = "BrokenResourceError"
        ended = self.model.exits(who)
        self.end([one for one in ended if one[0] != who])

    @precondition(lambda self: self.late())
    @rule()
    def close(self) -> None:
        self.stepper.step(self.primitive.close)
        self.error_of_lock = self.error_of_lock or "ClosedResourceError"
        self.end(self.model.close())

    @precondition(lambda self: self.late())
    @rule(condition=st.sampled_from(CONDITIONS))
    def close_condition(self, condition: str) -> None:
        self.stepper.step(self.conditions[condition].close)
        self.end(self.model.close_condition(condition))

    @invariant()
    def the_owner_and_the_queues_are_those_of_the_model(self) -> None:
        if hasattr(self, "primitive"):
            owner = self.primitive.statistics().owner
            assert (owner and owner.name) == self.model.owner or self.model.closed
            for name, condition in self.conditions.items():
                waiting = condition.statistics().tasks_waiting
                assert waiting == len(self.model.unnotified[name])

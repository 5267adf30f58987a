"""The machine of a monitor round a number of items in a trio run."""

from __future__ import annotations

from collections.abc import Callable

import trio
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule

import structsync
from structsync import GuardFunction, Invocation
from structsync._core.monitors.entry import EntryCore

from .models import Ended, Refused
from .monitor_machine import NAMES, ROOM, MonitorModel
from .shell_machine import PATIENCE, ShellMachine, Visitor

# What can be done in one step from outside; the number picks whom to cancel, or how many items.
CHANGES = st.tuples(
    st.sampled_from(["finish", "finish", "cancel", "cancel", "cancel", "change", "guard"]),
    st.integers(0, ROOM),
)


class MonitorShellMachine(ShellMachine):
    """Each visitor is a task that calls once. Who puts or takes stays inside until it is told to
    finish; who looks is out at once."""

    primitive: structsync.Monitor
    model: MonitorModel

    @initialize()
    def create(self) -> None:
        self.primitive, self.model = structsync.Monitor(), MonitorModel()
        self.items = 0
        bodies: dict[str, tuple[Callable[[int], object], GuardFunction | None]] = {
            "put": (self.put, self.may_put),
            "take": (self.take, lambda request: request.args[0] <= self.items),
            "look": (self.look, None),
        }
        self.entries = {name: self.primitive.entry(*both) for name, both in bodies.items()}
        self.calls: dict[str, Invocation] = {}  # as the model knows them
        self.within: list[str] = []  # whose function runs
        self.told_to_finish = trio.Event()  # the one inside
        self.leaving = ""  # how the one inside will have ended when this step is over

    # ==== the functions ====

    def may_put(self) -> bool:
        return self.items < ROOM

    async def put(self, number: int) -> None:
        await self.stay()
        self.items += 1

    async def take(self, number: int) -> None:
        await self.stay()
        self.items -= number

    async def stay(self) -> None:
        me = trio.lowlevel.current_task().name
        self.within.append(me)
        self.told_to_finish = trio.Event()
        try:
            await self.told_to_finish.wait()
        finally:
            self.within.remove(me)

    def look(self, number: int) -> None:
        assert not self.within

    # ==== what the model says ====

    def outcome_of(self, visitor: Visitor, status: str) -> str:
        return "blocked" if status == "granted" else super().outcome_of(visitor, status)

    def predict_cancel(self, who: str) -> None:
        if who != self.model.inside:
            super().predict_cancel(who)
        elif not self.looks(who):  # nothing in a look can be cancelled
            self.leaving = self.leaving or "cancelled"

    def looks(self, who: str) -> bool:
        return self.calls[who].entry.name == "look"

    def let_out(self) -> None:
        """What is left to do at the end of a step: the one inside goes, if anything made it go."""
        while self.model.inside is not None:
            who = self.model.inside
            how, self.leaving = self.leaving or ("returned" if self.looks(who) else ""), ""
            if not how:
                return
            self.visitors[who].expected = how
            self.end(self.leave(how, self.calls[who]))

    def leave(self, how: str, call: Invocation) -> Ended:
        if how == "returned":
            return self.model.leave(call)
        self.model.inside = None  # its function did nothing
        return self.model.serve()

    # ==== rules ====

    def ask(self, name: str, number: int, patience: int | None) -> str:
        who = self.newcomer()
        self.calls[who] = Invocation(EntryCore(name), who, (number,))
        self.call(who, lambda: self.entries[name](number), patience)
        return who

    def predict_arrival(self, who: str) -> None:
        try:
            ended = self.model.arrive(who, self.calls[who])
        except Refused:
            self.visitors[who].expected = "ClosedResourceError"
            return
        self.predict("requested", who)
        self.end(ended)

    @precondition(lambda self: len(self.model.entries) < 6)  # or the queue only grows
    @rule(name=NAMES, number=st.integers(1, 2), patience=PATIENCE)
    def arrive(self, name: str, number: int, patience: int | None) -> None:
        self.predict_arrival(self.stepper.step(lambda: self.ask(name, number, patience)))
        self.let_out()

    @rule(name=NAMES, number=st.integers(1, 2))
    def arrive_in_a_cancelled_scope(self, name: str, number: int) -> None:
        def start() -> str:
            who = self.ask(name, number, None)
            self.visitors[who].actor.scope.cancel()
            return who

        who = self.stepper.step(start)
        if self.model.would_be_served(self.calls[who]):
            self.visitors[who].expected = "cancelled"  # it has not even arrived
        else:
            self.predict_arrival(who)
            self.predict_cancelled_arrival(who)

    @rule(changes=st.lists(CHANGES, min_size=1, max_size=3))
    def change_in_one_step(self, changes: list[tuple[str, int]]) -> None:
        def order() -> None:
            for change, number in changes:
                if change == "finish":
                    self.do_finish()
                elif change == "cancel":
                    self.do_cancel(number)
                elif change == "change":
                    self.items = self.model.items = number
                    self.primitive.changed()
                    self.end(self.model.serve())
                else:
                    self.do_guard()

        self.stepper.step(order)
        self.let_out()

    @precondition(lambda self: self.held_up())
    @rule()
    def let_in_who_has_no_room(self) -> None:
        """By the end of their guard, which only matters while no task is inside."""
        self.change_in_one_step([("guard", 0)])

    def held_up(self) -> bool:
        """Whether the guard on putting is what a task waits for."""
        waiting = [entry.claim.entry.name for entry in self.model.entries]
        return self.model.inside is None and "put" in waiting

    def do_finish(self) -> None:
        if self.within:  # who was let in just now does not run yet
            self.told_to_finish.set()
            self.leaving = self.leaving or "returned"

    def do_cancel(self, number: int) -> None:
        who = self.pick(number)
        if who is not None:
            self.visitors[who].actor.scope.cancel()
            self.predict_cancel(who)

    def do_guard(self) -> None:
        """Set the guard on putting, or remove it."""
        self.model.guarded = not self.model.guarded
        if self.model.guarded:
            self.primitive.constrain(self.entries["put"], self.may_put)
        else:
            self.primitive.unconstrain(self.entries["put"])
        self.end(self.model.serve())

    @rule(seconds=st.integers(1, 3))
    def time_passes(self, seconds: int) -> None:
        super().time_passes(seconds)
        self.let_out()

    # ==== ends ====

    def late(self) -> bool:
        """Whether it is time for what ends most of the fun."""
        return self.model.arrivals > 12

    @precondition(lambda self: self.late())
    @rule(name=NAMES)
    def close_entry(self, name: str) -> None:
        self.stepper.step(self.entries[name].close)
        self.end(self.model.remove(name))

    @precondition(lambda self: self.late())
    @rule()
    def close(self) -> None:
        self.stepper.step(self.primitive.close)
        self.end(self.model.close())

    # ==== what holds at quiescence ====

    @invariant()
    def inside_is_who_the_model_says(self) -> None:
        if hasattr(self, "primitive"):
            owner = self.primitive.statistics().owner
            assert (owner and owner.name) == self.model.inside
            assert self.within == [self.model.inside] * (owner is not None)
            assert self.items == self.model.items

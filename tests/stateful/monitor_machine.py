"""The machine of a monitor round a number of items, and its model."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule

from structsync._core.monitors.entry import EntryCore, Guard, Invocation
from structsync._core.monitors.monitor import MonitorCore

from .core_machine import CoreMachine, one_of
from .models import Ended, QueueModel, Refused

ROOM = 3
NAMES = st.sampled_from(["put", "take", "look"])


class MonitorModel(QueueModel):
    def __init__(self) -> None:
        super().__init__("eligible", None)
        self.items = 0
        self.inside: str | None = None
        self.guarded = True  # whether there is a guard on putting
        self.gone: set[str] = set()

    def fits(self, claim: Invocation) -> bool:
        if self.inside is not None:
            return False
        if claim.entry.name == "take":
            return bool(claim.args[0] <= self.items)
        return claim.entry.name == "look" or not self.guarded or self.items < ROOM

    def take(self, claim: Invocation) -> None:
        self.inside = claim.task

    def refuse(self, claim: Invocation) -> None:
        if claim.entry.name in self.gone or claim.task == self.inside:
            raise Refused

    def leave(self, claim: Invocation) -> Ended:
        if self.inside != claim.task:
            raise Refused
        self.inside = None
        if claim.entry.name != "look":
            self.items += 1 if claim.entry.name == "put" else -claim.args[0]
        return self.serve()

    def remove(self, name: str) -> Ended:
        self.gone.add(name)
        told = [entry for entry in self.entries if entry.claim.entry.name == name]
        self.entries = [entry for entry in self.entries if entry not in told]
        return [(entry.who, "broken") for entry in told]


class MonitorMachine(CoreMachine):
    core: MonitorCore
    model: MonitorModel

    @initialize()
    def create(self) -> None:
        self.core, self.model = MonitorCore(), MonitorModel()
        self.may_put = Guard(lambda: self.model.items < ROOM)
        may_take = Guard(lambda call: call.args[0] <= self.model.items, reads_request=True)
        guards = {"put": self.may_put, "take": may_take, "look": None}
        self.entries = {name: EntryCore(name, guard) for name, guard in guards.items()}
        self.calls: dict[str, Invocation] = {}  # the latest of each task

    def another_core(self) -> MonitorCore:
        return MonitorCore()

    @rule(name=NAMES, number=st.integers(1, 2))
    def call(self, name: str, number: int) -> None:
        self.enter(self.newcomer(), name, number)

    @precondition(lambda self: self.model.inside)
    @rule(name=NAMES)
    def call_from_inside(self, name: str) -> None:
        before = self.model.inside
        assert before is not None
        call = self.calls[before]
        self.enter(before, name, 1)
        self.calls[before] = call  # it was refused

    def enter(self, who: str, name: str, number: int) -> None:
        call = self.calls[who] = Invocation(self.entries[name], who, (number,))
        self.submit(call, who=who, refusal=RuntimeError)

    @precondition(lambda self: self.calls)
    @rule(who=one_of(lambda self: list(self.calls)))
    def leave_although_perhaps_outside(self, who: str) -> None:
        self.leave_as(who)

    @precondition(lambda self: self.model.inside)
    @rule()
    def leave(self) -> None:
        assert self.model.inside is not None
        self.leave_as(self.model.inside)

    def leave_as(self, who: str) -> None:
        call = self.calls[who]
        self.agree(
            lambda: self.core.release(call), lambda: self.model.leave(call), refusal=RuntimeError
        )

    @rule(items=st.integers(0, ROOM))
    def change_from_outside(self, items: int) -> None:
        self.model.items = items
        self.agree(self.core.settle, self.model.serve)

    @rule()
    def set_or_remove_a_guard(self) -> None:
        self.model.guarded = not self.model.guarded
        guard = self.may_put if self.model.guarded else None
        self.agree(lambda: self.core.constrain(self.entries["put"], guard), self.model.serve)

    @precondition(lambda self: self.model.arrivals > 10)  # later, or there is nothing to look at
    @rule(name=NAMES)
    def take_out(self, name: str) -> None:
        entry = self.entries[name]
        self.agree(lambda: self.core.remove(entry, "out"), lambda: self.model.remove(name))

    @invariant()
    def the_one_inside_is_that_of_the_model(self) -> None:
        assert not hasattr(self, "core") or self.core.owner == self.model.inside

    @invariant()
    def the_lanes_of_the_entries_are_the_queue(self) -> None:
        if not hasattr(self, "core"):
            return
        expected: dict[EntryCore, list[object]] = {}
        for request in self.core.queue:
            expected.setdefault(request.claim.entry, []).append(request)
        assert {entry: [*lane] for entry, lane in self.core.queue.by_entry.items()} == expected

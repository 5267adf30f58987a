"""The machine of synchronizers that begin, end and overlap over three monitors, and its model.

Between monitors no order is promised, so the model does not foretell who starts first. It goes through
what the cores report, start by start, and demands of each that it is the next of its monitor, that
those who have to start with it do, and that the triggers run were theirs; and that no task is left who
could start.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias, cast

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from structsync._core.monitors.entry import EntryCore, Guard, Invocation, Trigger
from structsync._core.monitors.monitor import MonitorCore
from structsync._core.monitors.synchronizer import Rules, SynchronizerCore
from structsync._core.queue.arbiter import EndedForGood
from structsync._core.queue.group import settle_transitively
from structsync._core.queue.request import BROKEN, GRANTED, PENDING, WITHDRAWN, Request
from structsync.checking import invariants

from .core_machine import one_of
from .synchronizer_model import (
    LEVELS,
    MONITORS,
    Block,
    CallModel,
    Change,
    Place,
    RulesModel,
    SynchronizerModel,
)

PLACES = [(at, name) for at in MONITORS for name in ("open", "local")]
PLACE = st.sampled_from(PLACES)
NUMBER = st.integers(0, 2)
LEVEL = st.integers(0, LEVELS - 1)

#: One rule of a synchronizer: which entries, and what of them; None if they start together.
Said: TypeAlias = "tuple[list[Place], Block | Change | None]"
SAID = st.tuples(
    st.lists(PLACE, min_size=2, max_size=2, unique_by=lambda place: place[0]),
    st.none()
    | st.builds(Block, LEVEL, st.booleans())
    | st.builds(Change, st.sampled_from([-1, 1]), st.sampled_from([None, None, 2])),
)


class Defect(Exception):
    """What a trigger raises."""


class SynchronizerMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.model = SynchronizerModel()
        self.cores = [MonitorCore() for _ in MONITORS]
        guards = {place: Guard(lambda at=place[0]: self.model.ready[at]) for place in PLACES}
        self.entries = {
            place: EntryCore(place[1], guards[place] if place[1] == "local" else None)
            for place in PLACES
        }
        self.synchronizers: dict[str, SynchronizerCore] = {}
        self.levels: dict[str, int] = {}
        self.ran: list[tuple[str, str, Change]] = []  # which triggers ran, for whom, in this step
        self.requests: dict[str, Request[Any]] = {}
        self.places: dict[str, int] = {}
        self.expected: dict[str, str] = {}  # how each call should stand
        self.begun = 0

    # ==== one step of both ====

    def note(self, ended: Iterable[Request[Any]]) -> None:
        """Carry on what has ended, and go through it start by start."""
        told = [*ended]
        told += [one for _, others in settle_transitively(told) for one in others]
        foretold: list[str] = []
        for one in told:
            if one.waiter in foretold:
                foretold.remove(one.waiter)
                continue
            together, granted = self.model.start(one.waiter, self.ran)
            foretold += [who for who in together if who != one.waiter]
            self.expected.update(dict.fromkeys(together, GRANTED if granted else BROKEN))
            requests = [self.requests[who] for who in together]
            assert {one.status for one in requests} == {GRANTED if granted else BROKEN}
            if not granted:  # one error behind them, and none is raised in two tasks
                causes = [cast(BaseException, one.cause) for one in requests]
                assert len({id(one) for one in causes}) == len(causes)
                assert len({id(one.__cause__ or one) for one in causes}) == 1
        assert not foretold
        assert not self.ran

    def rules_of(self, place: Place) -> Rules:
        entry = self.entries[place]
        if entry.rules is None:
            return Rules(entry, self.cores[place[0]], None)
        return cast(Rules, entry.rules)

    # ==== rules come and go ====

    @initialize(levels=st.tuples(LEVEL, LEVEL), said=st.lists(SAID, min_size=3, max_size=8))
    def begin_with_two(self, levels: tuple[int, int], said: list[Said]) -> None:
        for level in levels:
            self.begin(level)
        for number, one in enumerate(said):
            self.say(f"s{number % 2}", one)

    @precondition(lambda self: len(self.synchronizers) < 2)
    @rule(level=LEVEL)
    def begin(self, level: int) -> None:
        name = f"s{self.begun}"
        self.begun += 1
        self.synchronizers[name], self.levels[name] = SynchronizerCore(), level
        self.model.rules[name] = RulesModel(level)

    @precondition(lambda self: self.synchronizers)
    @rule(name=one_of(lambda self: list(self.synchronizers)))
    def end(self, name: str) -> None:
        del self.model.rules[name]
        for rules in self.synchronizers.pop(name).end():
            self.note(rules.arbiter.settle())

    @precondition(lambda self: self.synchronizers)
    @rule(name=one_of(lambda self: list(self.synchronizers)), said=SAID)
    def say(self, name: str, said: Said) -> None:
        places, what = said
        if isinstance(what, Block):
            self.disable(name, places[0], what)
        elif isinstance(what, Change):
            self.trigger(name, places[0], what)
        else:
            self.atomic(name, places)

    def disable(self, name: str, place: Place, block: Block) -> None:
        def disabled(call: Invocation | None = None) -> bool:
            return block.disables(self.levels[name], 0 if call is None else call.args[0])

        guard = Guard(disabled, reads_request=block.reads_request)
        self.synchronizers[name].disable(self.rules_of(place), guard)
        self.model.rules[name].blocks.append((place, block))

    def trigger(self, name: str, place: Place, change: Change) -> None:
        def changed(call: Invocation) -> None:
            self.ran.append((call.task, name, change))
            if change.fails(call.args[0]):
                raise Defect
            self.levels[name] = (self.levels[name] + change.by) % LEVELS

        self.synchronizers[name].trigger(self.rules_of(place), Trigger(changed, reads_request=True))
        self.model.rules[name].changes.append((place, change))

    def atomic(self, name: str, places: list[Place]) -> None:
        merged = self.model.group(*places)
        try:
            self.synchronizers[name].atomic([self.rules_of(place) for place in places])
        except ValueError:
            assert len({at for at, _ in merged}) < len(merged)
        except EndedForGood:
            assert merged & self.model.closed
        else:
            assert len({at for at, _ in merged}) == len(merged)
            assert not merged & self.model.closed
            self.model.rules[name].groups.append(places)

    # ==== calls come and go ====

    @rule(place=PLACE, number=NUMBER)
    def call(self, place: Place, number: int) -> None:
        who, core, entry = f"w{len(self.requests)}", self.cores[place[0]], self.entries[place]
        invocation = Invocation(entry, who, (number,))
        refused = bool(self.model.group(place) & self.model.closed)
        try:
            if entry.rules is None:
                request = core.submit(invocation, waiter=who)
                ended = [request] if request.status is GRANTED else []
            else:
                request, ended = core.arrive(invocation, who)
        except EndedForGood:
            assert refused
            return
        assert not refused
        self.requests[who], self.places[who], self.expected[who] = request, place[0], PENDING
        self.model.waiting.append(CallModel(who, place, number))
        self.note(ended)

    @precondition(lambda self: self.missing())
    @rule(place=st.runner().flatmap(lambda self: st.sampled_from(self.missing())), number=NUMBER)
    def call_as_a_partner(self, place: Place, number: int) -> None:
        self.call(place, number)

    def missing(self) -> list[Place]:
        """Return where a call would be the partner of one that waits."""
        standing = {one.place for one in self.model.waiting}
        return sorted(self.model.group(*standing) - standing)

    @precondition(lambda self: self.model.waiting)
    @rule(who=one_of(lambda self: [one.who for one in self.model.waiting]))
    def withdraw(self, who: str) -> None:
        self.model.waiting = [one for one in self.model.waiting if one.who != who]
        self.expected[who] = WITHDRAWN
        others = self.cores[self.places[who]].withdraw(self.requests[who])
        assert others is not None
        self.note(others)

    @precondition(lambda self: any(self.model.inside.values()))
    @rule(who=one_of(lambda self: [who for who in self.model.inside.values() if who]))
    def leave(self, who: str) -> None:
        self.model.inside[self.places[who]] = None
        self.note(self.cores[self.places[who]].release(self.requests[who].claim))

    @precondition(lambda self: any(self.model.inside.values()))
    @rule()
    def all_leave(self) -> None:
        for who in filter(None, [*self.model.inside.values()]):
            self.leave(who)

    @rule(at=st.sampled_from(MONITORS))
    def change_from_outside(self, at: int) -> None:
        self.model.ready[at] = not self.model.ready[at]
        self.note(self.cores[at].settle())

    # ==== closing ====

    @precondition(lambda self: len(self.requests) > 10)  # later, or there is nothing to look at
    @rule(place=PLACE, whole=st.booleans())
    def close_an_entry_or_its_monitor(self, place: Place, whole: bool) -> None:
        core, entry = self.cores[place[0]], self.entries[place]
        if whole:
            places = {one for one in PLACES if one[0] == place[0]}
            self.close(places, core.end("closed"), [cast(Rules, one) for one in core.rules])
        else:
            self.close({place}, core.remove(entry, "closed"), [cast("Rules | None", entry.rules)])

    def close(
        self, places: set[Place], ended: list[Request[Any]], ruled: list[Rules | None]
    ) -> None:
        """Tell those, too, who were to start together with what is closed, as the shell does."""
        for rules in ruled:
            for one in rules.bonded()[1:] if rules is not None else ():
                ended += one.arbiter.break_waiters_of(one.entry, "closed")
        self.model.closed |= places
        gone = [one for one in self.model.waiting if self.model.group(one.place) & places]
        self.model.waiting = [one for one in self.model.waiting if one not in gone]
        assert sorted(one.waiter for one in ended) == sorted(one.who for one in gone)
        self.expected.update((one.who, BROKEN) for one in gone)
        assert settle_transitively(ended) == []

    # ==== what holds after every step ====

    @invariant()
    def no_task_is_left_who_could_start(self) -> None:
        for at, core in enumerate(self.cores):
            assert self.model.next_of(at) is None
            assert invariants.nothing_grantable_waits(core)

    @invariant()
    def every_task_is_where_the_model_says(self) -> None:
        for at, core in enumerate(self.cores):
            standing = [one.who for one in self.model.waiting if one.place[0] == at]
            assert [one.waiter for one in core.queue] == standing
            assert core.owner == self.model.inside[at]

    @invariant()
    def every_call_stands_as_the_model_says(self) -> None:
        standing = {who: one.status for who, one in self.requests.items()}
        assert standing == self.expected

    @invariant()
    def the_rules_are_those_that_have_not_ended(self) -> None:
        ruled = set[Place]().union(*[rules.concerned() for rules in self.model.rules.values()])
        for place, entry in self.entries.items():
            assert (entry.rules is not None) == (place in ruled)
            assert (entry.rules in self.cores[place[0]].rules) == (place in ruled)
        for name, rules in self.model.rules.items():
            assert self.levels[name] == rules.level

"""What synchronizers over three monitors say, in lists; and who may start by it.

Each synchronizer has a level, which its triggers change and its guards look at. Of what has started the
model demands that it was next, that those who have to start with it did, and that the triggers were
theirs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

Place: TypeAlias = "tuple[int, str]"  # a monitor and an entry of it

LEVELS = 3
MONITORS = range(3)


@dataclass(frozen=True, slots=True)
class Block:
    """Calls are disabled from this level on; those with a larger number later, if that counts."""

    least: int
    reads_request: bool

    def disables(self, level: int, number: int) -> bool:
        return level >= self.least + number * self.reads_request


@dataclass(frozen=True, slots=True, eq=False)
class Change:
    """A trigger: it changes the level, or fails for the calls of one number."""

    by: int
    fails_for: int | None

    def fails(self, number: int) -> bool:
        return number == self.fails_for


@dataclass
class RulesModel:
    """What one synchronizer says, in lists."""

    level: int = 0
    blocks: list[tuple[Place, Block]] = field(default_factory=list)
    changes: list[tuple[Place, Change]] = field(default_factory=list)
    groups: list[list[Place]] = field(default_factory=list)

    def concerned(self) -> set[Place]:
        ruled = {place for place, _ in self.blocks} | {place for place, _ in self.changes}
        return ruled.union(*self.groups)


@dataclass(frozen=True, slots=True)
class CallModel:
    who: str
    place: Place
    number: int


class SynchronizerModel:
    def __init__(self) -> None:
        self.rules: dict[str, RulesModel] = {}
        self.waiting: list[CallModel] = []  # in the order of arrival
        self.inside: dict[int, str | None] = dict.fromkeys(MONITORS)
        self.ready = dict.fromkeys(MONITORS, True)  # what the guards of "local" look at
        self.closed: set[Place] = set()

    def group(self, *places: Place) -> set[Place]:
        """Return all whose calls start together with those of these entries."""
        found, before = set(places), set[Place]()
        while found != before:
            before = set(found)
            for rules in self.rules.values():
                found.update(*[group for group in rules.groups if found & {*group}])
        return found

    def admitted(self, call: CallModel) -> bool:
        at, name = call.place
        return (
            self.inside[at] is None
            and (name == "open" or self.ready[at])
            and not any(
                block.disables(rules.level, call.number)
                for rules in self.rules.values()
                for place, block in rules.blocks
                if place == call.place
            )
        )

    def starting_with(self, call: CallModel) -> list[CallModel] | None:
        """Return those that would start together with a call, itself among them; None if it cannot."""
        if not self.admitted(call):
            return None
        found = [call]
        for place in self.group(call.place) - {call.place}:
            partner = self.partner(place)
            if partner is None:
                return None
            found.append(partner)
        return found

    def partner(self, place: Place) -> CallModel | None:
        """Return the oldest call there, unless an older one of that monitor needs no partner."""
        for one in self.waiting:
            if one.place[0] == place[0] and self.admitted(one):
                if one.place == place:
                    return one
                if len(self.group(one.place)) == 1:
                    return None
        return None

    def next_of(self, at: int) -> CallModel | None:
        here = (one for one in self.waiting if one.place[0] == at)
        return next((one for one in here if self.starting_with(one)), None)

    def start(self, who: str, ran: list[tuple[str, str, Change]]) -> tuple[list[str], bool]:
        """Start a call and those with it, by triggers that ran; return who, and whether they did."""
        (call,) = [one for one in self.waiting if one.who == who]
        assert call == self.next_of(call.place[0])
        calls = self.starting_with(call) or []
        for one in calls:
            self.waiting.remove(one)
        due = {one.who: self.triggers_of(one) for one in calls}
        while any(due.values()):
            who, name, change = ran.pop(0)
            due[who].remove((name, change))
            if change.fails(next(one.number for one in calls if one.who == who)):
                return [one.who for one in calls], False
            self.rules[name].level = (self.rules[name].level + change.by) % LEVELS
        self.inside.update((one.place[0], one.who) for one in calls)
        return [one.who for one in calls], True

    def triggers_of(self, call: CallModel) -> list[tuple[str, Change]]:
        return [
            (name, change)
            for name, rules in self.rules.items()
            for place, change in rules.changes
            if place == call.place
        ]

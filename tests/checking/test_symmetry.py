"""Names that can be exchanged: fewer states, and not one verdict that differs."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import permutations
from types import new_class
from typing import Any, ClassVar, NamedTuple

import pytest

from structsync.checking import (
    Spec,
    SpecError,
    Verdict,
    _unfolded,
    action,
    check,
    eventually,
    invariant,
    leads_to,
    start,
    step,
)
from structsync.checking._budget import Budget, Progress
from structsync.checking._check import result_of, spec_search
from structsync.checking._load import shipped_specs
from structsync.checking._model import Model
from structsync.checking._renaming import Names, renamed
from structsync.checking._search import Search
from structsync.checking._symmetry import Symmetry

NAMES = ("a", "b", "c")


class Turns(Spec):
    """Some stand in a queue for one place; its holder leaves it."""

    abstract = True

    queue: tuple[str, ...] = start(tuple)
    inside: tuple[str, ...] = start(tuple)
    seen: tuple[str, ...] = start(tuple)  # who was ever inside, in order of names

    def canonical(self, snapshot: Any) -> Any:
        return snapshot._replace(seen=tuple(sorted(snapshot.seen)))

    @action(who=lambda self: [one for one in NAMES if one not in self.queue + self.inside])
    def come(self, who: str) -> None:
        self.queue += (who,)

    @action(who=lambda self: self.queue[:1], when=lambda self, who: not self.inside, fair=True)
    def enter(self, who: str) -> None:
        self.queue = self.queue[1:]
        self.inside = (who,)
        self.seen = tuple(sorted({*self.seen, who}))

    @action(who=lambda self: self.inside, fair=True)
    def leave(self, who: str) -> None:
        self.inside = ()

    @invariant
    def one_at_a_time(self) -> bool:
        return len(self.inside) <= 1

    @step
    def no_task_is_forgotten(self, before: Any) -> bool:
        return {*before.seen} <= {*self.seen}

    @leads_to(who=NAMES)
    def a_waiting_call_enters(self, who: str) -> tuple[bool, bool]:
        return who in self.queue, who not in self.queue


class Fair(Turns):
    symmetric = NAMES


class Plain(Turns):
    pass


class Unfair(Turns):
    """The youngest is next, and the queue is left open: the first to come may starve."""

    symmetric: ClassVar[Any] = NAMES

    @action(who=lambda self: self.queue[-1:], when=lambda self, who: not self.inside, fair=True)
    def enter(self, who: str) -> None:
        self.queue = self.queue[:-1]
        self.inside = (who,)
        self.seen = tuple(sorted({*self.seen, who}))


class PlainUnfair(Unfair):
    symmetric = ()


def variant(spec: type[Spec], **body: object) -> type[Spec]:
    """Return a spec that says something else under some names."""
    body["__module__"] = spec.__module__
    return new_class("Variant", (spec,), {}, lambda names: names.update(body))


def replayed(spec: type[Spec], name: str) -> list[str]:
    """Take the steps of a counterexample on a spec without symmetry, and return the states they lead to."""
    shown = check(spec)[name].counterexample
    assert shown is not None
    live = Model(spec).fresh()
    found = []
    for one in shown.steps:
        getattr(live, one.action)(**dict(one.arguments))
        for field, value in live.describe().items():
            assert one.state[field] == repr(value)
        found.append(one.call)
    if shown.cycle_start is not None:
        before = shown.steps[shown.cycle_start - 1].state if shown.cycle_start else shown.start
        assert shown.steps[-1].state == before
    return found


def whole(spec: type[Spec]) -> Search:
    search = Search(Model(spec), Budget())
    search.run()
    return search


# ==== The same verdicts, from fewer states ====


def test_of_states_that_differ_by_names_one_is_searched() -> None:
    few, all_of_them = check(Fair), check(Plain)
    assert few.verdict is all_of_them.verdict is Verdict.CONFIRMED
    assert few.depth == all_of_them.depth
    assert few.states * 5 < all_of_them.states
    assert [one.name for one in few.properties] == [one.name for one in all_of_them.properties]


def test_the_states_that_are_not_searched_are_known_all_the_same() -> None:
    plain, search = whole(Plain), whole(Fair)
    view = search.view()
    assert isinstance(view, _unfolded.Unfolded)
    assert view.size == len(plain.graph.states)
    # No comparison: where one fails, pytest may show each of thousands of differences.
    assert not {view.snapshot(node) for node in range(view.size)} ^ {*plain.graph.states}
    assert view.levels() == [one for one in plain.graph.levels if one < view.size]
    states = plain.graph.states
    ours = transitions(view.edges, view.snapshot, search.model)
    assert plain.graph.edges is not None
    assert not ours ^ transitions(plain.graph.edges, states.__getitem__, plain.model)


def transitions(edges: Any, snapshot: Callable[[int], Any], model: Model) -> set[Any]:
    return {
        (snapshot(state), model.shown(model.moves[edges.label[n]]), snapshot(edges.target[n]))
        for state in range(len(edges.first) - 1)
        for n in range(edges.first[state], edges.first[state + 1])
    }


def test_a_task_that_starves_among_all_states_is_found_and_shown_with_one_name() -> None:
    """Among the representatives a task enters again and again: who it is, they do not tell."""
    found = check(Unfair)["a_waiting_call_enters"]
    assert found.verdict is check(PlainUnfair)["a_waiting_call_enters"].verdict is Verdict.REFUTED
    assert found.detail == "for who='a'"
    calls = replayed(Unfair, "a_waiting_call_enters")
    plainly = replayed(PlainUnfair, "a_waiting_call_enters")
    assert len(calls) == len(plainly)


class Crowded(Fair):
    @invariant
    def not_all_were_inside(self) -> bool:
        return len(self.seen) < 3

    @step
    def the_third_does_not_leave(self, before: Any) -> bool:
        return not (before.inside and not self.inside and len(self.seen) == 3)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("lock.LockSpec", marks=pytest.mark.slow),
        pytest.param("rwlock.RWLockSpec", marks=pytest.mark.nightly),
        pytest.param("condition.ConditionSpec", marks=pytest.mark.nightly),  # half a minute
    ],
)
def test_the_states_of_a_shipped_spec_are_those_that_its_representatives_stand_for(
    name: str,
) -> None:
    spec = shipped_specs().specs[name]
    plain = variant(spec, symmetric=())
    few, all_of_them = whole(spec), whole(plain)
    view = few.view()
    assert isinstance(view, _unfolded.Unfolded)
    assert view.size == len(all_of_them.graph.states) > 10 * len(few.graph.states)
    assert few.findings == all_of_them.findings == {}


@pytest.mark.parametrize("spec", [Crowded, Unfair])
def test_what_is_found_is_told_after_the_time_is_up_too(spec: type[Spec]) -> None:
    def let_the_time_be_up(progress: Progress) -> None:
        if progress.states == progress.expanded:  # the search is over
            search.model.pulse.deadline = 0

    search = spec_search(spec, Budget(seconds=60), let_the_time_be_up)
    result = result_of(search)
    found = {one.name: one.counterexample for one in result.properties}
    assert found == {one.name: one.counterexample for one in check(spec).properties}
    assert any(found.values())


@pytest.mark.parametrize("name", ["not_all_were_inside", "the_third_does_not_leave"])
def test_a_counterexample_keeps_to_its_names(name: str) -> None:
    calls = replayed(Crowded, name)
    assert len({call for call in calls if call.startswith("come")}) == 3


class Late(Fair):
    """Is refuted before all states are seen."""

    @eventually
    def a_task_enters(self) -> bool:
        return bool(self.seen)


def test_behaviours_are_judged_of_what_was_seen_when_a_search_is_cut_off() -> None:
    result = check(Late, max_states=4)
    assert result["a_task_enters"].verdict is Verdict.REFUTED
    assert result["a_waiting_call_enters"].verdict is Verdict.UNFINISHED


class Failing(Fair):
    @action(who=lambda self: self.inside)
    def fall(self, who: str) -> None:
        raise ValueError(who)


def test_an_action_that_raises_is_told_once_and_leads_nowhere() -> None:
    result = check(Failing)
    assert result["no_action_fails"].verdict is Verdict.REFUTED
    assert result["a_waiting_call_enters"].verdict is Verdict.CONFIRMED


# ==== How names are exchanged ====


@dataclass(frozen=True)
class Claim:
    who: str
    number: int = 1


class Place(NamedTuple):
    who: str
    number: int


def test_names_are_exchanged_to_the_bottom_of_a_value() -> None:
    names: Names = {"a": "b", "b": "a"}
    value = ("a", frozenset({"b", 1}), Place("a", 2), ("c", None), "ab", Claim("b", 3))
    exchanged = ("b", frozenset({"a", 1}), Place("b", 2), ("c", None), "ab", Claim("a", 3))
    assert renamed(value, names) == exchanged


class Chairs(Spec):
    """Who sits is told by the place in a tuple; names are numbers."""

    symmetric = (0, 1, 2)
    sitting: tuple[bool, ...] = start(lambda: (False,) * 3)

    def renamed(self, snapshot: Any, names: Mapping[int, int]) -> Any:
        moved = {names[who]: sits for who, sits in enumerate(snapshot.sitting)}
        return snapshot._replace(sitting=tuple([moved[who] for who in range(3)]))

    @action(who=range(3), fair=True)
    def turn(self, who: int) -> None:
        self.sitting = tuple([one ^ (n == who) for n, one in enumerate(self.sitting)])

    @invariant
    def three(self) -> bool:
        return len(self.sitting) == 3

    @leads_to(who=(0, 1, 2))
    def sits(self, who: int) -> tuple[bool, bool]:
        return not self.sitting[who], self.sitting[who]


def test_a_spec_says_itself_how_names_are_exchanged() -> None:
    result = check(Chairs)
    assert (result.verdict, result.states) == (Verdict.CONFIRMED, 4)


def test_names_of_which_no_state_holds_two_can_be_exchanged_all_the_same() -> None:
    class Mutex(Spec):
        owner: str = start(str)
        symmetric = NAMES

        @action(who=NAMES, when=lambda self, who: not self.owner)
        def take(self, who: str) -> None:
            self.owner = who

        @action(when=lambda self: self.owner != "")
        def give(self) -> None:
            self.owner = ""

        @invariant
        def one_of_them_has_it(self) -> bool:
            return self.owner in ("", *NAMES)

    result = check(Mutex)
    assert result.verdict is Verdict.CONFIRMED
    assert result.states == 2


def test_two_groups_are_exchanged_apart() -> None:
    symmetry = Symmetry([("a", "b"), ("c", "d", "e")], renamed, None)
    assert len(symmetry.names) == 12
    assert [symmetry.pair(one) for one in symmetry.exchanges()] == [
        "'d' and 'e'",
        "'c' and 'd'",
        "'c' and 'e'",
        "'a' and 'b'",
    ]
    state = (("e", "a"), frozenset("cb"))
    images = [symmetry.image(state, one) for one in range(12)]
    for image in images:
        representative = symmetry.reduced(image)
        assert symmetry.image(image, symmetry.turn) == representative
        assert symmetry.reduced(state) == representative
    for one, other in permutations(range(12), 2):
        twice = symmetry.image(symmetry.image(state, other), one)
        assert twice == images[symmetry.after[one][other]]
    assert all(symmetry.after[one][symmetry.inverse[one]] == 0 for one in range(12))


def test_the_images_that_were_met_are_those_that_are_made_anew() -> None:
    symmetry = Symmetry([("a", "b"), ("c", "d", "e")], renamed, None)
    for state in (("e", "a"), ("a", "b"), ("x", "c"), (frozenset("cd"), frozenset("ab"))):
        representative = symmetry.reduced(state)
        met = symmetry.orbit(representative)
        symmetry._orbits.clear()
        assert met == symmetry.orbit(representative)


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    plenty = check(Fair)
    monkeypatch.setattr("structsync.checking._symmetry.REMEMBERED", 1)
    assert check(Fair).states == plenty.states


# ==== What is no symmetry is refused, with the names and the states ====


class Privileged(Turns):
    """One of them does not stand in the queue."""

    symmetric = NAMES

    @action(who=lambda self: [one for one in NAMES if one not in self.queue + self.inside])
    def come(self, who: str) -> None:
        self.queue = (who, *self.queue) if who == "b" else (*self.queue, who)


class Barred(Turns):
    symmetric = NAMES

    @action(who=lambda self: [one for one in "ab" if one not in self.queue + self.inside])
    def come(self, who: str) -> None:
        self.queue += (who,)


class JudgedUnequally(Turns):
    symmetric = NAMES

    @invariant
    def b_is_not_alone(self) -> bool:
        return self.queue != ("b",)


class SteppingUnequally(Turns):
    symmetric = NAMES

    @step
    def b_does_not_come(self, before: Any) -> bool:
        return "b" not in self.queue or "b" in before.queue


class Raising(Turns):
    symmetric = NAMES

    @action(who=lambda self: self.inside)
    def look(self, who: str) -> None:
        if who == "b":
            raise ValueError

    @invariant
    def fine(self) -> bool:
        assert {"a": 1}[self.queue[0]] if self.queue else True
        return True


class AskingUnequally(Turns):
    symmetric = NAMES

    @action(who=NAMES, when=lambda self, who: 1 / (self.inside != ("b",)) > 0)
    def wave(self, who: str) -> None:
        pass


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        (
            Privileged,
            r"they cannot: come\(who=.*is a step to.*with the names exchanged, come.*is a step",
        ),
        (Barred, r"can be exchanged, and they cannot: come.*not possible"),
        (JudgedUnequally, r"b_is_not_alone in .* is True; .*b_is_not_alone in .* is False"),
        (SteppingUnequally, r"come\(who='.'\) in"),
        (Raising, r"fine in .*raised KeyError"),
        (AskingUnequally, r"asking for the moves in .* is raised ZeroDivisionError"),
    ],
)
def test_names_that_are_not_alike_are_refused(spec: type[Spec], reason: str) -> None:
    with pytest.raises(SpecError, match=r"symmetric says that '.' and '.' can") as caught:
        check(spec)
    caught.match(reason)


class Begun(Turns):
    symmetric = NAMES
    seen: tuple[str, ...] = start(lambda: ("a",))


class ForSome(Turns):
    symmetric = NAMES

    @leads_to(who=("a", "b"))
    def a_waiting_call_enters(self, who: str) -> tuple[bool, bool]:
        return who in self.queue, who not in self.queue


class Strangers(Turns):
    symmetric = ("x", "y")


class Broken(Turns):
    symmetric = NAMES

    def renamed(self, snapshot: Any, names: Mapping[Any, Any]) -> Any:
        raise ZeroDivisionError


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        (Begun, r"the first state is .*seen=\('a',\) before that and .*seen=\('b',\) after it"),
        (ForSome, r"@leads_to a_waiting_call_enters is declared for .* and not for \('c',\)"),
        (Strangers, "'x' and 'y' can be exchanged, and no state contains one of them"),
        (Broken, "renamed raised ZeroDivisionError"),
    ],
)
def test_names_that_the_spec_uses_otherwise_are_refused(spec: type[Spec], reason: str) -> None:
    with pytest.raises(SpecError, match=reason):
        check(spec)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ("abc", "symmetric is a tuple of names, not 'abc'"),
        ((1, 2), "the names in symmetric are texts"),
        (("a", "a"), "each name once"),
        ((("a", "b"), ("b", "c")), "each name once"),
        ((("a",), ("b", "c")), "groups of two names or more"),
        (tuple("abcdefg"), "in more than 720 ways"),
    ],
)
def test_what_is_no_group_of_names_is_refused(given: Any, reason: str) -> None:
    spec = variant(Turns, symmetric=given)
    with pytest.raises(SpecError, match=reason):
        check(spec)


def test_an_override_of_renamed_is_a_method() -> None:
    spec = variant(Turns, renamed=7)
    with pytest.raises(SpecError, match="is a plain method"):
        check(spec)


# ==== The tests above can fail ====

TESTED = (
    test_the_states_that_are_not_searched_are_known_all_the_same,
    test_a_task_that_starves_among_all_states_is_found_and_shown_with_one_name,
    test_two_groups_are_exchanged_apart,
    test_the_images_that_were_met_are_those_that_are_made_anew,
)


def a_state_stands_for_what_is_no_image_of_it(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Symmetry, "image", lambda self, snapshot, renaming: self._rename(snapshot, {}))


def it_is_forgotten_how_a_state_was_renamed(patch: pytest.MonkeyPatch) -> None:
    meet = Symmetry._meet
    patch.setattr(Symmetry, "_meet", lambda self, snapshot: (meet(self, snapshot)[0], 0))


def a_renaming_is_undone_by_itself(patch: pytest.MonkeyPatch) -> None:
    made = Symmetry.__init__

    def init(self: Symmetry, *arguments: Any) -> None:
        made(self, *arguments)
        self.inverse = [*range(len(self.names))]

    patch.setattr(Symmetry, "__init__", init)


def renamings_are_made_in_the_wrong_order(patch: pytest.MonkeyPatch) -> None:
    made = Symmetry.__init__

    def init(self: Symmetry, *arguments: Any) -> None:
        made(self, *arguments)
        self.after = [array("H", each) for each in zip(*self.after, strict=True)]

    patch.setattr(Symmetry, "__init__", init)


def the_images_that_were_met_are_those_of_another_state(patch: pytest.MonkeyPatch) -> None:
    meet = Symmetry._meet

    def met(self: Symmetry, snapshot: Any) -> Any:
        found = meet(self, snapshot)
        for images in self._orbits.values():
            images[:] = array("H", [*images[1:], images[0]])
        return found

    patch.setattr(Symmetry, "_meet", met)


def a_move_keeps_its_names(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(_unfolded.Unfolded, "_label", lambda self, label, renaming: label)


def a_promise_to_one_is_kept_by_another(patch: pytest.MonkeyPatch) -> None:
    def marks(self: Any, marks: Any, alike: Any) -> bytearray:
        return bytearray(
            max(marks[one][state] for one in alike)
            for state in range(self._graph.expanded)
            for _ in self._firsts(state)
        )

    patch.setattr(_unfolded.Unfolded, "marks", marks)


@pytest.mark.unmeasured
@pytest.mark.parametrize(
    "plant",
    [
        a_state_stands_for_what_is_no_image_of_it,
        it_is_forgotten_how_a_state_was_renamed,
        a_renaming_is_undone_by_itself,
        renamings_are_made_in_the_wrong_order,
        the_images_that_were_met_are_those_of_another_state,
        a_move_keeps_its_names,
        a_promise_to_one_is_kept_by_another,
    ],
)
def test_a_bug_in_the_reduction_is_found(
    plant: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch)
    found = []
    for one in TESTED:
        try:
            one()
        except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001 - whatever finds it
            found.append(error)
    assert found

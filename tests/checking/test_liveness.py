"""Fair behaviours are found if and only if there are some."""

import random
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, combinations
from typing import Any

import pytest

from structsync.checking import (
    Result,
    Spec,
    SpecError,
    Verdict,
    _fairness,
    _liveness,
    action,
    always_eventually,
    check,
    eventually,
    leads_to,
    start,
)
from structsync.checking._fairness import Fair
from structsync.checking._liveness import CLOSED, NEITHER, TRIGGER, Lasso, find_lasso
from structsync.report import Counterexample


def refutation(result: Result, name: str) -> Counterexample:
    found = result[name].counterexample
    assert found is not None
    return found


class Clock(Spec):
    """A clock of four hours, that needs no winding."""

    hour: int = start(int)

    @action
    def tick(self) -> None:
        self.hour = (self.hour + 1) % 4

    @leads_to
    def two_becomes_three(self) -> tuple[bool, bool]:
        """After two o'clock it is three eventually."""
        return self.hour == 2, self.hour == 3


class FairClock(Clock):
    """The same, wound forever."""

    @action(fair=True)
    def tick(self) -> None:
        self.hour = (self.hour + 1) % 4


def test_an_unfair_clock_may_stop() -> None:
    found = refutation(check(Clock), "two_becomes_three")
    assert found.stutters
    assert [one.call for one in found.steps] == ["tick()", "tick()"]
    assert found.steps[-1].note == "obligation pending"


def test_a_fair_clock_goes_on() -> None:
    assert check(FairClock).verdict is Verdict.CONFIRMED


def test_a_cycle_that_avoids_the_goal_is_told_as_a_cycle() -> None:
    class Broken(FairClock):
        @action(fair=True)
        def tick(self) -> None:
            self.hour = (self.hour + 1) % 3

    found = refutation(check(Broken), "two_becomes_three")
    assert (len(found.steps), found.cycle_start) == (5, 2)
    assert found.ending() == "then steps 3 to 5 repeat forever"


def test_a_fair_move_that_is_possible_now_and_then_may_be_missed() -> None:
    class Elusive(FairClock):
        @action(fair=True, when=lambda spec: spec.hour == 0)
        def stop(self) -> None:
            self.hour = 9

        @leads_to
        def stops(self) -> tuple[bool, bool]:
            return True, self.hour == 9

        @action(when=lambda spec: spec.hour == 9)
        def rest(self) -> None: ...

        @action(fair=True, when=lambda spec: spec.hour != 9)
        def tick(self) -> None:
            self.hour = (self.hour + 1) % 4

    found = refutation(check(Elusive), "stops")
    assert found.start_note
    assert (found.cycle_start, len(found.steps)) == (0, 4)


def test_a_strongly_fair_move_that_is_possible_again_and_again_is_taken() -> None:
    class Caught(FairClock):
        @action(fair="strong", when=lambda spec: spec.hour == 0)
        def stop(self) -> None:
            self.hour = 9

        @eventually
        def stops(self) -> bool:
            return self.hour == 9

        @action(fair="weak", when=lambda spec: spec.hour != 9)
        def tick(self) -> None:
            self.hour = (self.hour + 1) % 4

    assert check(Caught)["stops"].verdict is Verdict.CONFIRMED


def test_a_strongly_fair_move_may_be_missed_where_it_is_avoided() -> None:
    """Tarjan's component contains an hour at which it is possible, and a cycle beside it."""

    class Avoiding(Spec):
        hour: int = start(int)

        @action(when=lambda spec: spec.hour != 9, fair="weak")
        def tick(self) -> None:
            self.hour = 1 if self.hour == 2 else self.hour + 1

        @action(when=lambda spec: spec.hour == 2)
        def go_round(self) -> None:
            self.hour = 0

        @action(when=lambda spec: spec.hour == 0, fair="strong")
        def stop(self) -> None:
            self.hour = 9

        @eventually
        def stops(self) -> bool:
            return self.hour == 9

    found = refutation(check(Avoiding), "stops")
    assert [one.call for one in found.steps] == ["tick()", "tick()", "tick()"]
    assert found.cycle_start == 1


def test_together_it_is_enough_that_some_value_is_served() -> None:
    class Shop(Spec):
        open: bool = start(bool)
        served: str = start(str)

        @action(fair=True)
        def turn(self) -> None:
            self.open = not self.open
            self.served = ""

        @action(who=("a", "b"), when=lambda spec, who: spec.open, fair="strong", fair_together=True)
        def serve(self, who: str) -> None:
            self.served = who

        @always_eventually
        def a_task_is_served(self) -> bool:
            return self.served != ""

        @always_eventually(who=("a", "b"))
        def each_is_served(self, who: str) -> bool:
            return self.served == who

    result = check(Shop)
    assert result["a_task_is_served"].verdict is Verdict.CONFIRMED
    assert result["each_is_served"].verdict is Verdict.REFUTED
    assert result["each_is_served"].counterexample is not None


def test_what_is_reached_once_is_not_reached_again_and_again() -> None:
    class Once(FairClock):
        @action(fair=True)
        def tick(self) -> None:
            self.hour = min(self.hour + 1, 3)

        @eventually
        def strikes_one(self) -> bool:
            return self.hour == 1

        @always_eventually
        def strikes_one_each_day(self) -> bool:
            return self.hour == 1

    result = check(Once)
    assert result["strikes_one"].verdict is Verdict.CONFIRMED
    assert result["strikes_one_each_day"].verdict is Verdict.REFUTED


def test_a_goal_returns_a_bool() -> None:
    class Wrong(Clock):
        @eventually
        def strikes(self) -> int:
            return self.hour

    with pytest.raises(SpecError, match=r"^@eventually strikes must return True or False, and"):
        check(Wrong)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"fair": "very"}, 'fair is True, False, "weak" or "strong", not \'very\''),
        ({"fair_together": True}, "write fair=True beside it"),
    ],
)
def test_a_fairness_that_is_none_is_refused(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        action(**wrong)  # type: ignore[call-overload]


def test_fairness_holds_for_each_value_of_a_parameter_apart() -> None:
    class Two(Spec):
        done: frozenset[str] = start(frozenset)
        beat: bool = start(bool)

        @action(who=("a", "b"), fair=True)
        def work(self, who: str) -> None:
            self.beat = not self.beat
            self.done = self.done | {who}

        @leads_to(who=("a", "b"))
        def each_is_done(self, who: str) -> tuple[bool, bool]:
            return True, who in self.done

    assert check(Two).verdict is Verdict.CONFIRMED


def test_a_fair_action_that_raises_is_possible_and_leads_nowhere() -> None:
    class Raising(FairClock):
        @action(fair=True)
        def tick(self) -> None:
            if self.hour == 2:
                raise RuntimeError("stuck")
            self.hour += 1

    result = check(Raising)
    assert result["no_action_fails"].verdict is Verdict.REFUTED
    assert result["two_becomes_three"].verdict is Verdict.CONFIRMED


def test_an_unfinished_search_can_refute_a_leads_to() -> None:
    class Endless(Spec):
        n: int = start(int)

        @action
        def count(self) -> None:
            self.n += 1

        @leads_to
        def goes_back(self) -> tuple[bool, bool]:
            return self.n == 3, self.n == 0

    assert check(Endless, max_states=50)["goes_back"].verdict is Verdict.REFUTED
    assert check(Endless, max_states=2)["goes_back"].verdict is Verdict.UNFINISHED


@dataclass
class Small:
    """A small graph, all states reachable and numbered by their depth."""

    moves: list[list[tuple[int, int]]]
    marks: bytearray
    fair: list[Fair]
    levels: list[int]
    first: list[int] = field(default_factory=lambda: [0])
    label: list[int] = field(default_factory=list)
    target: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        for moves in self.moves:
            self.label += [label for label, _ in moves]
            self.target += [target for _, target in moves]
            self.first.append(len(self.label))

    def depth(self, state: int) -> int:
        return max(d for d, first in enumerate(self.levels) if first <= state)


def small_graph(rng: random.Random) -> Small:
    size = rng.randint(2, 5)
    raw = [
        sorted({(rng.randrange(3), rng.randrange(size)) for _ in range(rng.randint(0, 3))})
        for _ in range(size)
    ]
    order, levels = [0], [0]
    while levels[-1] < len(order):
        reached = [t for state in order[levels[-1] :] for _, t in raw[state]]
        levels.append(len(order))
        order += [t for t in dict.fromkeys(reached) if t not in order]
    new = {old: number for number, old in enumerate(order)}
    moves = [[(label, new[target]) for label, target in raw[old]] for old in order]
    marks = bytearray(rng.choice([NEITHER, TRIGGER, TRIGGER, CLOSED]) for _ in order)
    fair = [
        Fair(frozenset(rng.sample(range(3), rng.choice([1, 1, 2]))), rng.random() < 0.5)
        for _ in range(rng.randint(0, 3))
    ]
    return Small(moves, marks, fair, levels[:-1])


def reach(graph: Small, source: int, inside: frozenset[int]) -> dict[int, int]:
    """The states of a set that can be reached inside it, with their distance."""
    distance = {source: 0}
    queue = [source]
    for state in queue:
        for _, target in graph.moves[state]:
            if target in inside and target not in distance:
                distance[target] = distance[state] + 1
                queue.append(target)
    return distance


def naive_shortest_way_in(graph: Small) -> int | None:
    """Try every set of states as the set that a behaviour visits forever."""
    opened = frozenset(s for s in range(len(graph.moves)) if graph.marks[s] != CLOSED)
    fair_sets = [
        chosen
        for chosen in map(frozenset, subsets(opened))
        if all(reach(graph, state, chosen).keys() == chosen for state in chosen)
        and all(is_met(graph, chosen, demand) for demand in graph.fair)
    ]
    return min(
        (
            graph.depth(trigger) + distance
            for trigger in opened
            if graph.marks[trigger] == TRIGGER
            for state, distance in reach(graph, trigger, opened).items()
            if any(state in chosen for chosen in fair_sets)
        ),
        default=None,
    )


def subsets(states: frozenset[int]) -> Iterator[tuple[int, ...]]:
    return chain.from_iterable(combinations(states, n) for n in range(1, len(states) + 1))


def is_met(graph: Small, chosen: frozenset[int], demand: Fair) -> bool:
    return is_absent(graph, chosen, demand) or any(
        (label, t) in graph.moves[state]
        for label in demand.labels
        for state in chosen
        for t in chosen
    )


def is_absent(graph: Small, chosen: Collection[int], demand: Fair) -> bool:
    impossible = [demand.labels.isdisjoint(dict(graph.moves[state])) for state in chosen]
    return all(impossible) if demand.strong else any(impossible)


def check_lasso(graph: Small, lasso: Lasso) -> None:
    """Walk the behaviour and verify what it claims."""
    state = lasso.trigger
    assert graph.marks[state] == TRIGGER
    entry = state
    for way in (lasso.stem, lasso.cycle):
        entry = state
        for label, target in way:
            assert (label, target) in graph.moves[state]
            assert graph.marks[target] != CLOSED
            state = target
    assert state == entry
    visited = [state, *(target for _, target in lasso.cycle)]
    taken = {label for label, _ in lasso.cycle}
    for demand in graph.fair:
        assert not demand.labels.isdisjoint(taken) or is_absent(graph, visited, demand)


def compare(graph: Small) -> bool:
    """Compare the algorithm with trying all sets of states; tell whether there was something to find."""
    found = find_lasso(graph, graph.marks, graph.fair, graph.levels)
    expected = naive_shortest_way_in(graph)
    assert (found is None) == (expected is None), graph
    if found:
        check_lasso(graph, found)
        assert graph.depth(found.trigger) + len(found.stem) == expected, graph
    return found is not None


def test_the_algorithm_agrees_with_trying_all_sets_of_states() -> None:
    rng = random.Random(0)
    refuted = sum(compare(small_graph(rng)) for _ in range(5_000))
    assert 1_000 < refuted < 4_000


def a_set_that_misses_a_strong_demand_is_not_divided(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(_fairness, "_without", lambda *args: {})


def a_strong_demand_is_a_weak_one(patch: pytest.MonkeyPatch) -> None:
    intact = _fairness._unmet

    def unmet(edges: Any, inside: Any, states: Any, fair: Sequence[Fair]) -> list[Fair]:
        return intact(edges, inside, states, [Fair(one.labels) for one in fair])

    patch.setattr(_fairness, "_unmet", unmet)


def the_cycle_owes_a_strong_demand_only_where_it_starts(patch: pytest.MonkeyPatch) -> None:
    intact = _liveness._still_owed

    def still_owed(edges: Any, owed: list[Fair], label: int, state: int) -> list[Fair]:
        return intact(edges, [Fair(one.labels) for one in owed], label, state)

    patch.setattr(_liveness, "_still_owed", still_owed)


def a_demand_on_several_moves_is_met_by_the_first_only(patch: pytest.MonkeyPatch) -> None:
    intact = _fairness._unmet

    def unmet(edges: Any, inside: Any, states: Any, fair: Sequence[Fair]) -> list[Fair]:
        return intact(
            edges, inside, states, [Fair(frozenset({min(o.labels)}), o.strong) for o in fair]
        )

    patch.setattr(_fairness, "_unmet", unmet)


@pytest.mark.parametrize(
    "plant",
    [
        a_set_that_misses_a_strong_demand_is_not_divided,
        a_strong_demand_is_a_weak_one,
        the_cycle_owes_a_strong_demand_only_where_it_starts,
        a_demand_on_several_moves_is_met_by_the_first_only,
    ],
    ids=lambda plant: plant.__name__,
)
def test_that_comparison_finds_a_fault_of_the_algorithm(
    plant: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch)
    rng = random.Random(0)
    with pytest.raises((AssertionError, IndexError)):  # or it finds no way where it sees a cycle
        for _ in range(5_000):
            compare(small_graph(rng))


# ==== What one property assumes ====


class Bell(Spec):
    """Rings, if a task pulls, and only at noon."""

    hour: int = start(int)
    rang: bool = start(bool)

    @action(fair=True)
    def tick(self) -> None:
        self.hour = (self.hour + 1) % 4

    @action(hand=("left", "right"), when=lambda spec, hand: spec.hour == 0)
    def pull(self, hand: str) -> None:
        self.rang = hand == "left"

    @leads_to
    def it_rings(self) -> tuple[bool, bool]:
        return True, self.rang

    @leads_to(assuming={"pull": "strong"})
    def it_rings_if_both_pull(self) -> tuple[bool, bool]:
        return True, self.rang

    @eventually(assuming={"pull": "strong together"})
    def it_rings_if_it_is_pulled(self) -> bool:
        return self.rang

    @always_eventually(assuming={"pull": "weak"})
    def it_rings_if_pulling_is_possible_for_good(self) -> bool:
        return self.rang


def test_a_property_may_assume_more_than_the_actions_say() -> None:
    result = check(Bell)
    verdicts = {one.name: one.verdict for one in result.properties if one.name.startswith("it_")}
    assert verdicts == {
        "it_rings": Verdict.REFUTED,
        "it_rings_if_both_pull": Verdict.CONFIRMED,
        "it_rings_if_it_is_pulled": Verdict.REFUTED,
        "it_rings_if_pulling_is_possible_for_good": Verdict.REFUTED,
    }


def test_what_is_assumed_is_a_fairness_of_an_action() -> None:
    with pytest.raises(SpecError, match=r"may assume 'weak', .* fairness of 'pull', not 'fierce'"):
        leads_to(assuming={"pull": "fierce"})  # type: ignore[dict-item]

    class Deaf(Bell):
        @leads_to(assuming={"push": "weak"})
        def it_rings(self) -> tuple[bool, bool]:
            return True, self.rang

    with pytest.raises(SpecError, match=r"assumes something of 'push', .* are tick, pull"):
        check(Deaf)

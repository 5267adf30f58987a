"""Fair behaviours are found if and only if there are some."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain, combinations

from hypothesis import event, given
from hypothesis import strategies as st

from structsync.checking import Result, Spec, Verdict, action, check, leads_to, start
from structsync.checking._liveness import CLOSED, NEITHER, TRIGGER, Lasso, find_lasso
from structsync.report import Counterexample


def refutation(result: Result, name: str) -> Counterexample:
    found = result[name].counterexample
    assert found is not None
    return found


class Clock(Spec):
    """A clock of four hours, which nobody has to wind."""

    hour: int = start(int)

    @action
    def tick(self) -> None:
        self.hour = (self.hour + 1) % 4

    @leads_to
    def two_becomes_three(self) -> tuple[bool, bool]:
        """After two o'clock it is three some day."""
        return self.hour == 2, self.hour == 3


class FairClock(Clock):
    """The same, wound for ever."""

    @action(fair=True)
    def tick(self) -> None:
        self.hour = (self.hour + 1) % 4


def test_an_unfair_clock_may_stop() -> None:
    found = refutation(check(Clock), "two_becomes_three")
    assert found.stutters
    assert [one.call for one in found.steps] == ["tick()", "tick()"]
    assert "trigger waits" in found.steps[-1].note


def test_a_fair_clock_goes_on() -> None:
    assert check(FairClock).verdict is Verdict.CONFIRMED


def test_a_cycle_that_avoids_the_goal_is_told_as_a_cycle() -> None:
    class Broken(FairClock):
        @action(fair=True)
        def tick(self) -> None:
            self.hour = (self.hour + 1) % 3

    found = refutation(check(Broken), "two_becomes_three")
    assert (len(found.steps), found.cycle_start) == (5, 2)
    assert found.ending() == "then steps 3 to 5 repeat for ever"


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
    fair: frozenset[int]
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


@st.composite
def small_graphs(draw: st.DrawFn) -> Small:
    size = draw(st.integers(1, 6))
    move = st.tuples(st.integers(0, 2), st.integers(0, size - 1))
    raw = [sorted(set(draw(st.lists(move, max_size=4)))) for _ in range(size)]
    order, levels = [0], [0]
    while levels[-1] < len(order):
        reached = [t for state in order[levels[-1] :] for _, t in raw[state]]
        levels.append(len(order))
        order += [t for t in dict.fromkeys(reached) if t not in order]
    new = {old: number for number, old in enumerate(order)}
    moves = [[(label, new[target]) for label, target in raw[old]] for old in order]
    marks = draw(
        st.lists(st.sampled_from([NEITHER, TRIGGER, CLOSED]), min_size=size, max_size=size)
    )
    fair = draw(st.frozensets(st.integers(0, 2)))
    return Small(moves, bytearray(marks[: len(order)]), fair, levels[:-1])


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
    """Try every set of states as the set that a behaviour visits for ever."""
    opened = frozenset(s for s in range(len(graph.moves)) if graph.marks[s] != CLOSED)
    fair_sets = [
        chosen
        for chosen in map(frozenset, subsets(opened))
        if all(reach(graph, state, chosen).keys() == chosen for state in chosen)
        and all(owed_is_paid(graph, chosen, label) for label in graph.fair)
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


def owed_is_paid(graph: Small, chosen: frozenset[int], label: int) -> bool:
    missing = any(label not in dict(graph.moves[state]) for state in chosen)
    return missing or any((label, t) in graph.moves[state] for state in chosen for t in chosen)


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
    for label in graph.fair - taken:
        assert any(label not in dict(graph.moves[one]) for one in visited)


@given(small_graphs())
def test_the_algorithm_agrees_with_trying_all_sets_of_states(graph: Small) -> None:
    found = find_lasso(graph, graph.marks, graph.fair, graph.levels)
    expected = naive_shortest_way_in(graph)
    event("refuted" if found else "holds")
    assert (found is None) == (expected is None)
    if found:
        check_lasso(graph, found)
        assert graph.depth(found.trigger) + len(found.stem) == expected

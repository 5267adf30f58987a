"""Does every trigger lead to its goal, under weak fairness? A question about a finite graph.

A behaviour that refutes `trigger ~> goal` reaches a state with the trigger, and from there on
never the goal. In a finite graph it ends up in a set of strongly connected states without the
goal, and it is fair if each fair move is taken inside that set or impossible somewhere in it.
Both conditions only get easier in a larger set, so the maximal sets (Tarjan's components) decide.
To stay in one state for ever is allowed when no fair move is possible there, which is the same
condition for a set of one state and no transition.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

#: What is known of a state for one leads_to: neither holds, an open trigger, or not to be entered
#: (the goal holds, or the moves of the state are not known).
NEITHER, TRIGGER, CLOSED = 0, 1, 2

#: A way through the graph: pairs of a label and the state it leads to.
Way = list[tuple[int, int]]


class Transitions(Protocol):
    """The transitions of a graph: those of state n are numbered first[n] to first[n + 1]."""

    @property
    def first(self) -> Sequence[int]: ...
    @property
    def label(self) -> Sequence[int]: ...
    @property
    def target(self) -> Sequence[int]: ...


@dataclass(frozen=True, slots=True)
class Lasso:
    """A fair behaviour that never reaches the goal: a way in, then a cycle for ever.

    An empty cycle means that nothing happens any more.
    """

    trigger: int
    stem: Way
    """The way from the trigger's state to the first state of the cycle."""
    cycle: Way


def find_lasso(
    edges: Transitions, marks: bytearray, fair: frozenset[int], levels: Sequence[int]
) -> Lasso | None:
    """Return a refuting behaviour whose way in is as short as possible, or None.

    Args:
        edges: the transitions; a target beyond `marks` is no state.
        marks: NEITHER, TRIGGER or CLOSED for each state.
        fair: the labels under weak fairness.
        levels: the number of the first state of each depth.
    """
    came_from, targets = _pending(edges, marks, levels)
    inside = _components(targets)
    members: dict[int, list[int]] = {}
    for state, root in inside.items():
        members.setdefault(root, []).append(state)
    fair_roots = {root for root, all_of in members.items() if _is_fair(edges, inside, all_of, fair)}
    if not fair_roots:
        return None
    entry = next(state for state in targets if inside[state] in fair_roots)
    trigger, stem = _stem(came_from, entry)
    return Lasso(trigger, stem, _cycle(edges, inside, entry, fair))


def _pending(
    edges: Transitions, marks: bytearray, levels: Sequence[int]
) -> tuple[dict[int, tuple[int, int] | None], dict[int, list[int]]]:
    """Find the states where a trigger waits for its goal, nearest to the first state first.

    Returns:
        For each of them the transition by which it was reached (None where the trigger holds), and
        the states of the same sort that it leads to.
    """
    first, label, target, size = edges.first, edges.label, edges.target, len(marks)
    came_from: dict[int, tuple[int, int] | None] = {}
    targets: dict[int, list[int]] = {}
    frontier: list[int] = []
    ends = [*levels[1:], size]
    depth = 0
    while frontier or depth < len(levels):
        if depth < len(levels):
            for state in range(levels[depth], ends[depth]):
                if marks[state] == TRIGGER and state not in came_from:
                    came_from[state] = None
                    frontier.append(state)
        reached = []
        for state in frontier:
            here = range(first[state], first[state + 1])
            ways = [n for n in here if target[n] < size and marks[target[n]] != CLOSED]
            targets[state] = [target[n] for n in ways]
            for n in ways:
                if target[n] not in came_from:
                    came_from[target[n]] = (state, label[n])
                    reached.append(target[n])
        frontier = reached
        depth += 1
    return came_from, targets


def _components(targets: dict[int, list[int]]) -> dict[int, int]:
    """Map each state to the root of its strongly connected component (Tarjan, no recursion)."""
    low: dict[int, int] = {}
    component: dict[int, int] = {}
    for start in targets:
        if start in low:
            continue
        seen = {start: len(low)}
        low[start] = len(low)
        open_states = [start]
        work = [(start, iter(targets[start]))]
        while work:
            state, rest = work[-1]
            for after in rest:
                if after not in low:
                    seen[after] = low[after] = len(low)
                    open_states.append(after)
                    work.append((after, iter(targets[after])))
                    break
                if after not in component and seen[after] < low[state]:
                    low[state] = seen[after]
            else:
                work.pop()
                if work and low[state] < low[work[-1][0]]:
                    low[work[-1][0]] = low[state]
                if low[state] == seen[state]:
                    _close(state, open_states, component)
    return component


def _close(root: int, open_states: list[int], component: dict[int, int]) -> None:
    while True:
        member = open_states.pop()
        component[member] = root
        if member == root:
            return


def _is_fair(
    edges: Transitions, inside: dict[int, int], states: list[int], fair: frozenset[int]
) -> bool:
    """Tell whether every fair move is taken inside a component or impossible somewhere in it."""
    first, label, target = edges.first, edges.label, edges.target
    always_possible = fair
    for state in states:
        always_possible = always_possible.intersection(label[first[state] : first[state + 1]])
        if not always_possible:
            return True
    root = inside[states[0]]
    taken = {
        label[n]
        for state in states
        for n in range(first[state], first[state + 1])
        if label[n] in always_possible and inside.get(target[n]) == root
    }
    return always_possible == taken


def _stem(came_from: dict[int, tuple[int, int] | None], state: int) -> tuple[int, Way]:
    stem: Way = []
    while (step := came_from[state]) is not None:
        previous, label = step
        stem.append((label, state))
        state = previous
    return state, stem[::-1]


def _cycle(edges: Transitions, inside: dict[int, int], entry: int, fair: frozenset[int]) -> Way:
    """Return a way round from the entry that gives every fair move its due, always the nearest."""

    def possible(state: int) -> frozenset[int]:
        return fair.intersection(edges.label[edges.first[state] : edges.first[state + 1]])

    owed = possible(entry)
    cycle: Way = []
    here = entry
    while owed:

        def pays(label: int, state: int, owed: frozenset[int] = owed) -> bool:
            return label in owed or not owed <= possible(state)

        way = _nearest(edges, inside, here, pays)
        for label, state in way:
            owed = (owed & possible(state)) - {label}
        cycle += way
        here = way[-1][1]
    if here != entry:
        cycle += _nearest(edges, inside, here, lambda label, state: state == entry)
    return cycle


def _nearest(
    edges: Transitions,
    inside: dict[int, int],
    source: int,
    wanted: Callable[[int, int], bool],
) -> Way:
    """Return the shortest way inside a component whose last transition is wanted."""
    came_from: dict[int, tuple[int, int]] = {}
    queue = deque([source])
    while True:
        state = queue.popleft()
        for edge in range(edges.first[state], edges.first[state + 1]):
            label, target = edges.label[edge], edges.target[edge]
            if inside.get(target) != inside[source]:
                continue
            if wanted(label, target):
                way = [(label, target)]
                while state != source:
                    previous, step = came_from[state]
                    way.append((step, state))
                    state = previous
                return way[::-1]
            if target not in came_from and target != source:
                came_from[target] = (state, label)
                queue.append(target)

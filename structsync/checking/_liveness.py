"""Does every trigger lead to its goal, for each fair behaviour? A question about a finite graph.

A behaviour that refutes `trigger ~> goal` reaches a state with the trigger, and from there on
never the goal. In a finite graph it ends up in a set of strongly connected states without the
goal; which of these sets a fair behaviour can stay in is decided in `_fairness`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ._fairness import Fair, Transitions, fair_components, possible

#: What is known of a state for one leads_to: neither holds, an open trigger, or not to be entered
#: (the goal holds, or the moves of the state are not known).
NEITHER, TRIGGER, CLOSED = 0, 1, 2

#: A way through the graph: pairs of a label and the state it leads to.
Way = list[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Lasso:
    """A fair behaviour that never reaches the goal: a way in, then a cycle forever.

    An empty cycle means that nothing happens any more.
    """

    trigger: int
    stem: Way
    """The way from the trigger's state to the first state of the cycle."""
    cycle: Way


def find_lasso(
    edges: Transitions,
    marks: bytearray,
    fair: Sequence[Fair],
    levels: Sequence[int],
    beat: Callable[[], None] = lambda: None,
) -> Lasso | None:
    """Return a refuting behaviour whose way in is as short as possible, or None.

    Args:
        edges: the transitions; a target beyond `marks` is no state.
        marks: NEITHER, TRIGGER or CLOSED for each state.
        fair: what a behaviour has to do to be fair.
        levels: the number of the first state of each depth.
        beat: called all the time; what it raises ends the search for cycles.
    """
    came_from, targets = _pending(edges, marks, levels, beat)
    inside = fair_components(edges, targets, fair, beat)
    entry = next((state for state in targets if state in inside), None)
    if entry is None:
        return None
    trigger, stem = _stem(came_from, entry)
    return Lasso(trigger, stem, _cycle(edges, inside, entry, fair, beat))


def _pending(
    edges: Transitions, marks: bytearray, levels: Sequence[int], beat: Callable[[], None]
) -> tuple[dict[int, tuple[int, int] | None], dict[int, list[int]]]:
    """Find the states where an obligation is pending, nearest to the first state first.

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
        for number, state in enumerate(frontier):
            if number % 1024 == 0:
                beat()
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


def _stem(came_from: dict[int, tuple[int, int] | None], state: int) -> tuple[int, Way]:
    stem: Way = []
    while (step := came_from[state]) is not None:
        previous, label = step
        stem.append((label, state))
        state = previous
    return state, stem[::-1]


def _cycle(
    edges: Transitions,
    inside: dict[int, int],
    entry: int,
    fair: Sequence[Fair],
    beat: Callable[[], None],
) -> Way:
    """Return a way round from the entry that does justice to each demand, always the nearest."""
    states = [state for state, root in inside.items() if root == inside[entry]]
    somewhere = frozenset().union(*(possible(edges, state) for state in states))
    owed = [
        one
        for one in fair
        if not one.labels.isdisjoint(somewhere if one.strong else possible(edges, entry))
    ]
    cycle: Way = []
    here = entry
    while owed:
        beat()

        def pays(label: int, state: int, owed: list[Fair] = owed) -> bool:
            return len(_still_owed(edges, owed, label, state)) < len(owed)

        way = _nearest(edges, inside, here, pays)
        for label, state in way:
            owed = _still_owed(edges, owed, label, state)
        cycle += way
        here = way[-1][1]
    if here != entry:
        cycle += _nearest(edges, inside, here, lambda label, state: state == entry)
    return cycle


def _still_owed(edges: Transitions, owed: list[Fair], label: int, state: int) -> list[Fair]:
    """Return what is owed still after a move: it was not it, and did not make a weak one impossible."""
    here = possible(edges, state)
    return [
        one
        for one in owed
        if label not in one.labels and (one.strong or not one.labels.isdisjoint(here))
    ]


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

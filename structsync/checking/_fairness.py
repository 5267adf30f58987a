"""In which sets of states a behaviour can stay forever and be fair.

Weak fairness demands a move that is possible without end; strong fairness one that is possible again and
again. Such a set is strongly connected, and each demand is met by a move inside it, or absent: a weak one by a
state where the move is impossible, a strong one if it is impossible in every state. What a weak demand asks only
gets easier in a larger set, so where there are weak ones only, the maximal sets (Tarjan's components) decide. A strong
one that is not met can still be avoided in a smaller set, without the states where its move is possible: those
states are taken out and what remains is divided again (Emerson and Lei 1987).

To stay in one state forever is the same question for a set of one state and no transition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol


class Transitions(Protocol):
    """The transitions of a graph: those of state n are numbered first[n] to first[n + 1]."""

    @property
    def first(self) -> Sequence[int]: ...
    @property
    def label(self) -> Sequence[int]: ...
    @property
    def target(self) -> Sequence[int]: ...


@dataclass(frozen=True, slots=True)
class Fair:
    """One demand: a move with one of the labels is taken again and again, unless it is impossible."""

    labels: frozenset[int]
    strong: bool = False


def weakly(labels: Iterable[int]) -> tuple[Fair, ...]:
    """Return weak fairness for each label apart."""
    return tuple(Fair(frozenset({label})) for label in labels)


def possible(edges: Transitions, state: int) -> frozenset[int]:
    """Return the labels of the moves that a state allows."""
    return frozenset(edges.label[edges.first[state] : edges.first[state + 1]])


def fair_components(
    edges: Transitions,
    targets: dict[int, list[int]],
    fair: Sequence[Fair],
    beat: Callable[[], None] = lambda: None,
) -> dict[int, int]:
    """Map each state in which a fair behaviour can stay forever to the root of its set.

    Args:
        edges: all transitions.
        targets: the states that may be visited, and those of them that each leads to.
        fair: the demands.
        beat: called all the time; what it raises ends the search.
    """
    found: dict[int, int] = {}
    parts = [targets]
    while parts:
        part = parts.pop()
        inside = _components(part, beat)
        members: dict[int, list[int]] = {}
        for state, root in inside.items():
            members.setdefault(root, []).append(state)
        for root, states in members.items():
            beat()
            unmet = _unmet(edges, inside, states, fair)
            if not unmet:
                found.update(dict.fromkeys(states, root))
            elif all(one.strong for one in unmet):
                parts.append(_without(edges, part, states, unmet))
    return found


def _without(
    edges: Transitions, part: dict[int, list[int]], states: list[int], unmet: list[Fair]
) -> dict[int, list[int]]:
    """Return the part of a set in whose states none of the moves is possible."""
    avoided = frozenset().union(*(one.labels for one in unmet))
    left = {state for state in states if avoided.isdisjoint(possible(edges, state))}
    return {state: [one for one in part[state] if one in left] for state in states if state in left}


def _unmet(
    edges: Transitions, inside: dict[int, int], states: list[int], fair: Sequence[Fair]
) -> list[Fair]:
    """Return the demands that nothing inside a component meets and that are not absent."""
    strong = [one for one in fair if one.strong]
    without_end = [one for one in fair if not one.strong]
    again_and_again: set[int] = set()
    for state in states:
        here = possible(edges, state)
        without_end = [one for one in without_end if not one.labels.isdisjoint(here)]
        if strong:
            again_and_again |= here
        elif not without_end:
            return []
    demanded = without_end + [one for one in strong if not one.labels.isdisjoint(again_and_again)]
    first, label, target = edges.first, edges.label, edges.target
    root = inside[states[0]]
    taken = {
        label[n]
        for state in states
        for n in range(first[state], first[state + 1])
        if inside.get(target[n]) == root
    }
    return [one for one in demanded if one.labels.isdisjoint(taken)]


def _components(targets: dict[int, list[int]], beat: Callable[[], None]) -> dict[int, int]:
    """Map each state to the root of its strongly connected component (Tarjan, no recursion)."""
    low: dict[int, int] = {}
    component: dict[int, int] = {}
    for start in targets:
        if start in low:
            continue
        beat()
        seen = {start: len(low)}
        low[start] = len(low)
        open_states = [start]
        work = [(start, iter(targets[start]))]
        while work:
            if len(low) % 1024 == 0:
                beat()
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

"""Which task waits for which, and which of them wait forever.

A task waits for one of several alternatives (a plain request has one, ``acquire_any`` one for each
claim). An alternative is a list of needs, all of which have to be met. A need is met once tasks that
get on release enough units. A task that waits for nothing that is known here gets on.

*Stuck* is the largest set of waiting tasks in which no alternative of any member can be met from
outside: with one alternative and one need each that is a cycle, with several alternatives a knot. It
is found from above: begin with all that wait, and take out those that get on, until no task does.

Why not a search for cycles: where a task may go on by either of two ways, a cycle through one of them
is no deadlock, and a task that waits for five of seven permits is in several cycles before it is stuck.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Need:
    """Something that has to happen first: ``units`` are released by some of ``holders``.

    ``why`` is what it is for, opaque here. ``unless`` returns, for the blocked tasks, whether the need falls
    away, because the others go on; it looks at holders only, which may have 0 units.
    """

    holders: Sequence[tuple[Hashable, int]]  # each with how many units
    units: int
    why: object = None
    unless: Callable[[Collection[Hashable]], bool] | None = None


#: What one alternative of a task needs: all of it.
Alternative: TypeAlias = Sequence[Need]
#: For each task that waits, its alternatives.
Waits: TypeAlias = Mapping[Hashable, Sequence[Alternative]]


def stuck(waits: Waits) -> set[Hashable]:
    """Return the tasks that wait forever, because every way out lies among themselves."""
    behind: dict[Hashable, list[Hashable]] = {}
    for who, alternatives in waits.items():
        for holder in (one for needs in alternatives for need in needs for one, _ in need.holders):
            behind.setdefault(holder, []).append(who)
    found, left = set(waits), list(waits)
    while left:
        who = left.pop()
        if who in found and gets_on(waits[who], found):
            found.discard(who)
            left += behind.get(who, ())  # which may get on only now
    return found


def gets_on(alternatives: Sequence[Alternative], blocked: Collection[Hashable]) -> bool:
    """Return whether one of the alternatives can be had although some tasks do nothing any more."""
    return any(all(is_met(need, blocked) for need in needs) for needs in alternatives)


def is_met(need: Need, blocked: Collection[Hashable]) -> bool:
    """Return whether the tasks that are not blocked can release what is needed."""
    if sum(units for who, units in need.holders if who not in blocked) >= need.units:
        return True
    return need.unless is not None and need.unless(blocked)


def unmet(waits: Waits, who: Hashable, blocked: Collection[Hashable]) -> Iterator[Need]:
    """Yield what a stuck task needs and does not get."""
    for needs in waits[who]:
        yield from (need for need in needs if not is_met(need, blocked))


def cycle_through(
    waits: Waits, who: Hashable, blocked: Collection[Hashable]
) -> list[tuple[Hashable, Need]]:
    """Return a shortest way from a stuck task over stuck ones back to it; empty if there is none.

    Each with the need for which it waits for the next one.
    """
    came: dict[Hashable, tuple[Hashable, Need]] = {}
    line = deque([who])
    while line and who not in came:
        one = line.popleft()
        for need in unmet(waits, one, blocked):
            for holder, _ in need.holders:
                if holder in blocked and holder not in came:
                    came[holder] = (one, need)
                    line.append(holder)
    if who not in came:
        return []
    way = [came[who]]
    while way[-1][0] != who:
        way.append(came[way[-1][0]])
    return way[::-1]


def knot_around(waits: Waits, who: Hashable, blocked: Collection[Hashable]) -> list[Hashable]:
    """Return every stuck task that a stuck one depends on, itself first."""
    found = {who: None}
    line = deque([who])
    while line:
        for need in unmet(waits, line.popleft(), blocked):
            for holder, _ in need.holders:
                if holder in blocked and holder not in found:
                    found[holder] = None
                    line.append(holder)
    return list(found)

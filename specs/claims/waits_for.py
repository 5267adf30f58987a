"""Which tasks wait forever: those that no task that makes progress can help; and how that is shown, as a cycle or a knot.

Tasks are 0, 1 and 2; each waits for units that the two others hold, and may hold.
"""

from __future__ import annotations

from collections.abc import Collection

from structsync._core.queue import waits_for
from structsync._core.queue.waits_for import Need, Waits

FREE = 3  # waits for nothing, and holds nothing that another needs

#: All sets of tasks, by number.
SETS = [{who for who in range(3) if number >> who & 1} for number in range(8)]


def need_of(who: int, units: int, first: int, second: int) -> Need:
    """So many units, of which the next task has so many, and the one after it."""
    return Need([((who + 1) % 3, first), ((who + 2) % 3, second)], units)


def can_be_had(need: Need, blocked: Collection[object]) -> bool:
    (one, units), (other, more) = need.holders
    there = (0 if one in blocked else units) + (0 if other in blocked else more)
    return there >= need.units


def graph(wanted: int, first: int, second: int, other: int, third: int, fourth: int) -> Waits:
    """Task 0 wants units of the others, so does task 1; task 2 waits for the one unit of task 0."""
    return {
        0: [[need_of(0, wanted, first, second)]],
        1: [[need_of(1, other, third, fourth)]],
        2: [[need_of(2, 1, 1, 0)]],
    }


def a_stuck_task_cannot_be_helped_by_the_others(
    wanted: int, first: int, second: int, other: int, third: int, fourth: int
) -> None:
    assert first >= 0 <= second
    assert third >= 0 <= fourth
    waits = graph(wanted, first, second, other, third, fourth)
    found = waits_for.stuck(waits)
    assert not any(can_be_had(waits[who][0][0], found) for who in found)


def those_that_no_other_can_help_are_stuck(
    wanted: int, first: int, second: int, other: int, third: int, fourth: int, which: int
) -> None:
    assert 0 <= which < 8
    assert first >= 0 <= second
    assert third >= 0 <= fourth
    waits = graph(wanted, first, second, other, third, fourth)
    among = SETS[which]
    if not any(can_be_had(waits[who][0][0], among) for who in among):
        assert among <= waits_for.stuck(waits)


def all_of_one_alternative_is_enough(
    first: int, second: int, third: int, fourth: int, there: int
) -> None:
    assert there >= 0
    alternatives = [
        [Need([(0, there)], units) for units in needs]
        for needs in ((first, second), (third, fourth))
    ]
    one = first <= there and second <= there
    other = third <= there and fourth <= there
    assert waits_for.gets_on(alternatives, ()) == (one or other)


def what_the_blocked_hold_does_not_count(
    units: int, mine: int, yours: int, which: int, falls_away: bool
) -> None:
    assert 0 <= which < 8
    blocked = SETS[which]
    need = Need([(0, mine), (1, yours)], units, unless=lambda _: falls_away)
    there = (0 if 0 in blocked else mine) + (0 if 1 in blocked else yours)
    assert waits_for.is_met(need, blocked) == (there >= units or falls_away)


def what_is_unmet_is_told_and_nothing_else(first: int, second: int, third: int, there: int) -> None:
    assert there >= 0
    needs = [Need([(1, there)], units) for units in (first, second, third)]
    waits: Waits = {0: [needs[:2], needs[2:]]}
    assert [*waits_for.unmet(waits, 0, ())] == [one for one in needs if one.units > there]


def ways(*edges: tuple[int, int, bool]) -> Waits:
    """Return the waits along these edges, each for one unit."""
    return {
        who: [[Need([(to, 1), (FREE, 0)], 1) for one, to, there in edges if one == who and there]]
        for who in range(3)
    }


def the_cycle_is_a_shortest_way_back(
    itself: bool, to_1: bool, to_2: bool, back_1: bool, back_2: bool, over: bool, again: bool
) -> None:
    assert itself in (False, True)
    waits = ways(
        (0, 1, to_1),
        (0, 2, to_2),
        (0, 0, itself),
        (1, 2, over),
        (1, 0, back_1),
        (2, 1, again),
        (2, 0, back_2),
    )
    cycle = waits_for.cycle_through(waits, 0, range(3))
    members = [who for who, _ in cycle]
    for (who, need), after in zip(cycle, [*members[1:], 0], strict=False):
        assert need in waits[who][0]
        assert need.holders[0] == (after, 1)
    by_two = (to_1 and back_1) or (to_2 and back_2)
    by_three = (to_1 and over and back_2) or (to_2 and again and back_1)
    assert len(cycle) == (1 if itself else 2 if by_two else 3 if by_three else 0)
    assert members[:1] == [0] or not cycle


def the_knot_is_all_that_are_depended_on(
    to_1: bool, to_2: bool, over: bool, again: bool, gets_on: bool
) -> None:
    assert gets_on in (False, True)
    waits = ways((0, 1, to_1), (0, 2, to_2), (1, 2, over), (2, 1, again), (1, 0, True))
    knot = waits_for.knot_around(waits, 0, SETS[3] if gets_on else SETS[7])
    has_2 = not gets_on and (to_2 or (to_1 and over))
    has_1 = to_1 or (has_2 and again)
    assert knot[0] == 0
    assert (1 in knot[1:]) == has_1
    assert (2 in knot[1:]) == has_2
    assert len(knot) <= 1 + has_1 + has_2

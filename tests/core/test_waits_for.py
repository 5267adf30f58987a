"""Who is stuck, for every small graph of waits, against a definition that searches all sets of tasks."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Sequence
from itertools import chain, combinations, product

import pytest

from structsync._core.queue import waits_for
from structsync._core.queue.waits_for import (
    Alternative,
    Need,
    Waits,
    cycle_through,
    knot_around,
    stuck,
)

from ..claims.faults import waits_for as faults  # noqa: TID252 - one home of the faults

WAITERS = (
    "abc"  # with three there is a cycle, a task in it with a second way out, and who leads to it
)
FREE = "f"  # a task that waits for nothing that is known


def subsets(things: Sequence[str]) -> Iterator[tuple[str, ...]]:
    return chain.from_iterable(combinations(things, size) for size in range(len(things) + 1))


def need(*holders: str, units: int = 1) -> Need:
    return Need([(holder, 1) for holder in holders], units)


def options(who: str) -> list[list[Alternative] | None]:
    """Everything that a task may wait for: itself, too; one or both of two, together or one of them."""
    others = [*WAITERS, FREE]
    found: list[list[Alternative] | None] = [None]
    found += [[[need(one)]] for one in others]
    for one, other in combinations(others, 2):
        found.append([[need(one), need(other)]])  # both
        found.append([[need(one)], [need(other)]])  # acquire_any
        found.append([[need(one, other)]])  # a permit of either
        found.append([[need(one, other, units=2)]])  # two permits, of both
    return found


def graphs() -> Iterator[Waits]:
    for chosen in product(*map(options, WAITERS)):
        yield {who: one for who, one in zip(WAITERS, chosen, strict=True) if one is not None}


def naively_stuck(waits: Waits) -> set[Hashable]:
    """The union of all sets whose members have every way out among themselves."""
    found: set[Hashable] = set()
    for chosen in subsets([who for who in WAITERS if who in waits]):
        closed = all(
            any(
                sum(units for one, units in each.holders if one not in chosen) < each.units
                for each in needs
            )
            for who in chosen
            for needs in waits[who]
        )
        if closed:
            found |= set(chosen)
    return found


def check_all() -> tuple[int, int]:
    """Compare the two for every graph; return how many there are, and in how many a task is stuck."""
    count = deadlocked = 0
    for waits in graphs():
        found = waits_for.stuck(waits)
        assert found == naively_stuck(waits), waits
        count += 1
        deadlocked += bool(found)
    return count, deadlocked


@pytest.mark.unmeasured
def test_who_is_stuck_is_right_for_every_small_graph() -> None:
    count, deadlocked = check_all()
    assert count == 29**3
    assert 0.1 * count < deadlocked < 0.9 * count, "it would be green by emptiness"


@pytest.mark.unmeasured
def test_where_a_task_is_stuck_a_cycle_is_found_and_is_one() -> None:
    for waits in graphs():
        blocked = stuck(waits)
        cycles = {who: cycle_through(waits, who, blocked) for who in sorted(map(str, blocked))}
        assert bool(blocked) == any(cycles.values()), waits
        for who, cycle in cycles.items():
            assert not cycle or cycle[0][0] == who
            members = [one for one, _ in cycle]
            assert len(set(members)) == len(members), "it is not a shortest one"
            for (one, why), after in zip(cycle, [*members[1:], *members[:1]], strict=True):
                assert any(why in needs for needs in waits[one])
                assert after in dict(why.holders)
            knot = knot_around(waits, who, blocked)
            assert knot[0] == who
            assert set(members) <= set(knot) <= blocked


def every_alternative_is_needed(
    alternatives: Sequence[Alternative], blocked: Collection[Hashable]
) -> bool:
    return all(all(waits_for.is_met(one, blocked) for one in needs) for needs in alternatives)


def every_holder_is_needed(one: Need, blocked: Collection[Hashable]) -> bool:
    return all(who not in blocked for who, _ in one.holders)


def a_cycle_is_a_deadlock(waits: Waits) -> set[Hashable]:
    return {who for who in waits if cycle_through(waits, who, set(waits))}


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("gets_on", faults.any_need_is_enough.changed),
        ("gets_on", every_alternative_is_needed),
        ("is_met", faults.any_holder_is_enough.changed),
        ("is_met", every_holder_is_needed),
        ("stuck", faults.one_look_is_enough.changed),
        ("stuck", a_cycle_is_a_deadlock),
    ],
)
def test_the_check_finds_a_planted_fault(
    name: str, fault: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waits_for, name, fault)
    with pytest.raises(AssertionError):
        check_all()


def test_a_task_that_only_leads_to_a_cycle_is_stuck_and_closes_none() -> None:
    waits: Waits = {"a": [[need("b")]], "b": [[need("b")]]}
    assert stuck(waits) == {"a", "b"}
    assert cycle_through(waits, "a", stuck(waits)) == []

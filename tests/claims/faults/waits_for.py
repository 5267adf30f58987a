"""Faults of the search for who waits forever, each for one claim."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Sequence

from structsync._core.queue import waits_for
from structsync._core.queue.waits_for import Alternative, Need, Waits

from ._planting import fault


@fault(waits_for, "stuck", refuted_by="waits_for.a_stuck_task_cannot_be_helped_by_the_others")
def one_look_is_enough(waits: Waits) -> set[Hashable]:
    return {who for who in waits if not waits_for.gets_on(waits[who], waits)}


@fault(waits_for, "stuck", refuted_by="waits_for.those_that_no_other_can_help_are_stuck")
def only_a_task_that_waits_for_itself_is_stuck(waits: Waits) -> set[Hashable]:
    return {who for who in waits if not waits_for.gets_on(waits[who], [who])}


@fault(waits_for, "gets_on", refuted_by="waits_for.all_of_one_alternative_is_enough")
def any_need_is_enough(alternatives: Sequence[Alternative], blocked: Collection[Hashable]) -> bool:
    return any(waits_for.is_met(one, blocked) for needs in alternatives for one in needs)


@fault(waits_for, "is_met", refuted_by="waits_for.what_the_blocked_hold_does_not_count")
def any_holder_is_enough(need: Need, blocked: Collection[Hashable]) -> bool:
    return any(who not in blocked for who, _ in need.holders)


@fault(waits_for, "unmet", refuted_by="waits_for.what_is_unmet_is_told_and_nothing_else")
def the_first_of_each_alternative_is_told(
    waits: Waits, who: Hashable, blocked: Collection[Hashable]
) -> Iterator[Need]:
    for needs in waits[who]:
        yield from [need for need in needs if not waits_for.is_met(need, blocked)][:1]


@fault(waits_for, "cycle_through", refuted_by="waits_for.the_cycle_is_a_shortest_way_back")
def the_first_way_is_followed_to_its_end(
    waits: Waits, who: Hashable, blocked: Collection[Hashable]
) -> list[tuple[Hashable, Need]]:
    way: list[tuple[Hashable, Need]] = []
    at = who
    while at not in [one for one, _ in way]:
        needs = [*waits_for.unmet(waits, at, blocked)]
        if not needs:
            return []
        way.append((at, needs[0]))
        at = needs[0].holders[0][0]
    return way if at == who else []


@fault(waits_for, "knot_around", refuted_by="waits_for.the_knot_is_all_that_are_depended_on")
def the_knot_has_only_the_next(
    waits: Waits, who: Hashable, blocked: Collection[Hashable]
) -> list[Hashable]:
    next_ones = [need.holders[0][0] for need in waits_for.unmet(waits, who, blocked)]
    return [who, *(one for one in next_ones if one in blocked)]

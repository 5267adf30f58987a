"""Faults of what comes back into a buffer, each for one claim."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from structsync._core.primitives.items import FirstInFirstOut, SmallestFirst
from structsync._core.primitives.lent_items import (
    LendingArbiter,
    NumberedFirstInFirstOut,
    NumberedSmallestFirst,
)
from structsync._core.primitives.sides import Get

from ._planting import fault


@fault(
    NumberedFirstInFirstOut,
    "put_back",
    refuted_by="lent_items.what_comes_back_stands_where_it_was",
)
def what_comes_back_comes_out_next(items: NumberedFirstInFirstOut, entry: Any) -> None:
    items.appendleft(entry)


def by_rank(one: Any, entry: Any) -> bool:
    return bool(entry[0] < one[0])


ranks_alone_count = fault(
    NumberedSmallestFirst, "_is_after", refuted_by="lent_items.what_is_put_meanwhile_is_younger"
)(staticmethod(by_rank))


@fault(
    LendingArbiter,
    "restore_items",
    refuted_by="lent_items.a_situation_with_lent_items_can_be_gone_back_to",
)
def what_is_lent_is_not_restored(core: LendingArbiter, snapshot: Any, empty: Any) -> None:
    intact_restore(core, (*snapshot[:2], ()), empty)


@fault(
    LendingArbiter,
    "snapshot_of_items",
    refuted_by="lent_items.equal_situations_have_equal_snapshots",
)
def numbers_are_kept_as_they_are(core: LendingArbiter) -> Hashable:
    return (type(core.items), tuple(core.items), core.items.next_number)


@fault(LendingArbiter, "discharge", refuted_by="lent_items.what_is_used_up_makes_room")
def what_is_used_up_keeps_its_room(core: LendingArbiter, claim: Any) -> None:
    del core.lent[claim]


@fault(SmallestFirst, "restored", refuted_by="lent_items.items_are_kept_by_a_snapshot_of_them")
def the_items_are_always_those_of_a_queue(items: SmallestFirst, snapshot: Any) -> Any:
    return FirstInFirstOut(snapshot)


@fault(Get, "__eq__", refuted_by="lent_items.a_claim_is_what_it_claims")
def a_number_alone_is_compared(get: Get, other: Any) -> bool:
    return bool(get.most == getattr(other, "most", other))


intact_restore = LendingArbiter.restore_items

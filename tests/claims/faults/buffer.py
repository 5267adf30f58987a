"""Faults of a buffer, each for one claim."""

from __future__ import annotations

from typing import Any

from structsync._core.primitives.buffer import BLOCKED, BufferCore
from structsync._core.primitives.items import SmallestFirst

from ._planting import Ended, fault


@fault(
    SmallestFirst,
    "_place",
    refuted_by="buffer.a_rank_stands_behind_the_greater_and_before_the_equal",
)
def a_rank_stands_behind_its_equals(items: SmallestFirst, rank: Any) -> int:
    return sum(not one < rank for one, _ in items)


@fault(SmallestFirst, "extend", refuted_by="buffer.what_is_put_is_kept_in_order")
def what_is_new_comes_out_next(items: SmallestFirst, pairs: Any) -> None:
    for pair in pairs:
        items.append(pair)


@fault(BufferCore, "exchange", refuted_by="buffer.items_are_put_exactly_where_there_is_room")
def one_item_of_room_is_enough(core: BufferCore, claim: Any, ahead: object, takes: bool) -> Any:
    return core.admit(claim) if len(core.items) < core.max_items else BLOCKED


@fault(BufferCore, "admit", refuted_by="buffer.a_task_that_gets_has_what_leaves_the_buffer")
def what_is_handed_out_stays(core: BufferCore, claim: Any) -> Any:
    return list(core.items)[: claim.most]


@fault(
    SmallestFirst,
    "can_put",
    refuted_by="buffer.what_cannot_be_compared_is_refused_and_nothing_is_put",
)
def whatever_comes_can_be_put(items: SmallestFirst, pairs: Any) -> bool:
    return True


@fault(BufferCore, "complete", refuted_by="buffer.what_is_complete_is_so_once")
def the_last_word_counts(core: BufferCore, for_puts: Any, for_gets: Any) -> Ended:
    core.completed = None
    return intact_complete(core, for_puts, for_gets)


intact_complete = BufferCore.complete

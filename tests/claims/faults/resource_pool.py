"""Faults of a pool of items, each for one claim."""

from __future__ import annotations

from collections.abc import Hashable

from structsync._core.primitives.resource_pool import Kept, ResourcePoolCore
from structsync.specs import resource_pool_faults

from ._planting import Ended, OfASpec, fault

the_oldest_is_lent = OfASpec(
    ResourcePoolCore,
    resource_pool_faults.TheOldestIsLent,
    "resource_pool.a_place_is_granted_exactly_while_one_is_free",
)


@fault(
    ResourcePoolCore,
    "put_back",
    refuted_by="resource_pool.what_comes_back_is_kept_and_its_place_is_the_next_ones",
)
def what_comes_back_is_forgotten(core: ResourcePoolCore, claim: Hashable, now: float) -> Ended:
    core.discharge(claim)
    return core.settle()


@fault(
    ResourcePoolCore,
    "_is_over",
    refuted_by="resource_pool.an_item_is_over_once_it_was_idle_for_its_lifetime",
)
def a_lifetime_is_a_little_longer(core: ResourcePoolCore, kept: Kept, now: float) -> bool:
    if kept.since is None:
        return True
    if core.max_idle is None or core.size <= core.min_size:
        return False
    return now - kept.since > core.max_idle


@fault(
    ResourcePoolCore,
    "has_stale",
    refuted_by="resource_pool.the_oldest_is_closed_where_there_are_too_many",
)
def one_too_many_is_kept(core: ResourcePoolCore, now: float) -> bool:
    return bool(core.idle) and core.size > core.max_size + 1


@fault(
    ResourcePoolCore,
    "reserve",
    refuted_by="resource_pool.no_more_are_made_ahead_than_are_missing",
)
def one_more_is_made_ahead(core: ResourcePoolCore, claim: Hashable) -> bool:
    if core.size > core.min_size:
        return False
    core.loans[claim] = None
    return True


@fault(ResourcePoolCore, "loan_of", refuted_by="resource_pool.an_item_is_known_by_itself")
def what_is_equal_is_the_same_item(core: ResourcePoolCore, item: object) -> Hashable:
    return next((who for who, kept in core.loans.items() if kept and kept.item == item), None)


@fault(
    ResourcePoolCore,
    "admit",
    refuted_by="resource_pool.the_last_place_says_that_there_is_none_left",
)
def there_is_always_a_place_left(core: ResourcePoolCore, claim: Hashable) -> bool:
    core.loans[claim] = core.idle.pop() if core.idle else None
    return False

"""Faults of pools of items."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import pytest

from structsync._core.primitives.resource_pool import Kept, ResourcePoolCore
from structsync._core.queue.request import Request
from structsync._primitives.resource_pool import PoolItem
from structsync._runtime import lending, parking
from structsync._runtime.done import DONE
from structsync._runtime.lending import Loan
from structsync._runtime.live import Live
from structsync.specs import resource_pool_faults

from ._reuse import plant


def a_borrower_that_makes_no_item_keeps_its_place(patch: pytest.MonkeyPatch) -> None:
    """As in encode/httpcore #1093."""
    intact = ResourcePoolCore.put_back

    def put_back(self: ResourcePoolCore, claim: Hashable, now: float) -> list[Request[Any]]:
        return [] if self.loans[claim] is None else intact(self, claim, now)

    patch.setattr(ResourcePoolCore, "put_back", put_back)


def a_cancelled_request_is_assigned_the_place(patch: pytest.MonkeyPatch) -> None:
    """The same for who waits in the queue."""
    intact = ResourcePoolCore.withdraw

    def withdraw(self: ResourcePoolCore, request: Request[Any]) -> list[Request[Any]] | None:
        ended = intact(self, request)
        if ended is not None:
            self.loans[request.claim] = None
        return ended

    patch.setattr(ResourcePoolCore, "withdraw", withdraw)


def a_returned_item_wakes_no_task(patch: pytest.MonkeyPatch) -> None:
    plant(patch, ResourcePoolCore, resource_pool_faults.AReturnedItemWakesNoTask)


def an_item_is_lent_twice(patch: pytest.MonkeyPatch) -> None:
    def admits(self: ResourcePoolCore, claim: Hashable) -> bool:
        return len(self.loans) <= self.max_size

    def admit(self: ResourcePoolCore, claim: Hashable) -> None:
        others = [kept for kept in self.loans.values() if kept is not None]
        self.loans[claim] = others[0] if others else self.idle.pop() if self.idle else None

    patch.setattr(ResourcePoolCore, "admits", admits)
    patch.setattr(ResourcePoolCore, "admit", admit)


def an_item_counts_as_closed_when_its_close_begins(patch: pytest.MonkeyPatch) -> None:
    """Its place is free, and another item is made in it, before the old one is closed."""

    async def close_stale(pool: Live[Any]) -> None:
        core = lending.of(pool)._core
        while core.has_stale(0):
            place = Loan()
            core.evict(place, 0)
            item = core.take_out(place)
            lending.leave(pool, place, is_borrowed=False)
            await lending._close(pool, item)

    patch.setattr(lending, "close_stale", close_stale)


def what_a_cancelled_check_left_is_lent(patch: pytest.MonkeyPatch) -> None:
    plant(patch, ResourcePoolCore, resource_pool_faults.DiscardingChangesNothing)


def a_cancelled_check_loses_its_item(patch: pytest.MonkeyPatch) -> None:
    def discard(self: ResourcePoolCore, claim: Hashable) -> None:
        self.loans[claim] = None

    patch.setattr(ResourcePoolCore, "discard", discard)


def a_close_can_be_cancelled(patch: pytest.MonkeyPatch) -> None:
    """Without a shield what was to be closed stays open."""

    async def close(pool: Live[Any], item: Any) -> None:
        closer = lending.of(pool)._closer
        if closer is not None:
            await closer(item)

    patch.setattr(lending, "_close", close)


def a_place_is_released_only_by_a_borrower_that_ends_well(patch: pytest.MonkeyPatch) -> None:
    """A borrower that is cancelled while an item is made or checked holds its place forever."""

    async def borrow(pool: Live[Any], loan: Loan) -> Any:
        await parking.acquire(pool, loan)
        return await lending._fit_item(pool, loan)

    patch.setattr(lending, "borrow", borrow)


def a_block_that_fails_keeps_its_place(patch: pytest.MonkeyPatch) -> None:
    intact = PoolItem.__aexit__

    def leave(self: PoolItem[Any], kind: object, error: object, traceback: object, /) -> Any:
        return DONE if error is not None else intact(self, kind, error, traceback)

    patch.setattr(PoolItem, "__aexit__", leave)


def a_failed_block_keeps_its_item(patch: pytest.MonkeyPatch) -> None:
    """What a failed block discards is neither closed nor idle."""

    def put_back(self: ResourcePoolCore, claim: Hashable, now: float) -> list[Request[Any]]:
        kept = self.loans.pop(claim)
        if kept is not None and kept.since is not None:
            self.idle.append(Kept(kept.item, now))
        return self.settle()

    patch.setattr(ResourcePoolCore, "put_back", put_back)


def what_a_cancelled_block_left_is_lent(patch: pytest.MonkeyPatch) -> None:
    """The answer that no task has read is taken for that of the next request."""
    intact = PoolItem.__aexit__

    def leave(self: PoolItem[Any], kind: object, error: object, traceback: object, /) -> Any:
        return intact(self, None, None, None)

    patch.setattr(PoolItem, "__aexit__", leave)

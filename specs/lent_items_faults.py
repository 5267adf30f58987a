"""Bugs of queues with acknowledgement, planted in ours: each found by the named property."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from structsync._core.primitives.buffer import BufferCore
from structsync._core.primitives.sides import Lend
from structsync._core.queue.request import BROKEN, Request
from structsync.checking import fault

from .lent_items import LentFromAStackSpec, LentItemsSpec

Ended = list[Request[Any]]


@fault(LentItemsSpec, "core", refuted_by="nothing_grantable_waits")
class WhatComesBackWakesNoTask(BufferCore):
    """An item has come back, and a task that waits for one sleeps on."""

    def put_back(self, claim: Hashable) -> Ended:
        entry = self.lent[claim]
        self.discharge(claim)
        if self.cause is None:
            self.items.put_back(entry)
        return []


@fault(LentItemsSpec, "core", refuted_by="nothing_grantable_waits")
class WhatIsUsedUpWakesNoTask(BufferCore):
    """There is room again, and a task that waits for it sleeps on."""

    def release(self, claim: Any) -> Ended:
        self.discharge(claim)
        return []


@fault(LentItemsSpec, "core", refuted_by="no_item_is_lost_or_doubled")
class WhatFailsIsLost(BufferCore):
    """A worker that is stopped takes its job along (asyncio's and anyio's queues)."""

    def put_back(self, claim: Hashable) -> Ended:
        return self.release(claim)


@fault(LentItemsSpec, "core", refuted_by="no_item_is_lost_or_doubled")
class WhatComesBackGoesToTheEnd(BufferCore):
    """An item that comes back is behind those that were put after it, as if its worker had put it."""

    def put_back(self, claim: Hashable) -> Ended:
        item = self.item_of(claim)
        self.discharge(claim)
        if self.cause is None:
            self.items.extend((item,))
        return self.settle()


@fault(LentFromAStackSpec, "core", refuted_by="items_come_out_in_order")
class AStackForgetsItsOrder(BufferCore):
    """An item that comes back to a stack lies at the bottom."""

    def put_back(self, claim: Hashable) -> Ended:
        entry = self.lent[claim]
        self.discharge(claim)
        if self.cause is None:
            self.items.insert(0, entry)
        return self.settle()


@fault(LentItemsSpec, "core", refuted_by="no_item_is_lost_or_doubled")
class WhatIsClosedTakesItBack(BufferCore):
    """A closed buffer keeps an item that comes back, and no task can get it."""

    def put_back(self, claim: Hashable) -> Ended:
        entry = self.lent[claim]
        self.discharge(claim)
        self.items.put_back(entry)
        return self.settle()


@fault(LentItemsSpec, "core", refuted_by="an_item_in_hand_keeps_its_room")
class AnItemInHandLeavesItsRoom(BufferCore):
    """Others put into the room of an item in hand, and when it comes back there is one too many."""

    def lend(self, claim: Lend) -> Lend:
        super().lend(claim)
        self.room += 1
        return claim

    def discharge(self, claim: Any) -> None:
        super().discharge(claim)
        self.room -= 1


@fault(LentItemsSpec, "core", refuted_by="the_end_comes_when_nothing_can_come_back")
class TheEndIsToldTooEarly(BufferCore):
    """The last worker is sent home, and then the job of another one comes back."""

    def settle(self, candidates: object = None) -> Ended:
        ended = super().settle()
        if self.completed is not None and not self.items:
            cause = self.completed[1]
            ended += [self.end_with(request, BROKEN, cause) for request in [*self.queue.gets]]
        return ended

    def refuse_impossible(self, claim: Any) -> None:
        lent, self.lent = self.lent, {}
        try:
            super().refuse_impossible(claim)
        finally:
            self.lent = lent


@fault(LentItemsSpec, "core", refuted_by="every_waiter_is_served")
class TheEndIsNotToldWhenTheLastIsUsedUp(BufferCore):
    """The last item in hand is used up, and a task that waits for it to come back waits forever."""

    def release(self, claim: Any) -> Ended:
        self.discharge(claim)
        return self.settle() if self.completed is None else []

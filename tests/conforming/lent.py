"""Items that are lent, by buffers and by pools, held against their specifications."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import trio

from structsync import Buffer, ResourcePool
from structsync.checking import action
from structsync.specs.lent_items import ROOM as LENT_ROOM
from structsync.specs.lent_items import WORKERS, LentFromAStackSpec, LentItemsSpec
from structsync.specs.pool_model import FULL, with_item
from structsync.specs.resource_pool import ResourcePoolSpec

from .items import OfBuffer
from .users import Seen, Users, no_task

# ==== Items in hand ====


class SeenLent(Seen, LentItemsSpec):
    abstract = True

    @action(when=lambda spec: spec.core.completed is None and len(spec.core.queue) > 1)
    def complete(self) -> None:
        super().complete()

    @action(when=lambda spec: spec.core.cause is None and len(spec.core.queue) > 1)
    def close(self) -> None:
        super().close()

    def told(self) -> Mapping[str, object]:
        return {
            "items": len(self.in_buffer()),
            "in hand": tuple(sorted((who, item) for item, who in self.items if who is not None)),
        }


class SeenLentItems(SeenLent, LentItemsSpec):
    pass


class SeenLentFromAStack(SeenLent, LentFromAStackSpec):
    pass


class Failed(Exception):
    """What work on an item raises, and what makes one."""


class OfLentItems(OfBuffer):
    """Workers have their item in a block."""

    def __init__(self, **options: Any) -> None:
        super().__init__()
        self.primitive = Buffer(LENT_ROOM, **options)
        self.in_hand: dict[str, str] = {}

    async def ask(self, who: str) -> None:
        if who not in WORKERS:
            return await super().ask(who)
        block = self.primitive.item()

        async def enter() -> None:
            self.in_hand[who] = await block.__aenter__()

        if await self.passes(who, enter()):
            error = Failed() if await self.order(who) == "fail" else None
            del self.in_hand[who]
            await block.__aexit__(error and Failed, error, None)
        return None

    def use_up(self, who: str) -> None:
        self.tell(who)

    def fail(self, who: str) -> None:
        self.tell(who, "fail")

    def told(self) -> Mapping[str, object]:
        in_hand = tuple(sorted(self.in_hand.items()))
        return {"items": self.primitive.statistics().items, "in hand": in_hand}


# ==== Pools of items ====


#: Items are made, lent and returned here; that some are closed meanwhile ResourcePoolShellMachine drives.
NOT_OF_THE_POOL = frozenset(("reject", "close_item", "discard", "come_past", "resize", "grow"))


class SeenPool(Seen, ResourcePoolSpec):
    @action(who=no_task)
    def reject(self, who: str) -> None: ...

    @action(who=no_task)
    def close_item(self, who: str) -> None: ...

    @action(who=no_task)
    def discard(self, who: str) -> None: ...

    @action(when=lambda spec: False)
    def come_past(self) -> None: ...

    @action(size=no_task)
    def resize(self, size: int) -> None: ...

    @action(when=lambda spec: False)
    def grow(self) -> None: ...

    @action(who=lambda spec: [who for who in with_item(spec) if who not in spec.unfit])
    def begin_to_close_or_return(self, who: str) -> None:
        self.leave(who)

    def told(self) -> Mapping[str, object]:
        if self.core.cause is not None:  # it keeps none
            there = tuple((who, item is not None) for who, item in self.places)
            return {"borrowed": there, "idle": ()}
        return {"borrowed": self.places, "idle": tuple(item for item, _ in self.kept)}


class OfPool(Users):
    """Who has a place makes its item when it is told to."""

    reject = close_item = discard = come_past = resize = grow = Users.close

    def __init__(self) -> None:
        super().__init__()
        self.primitive = ResourcePool(self.make_item, FULL)
        self.making: dict[str, None] = {}
        self.borrowed: dict[str, int] = {}
        self.who: dict[object, str] = {}

    async def make_item(self) -> int:
        who = self.who[trio.lowlevel.current_task()]
        self.waiting.remove(who)
        self.making[who] = None
        try:
            how = await self.order(who)
        finally:
            del self.making[who]
            self.waiting.append(who)
        if how == "fail":
            raise Failed
        return int(how)

    async def ask(self, who: str) -> None:
        self.who[trio.lowlevel.current_task()] = who
        block = self.primitive.item()

        async def enter() -> None:
            try:
                self.borrowed[who] = await block.__aenter__()
            except Failed:
                raise trio.BrokenResourceError from None

        if await self.passes(who, enter()):
            await self.order(who)
            del self.borrowed[who]
            await block.__aexit__(None, None, None)

    def withdraw(self, who: str) -> None:
        self.cancel("ask", who=who)

    def make(self, who: str) -> None:
        there = {*self.borrowed.values(), *self.idle()}
        self.tell(who, str(next(item for item in range(1, 9) if item not in there)))

    def idle(self) -> list[int]:
        return [kept.item for kept in self.primitive._core.idle]

    def fail_to_make(self, who: str) -> None:
        self.tell(who, "fail")

    def begin_to_close_or_return(self, who: str) -> None:
        self.tell(who)

    def told(self) -> Mapping[str, object]:
        places = sorted({**dict.fromkeys(self.making), **self.borrowed}.items())
        if self.primitive.closed:
            return {"borrowed": tuple((w, item is not None) for w, item in places), "idle": ()}
        return {"borrowed": tuple(places), "idle": tuple(self.idle())}

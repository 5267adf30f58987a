"""Buffers and their ends, held against their specifications."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import trio

from structsync import (
    Broadcast,
    Buffer,
    CoreRequest,
    ReceivingEnd,
    SendingEnd,
    first_of,
    open_channel,
)
from structsync.checking import action, start
from structsync.specs.buffer import GETS, PUTS, ROOM, BufferSpec, StackSpec, idle

from .users import OUT_OF_SERVICE, Seen, Users

# ==== Buffers ====


class SeenItems(Seen, BufferSpec):
    """A buffer, and all that was got of it."""

    abstract = True
    taken: tuple[str, ...] = start(tuple)

    def got(self, request: CoreRequest[Any]) -> None:
        super().got(request)
        if request.waiter in GETS:
            self.taken = tuple(sorted((*self.taken, *self.handed)))
            self.handed = self.due = ()

    # Later than at once, or little else would ever happen.

    @action(when=lambda spec: spec.core.completed is None and spec.core.queue)
    def complete(self) -> None:
        super().complete()

    @action(when=lambda spec: spec.core.cause is None and spec.core.queue)
    def close(self) -> None:
        super().close()

    def told(self) -> Mapping[str, object]:
        return {"items": len(self.kept), "taken": self.taken, "completed": self.completed()}

    def completed(self) -> bool:
        return self.core.completed is not None


class SeenBuffer(SeenItems, BufferSpec):
    pass


class SeenStack(SeenItems, StackSpec):
    pass


#: Who gets and puts one item at a time.
ONE_BY_ONE = ("a", "b", "x")


class SeenOneByOne(SeenItems, BufferSpec):
    @action(
        who=lambda spec: [who for who in idle(spec) if who in ONE_BY_ONE],
        when=lambda spec, who: spec.core.cause is None,
    )
    def ask(self, who: str) -> None:
        super().ask(who)


WINDOW = 1


class OfBuffer(Users):
    """Each put or get is one task."""

    told_by = (*OUT_OF_SERVICE, trio.EndOfChannel)

    def __init__(self, **options: Any) -> None:
        super().__init__()
        self.primitive: Any = Buffer(ROOM, **options)
        self.taken: list[str] = []

    async def put(self, item: str) -> None:
        await self.primitive.put(item)

    async def get(self) -> str:
        found: str = await self.primitive.get()
        return found

    async def wait(self, who: str) -> None:
        if who == "both":
            await self.primitive.put_many(PUTS[who])
        elif who in PUTS:
            await self.put(*PUTS[who])
        elif who == "y":
            self.taken += await self.primitive.get_many(2)
        elif who == "batch":
            self.taken += await self.primitive.get_batch(2, max_wait=WINDOW)
        else:
            self.taken.append(await self.get())

    async def ask(self, who: str) -> None:
        await self.passes(who, self.wait(who))

    def withdraw(self, who: str) -> None:
        self.cancel("ask", who=who)

    async def take_out(self) -> None:
        gets = [who for who in self.waiting if who in GETS]
        if gets[:1] == ["batch"]:  # something is there, so it collects
            self.pass_time(WINDOW)
        else:
            await self.ask("x")

    async def put_in(self) -> None:
        await self.ask("a")

    def complete(self) -> None:
        self.primitive.complete()

    def told(self) -> Mapping[str, object]:
        return {
            "items": self.primitive.statistics().items,
            "taken": tuple(sorted(self.taken)),
            "completed": self.primitive.completed,
        }


class OfFirst(OfBuffer):
    """The only claim that `first_of` is given."""

    async def put(self, item: str) -> None:
        await first_of(self.primitive.put_claim(item))

    async def get(self) -> str:
        found: str = (await first_of(self.primitive.get_claim())).item
        return found


class OfChannel(OfBuffer):
    """The ends of a buffer."""

    def __init__(self) -> None:
        super().__init__()
        self.sending: SendingEnd[str]
        self.receiving: ReceivingEnd[str]
        self.sending, self.receiving = open_channel(ROOM)
        self.primitive = self.sending.buffer

    def complete(self) -> None:
        self.sending.close()

    async def put(self, item: str) -> None:
        await self.sending.send(item)

    async def get(self) -> str:
        found: str = await self.receiving.receive()
        return found


class OfBroadcast(OfBuffer):
    """A broadcast with one consumer is a buffer."""

    def __init__(self) -> None:
        super().__init__()
        self.broadcast = Broadcast[str](ROOM)
        self.subscription = self.broadcast.subscribe()
        self.primitive = self.subscription._buffer

    async def put(self, item: str) -> None:
        await self.broadcast.put(item)

    async def get(self) -> str:
        return await self.subscription.get()

    def complete(self) -> None:
        self.broadcast.complete()

    def close(self) -> None:
        self.broadcast.close()

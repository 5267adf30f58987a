"""Monitors with guards, and synchronizers over them, held against their specifications."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

import trio

from structsync import Monitor, Synchronizer, entry
from structsync.specs._box import CALLS, ROOM
from structsync.specs._switches import CALLS as SWITCHED
from structsync.specs.monitor import EFFECTS, HALF_FULL, MonitorSpec
from structsync.specs.synchronizer import SynchronizerSpec

from .users import OUT_OF_SERVICE, Seen, Users


class Defect(Exception):
    """What guards and triggers raise."""


# ==== Monitors with guards ====


class SeenMonitor(Seen, MonitorSpec):
    def told(self) -> Mapping[str, object]:
        return {"inside": self.inside, "items": self.core.items}


class Box(Monitor):
    """What the specification guards, as a user would write it."""

    def __init__(self, stay: Callable[[], Awaitable[None]]) -> None:
        super().__init__()
        self.items = 0
        self.stay = stay

    def has_room(self) -> bool:
        return self.items < ROOM

    @entry(when=lambda self: self.has_room())
    async def put(self) -> None:
        await self.stay()

    @entry(when=lambda self, number: number <= self.items)
    async def take(self, number: int) -> None:
        await self.stay()

    def risk_it(self) -> bool:
        if self.items == ROOM:
            raise Defect
        return False

    @entry(when=lambda self: self.risk_it())
    async def fragile(self) -> None:
        await self.stay()

    @entry
    async def look(self) -> None:
        await self.stay()


class Callers(Users):
    """Each name makes a call, and stays inside until it is told to leave."""

    told_by = (*OUT_OF_SERVICE, Defect)

    def __init__(self) -> None:
        super().__init__()
        self.tasks: dict[object, str] = {}

    def who(self) -> str:
        return self.tasks[trio.lowlevel.current_task()]

    async def calls(self, who: str, call: Awaitable[object]) -> None:
        self.tasks[trio.lowlevel.current_task()] = who
        self.waiting.append(who)
        try:
            await call
        except self.told_by:
            pass
        finally:
            if who in self.waiting:
                self.waiting.remove(who)

    async def stays(self) -> str:
        """Be inside, until it is said how to leave."""
        self.waiting.remove(self.who())
        return await self.holds(self.who())


class OfMonitor(Callers):
    def __init__(self) -> None:
        super().__init__()
        self.primitive = self.box = Box(self.stay)

    async def stay(self) -> None:
        how = await self.stays()
        items = self.box.items + EFFECTS[self.who()]
        self.box.items = HALF_FULL if how == "half" else min(max(items, 0), ROOM)

    async def enter(self, who: str) -> None:
        name, arguments = CALLS[who]
        await self.calls(who, getattr(self.box, name)(*arguments))

    def withdraw(self, who: str) -> None:
        self.cancel("enter", who=who)

    def leave(self, who: str) -> None:
        self.tell(who)

    def leave_it_half_full(self, who: str) -> None:
        self.tell(who, "half")

    def change_from_outside(self, items: int) -> None:
        self.box.items = items
        self.box.changed()

    def unconstrain(self) -> None:
        self.box.unconstrain(self.box.put)

    def constrain(self) -> None:
        self.box.constrain(self.box.put, self.box.has_room)

    def take_out(self) -> None:
        self.box.take.close()

    def told(self) -> Mapping[str, object]:
        return {"inside": tuple(self.holding), "items": self.box.items}


# ==== Synchronizers ====


class SeenSynchronizer(SynchronizerSpec):
    def observed(self) -> Mapping[str, object]:
        return {
            "waiting": tuple(sorted(self.waiting())),
            "queues": tuple([len(one.queue) for one in self.core.monitors]),
            "inside": self.inside,
            "lit": self.core.lit,
        }


class OfSynchronizer(Callers):
    def __init__(self) -> None:
        super().__init__()
        self.monitors = (Monitor(), Monitor())
        self.lit = 0
        self.entries = {
            (at, name): self.monitors[at].entry(self.stay) for at, name in {*SWITCHED.values()}
        }

    async def stay(self) -> None:
        await self.stays()

    async def call(self, who: str) -> None:
        await self.calls(who, self.entries[SWITCHED[who]]())

    def withdraw(self, who: str) -> None:
        self.cancel("call", who=who)

    def leave(self, who: str) -> None:
        self.tell(who)

    def leave_while_there_are_no_rules(self, who: str) -> None:
        self.tell(who)

    async def begin(self) -> None:
        self.lit = 0
        async with Synchronizer() as rules:
            for (_, name), one in self.entries.items():
                if name == "on":
                    rules.disable(one, self.is_lit)
                    rules.trigger(one, self.switch_on)
                elif name in ("off", "fragile"):
                    rules.trigger(one, self.switch_off)
                if name == "fragile":
                    rules.trigger(one, self.fail)
            rules.atomic(self.entries[0, "join"], self.entries[1, "join"])
            await self.order("rules")

    def is_lit(self) -> bool:
        return self.lit > 0

    def switch_on(self) -> None:
        self.lit += 1

    def switch_off(self) -> None:
        self.lit = 0

    def fail(self) -> None:
        raise Defect

    def end(self) -> None:
        self.lit = 0
        self.tell("rules")

    def close(self) -> None:
        self.entries[1, "join"].close()

    def state(self) -> Mapping[str, object]:
        return {
            "waiting": self.waits(),
            "queues": tuple([one.statistics().tasks_waiting for one in self.monitors]),
            "inside": self.holds_it(),
            "lit": self.lit,
        }

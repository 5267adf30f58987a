"""Conditions of locks and of monitors, held against their specifications.

A task that is inside, or owns the lock, does one thing after the other as the steps say.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import trio

from structsync import Condition, Lock, Monitor, MonitorCondition
from structsync.checking import action, start
from structsync.specs import _monitor_with_condition as stage
from structsync.specs import condition as conditions
from structsync.specs._lock_with_conditions import CONDITIONS
from structsync.specs.condition import ConditionSpec
from structsync.specs.mesa_condition import MesaSpec
from structsync.specs.monitor_condition import HoareSpec

from .users import OUT_OF_SERVICE, Users

ENTERS, INSIDE, WAITS, URGENT = "enters", "inside", "waits", "urgent"


class InTurn(Users):
    """A task inside waits, notifies, signals or leaves, one after the other as it is told."""

    def __init__(self) -> None:
        super().__init__()
        self.places: dict[str, str] = {}
        self.scopes: dict[str, trio.CancelScope] = {}

    async def acts(self, who: str) -> str:
        """Do what is told; return how to leave."""
        while True:
            self.places[who] = INSIDE
            how = await self.order(who)
            if how in ("leave", "disappear"):
                return how
            if not await self.act(who, how):
                return "gone"

    async def act(self, who: str, how: str) -> bool:
        """Do one thing; return whether it is inside still."""
        raise NotImplementedError

    async def waits_on(self, who: str, condition: Any) -> None:
        self.places[who] = WAITS
        with trio.CancelScope() as self.scopes[who]:
            await condition.wait()

    def leave(self, who: str) -> None:
        self.tell(who, "leave")

    def where(self) -> tuple[tuple[str, str], ...]:
        return tuple(sorted(self.places.items()))


#: The stages of the specifications as they are seen: no task is told that it was notified.
OF_STAGE = {
    stage.ENTERS: ENTERS,
    stage.INSIDE: INSIDE,
    stage.BACK: INSIDE,
    stage.WAITS: WAITS,
    stage.NOTIFIED: WAITS,
    stage.RAISES: WAITS,
    stage.URGENT: URGENT,
}


def seen_of(spec: Any, tasks: tuple[str, ...], names: Mapping[str, str]) -> object:
    pairs = zip(tasks, spec.stages, strict=True)
    return tuple(sorted((who, names[at]) for who, at in pairs if at in names))


class SeenStage(stage.MonitorWithConditionSpec):
    abstract = True

    def observed(self) -> Mapping[str, object]:
        where = seen_of(self, stage.TASKS, OF_STAGE)
        return {"where": where, "item": self.item, "waiters": len(self.waiters())}


class SeenMesa(SeenStage, MesaSpec):
    pass


class SeenHoare(SeenStage, HoareSpec):
    pass


class OfStage(InTurn):
    """A monitor with one condition."""

    def __init__(self, discipline: Any) -> None:
        super().__init__()
        self.monitor = Monitor(discipline=discipline)
        self.condition: MonitorCondition = self.monitor.condition()
        self.entry = self.monitor.entry(self.acts)
        self.item = False

    async def enter(self, who: str) -> None:
        self.places[who] = ENTERS
        await self.entry(who)
        del self.places[who]

    async def act(self, who: str, how: str) -> bool:
        if how == "wait":
            await self.waits_on(who, self.condition)
        elif how == "consume":
            self.item = False
        elif how == "notify":
            self.item = True
            self.condition.notify()
        else:
            self.item = True
            self.places[who] = URGENT
            await self.condition.signal()
        return True

    def wait(self, who: str) -> None:
        self.tell(who, "wait")

    def consume(self, who: str) -> None:
        self.tell(who, "consume")

    def make_and_notify(self, who: str) -> None:
        self.tell(who, "notify")

    def make_and_signal(self, who: str) -> None:
        self.tell(who, "signal")

    def find_it(self, who: str) -> None:
        """It goes on."""

    def wait_again(self, who: str) -> None:
        self.wait(who)

    def cancel(self, who: str) -> None:  # type: ignore[override]  # the step is called so
        self.scopes[who].cancel()

    def state(self) -> Mapping[str, object]:
        waiters = self.condition.statistics().tasks_waiting
        return {"where": self.where(), "item": self.item, "waiters": waiters}


OF_CONDITION = {
    conditions.ACQUIRES: ENTERS,
    conditions.OWNS: INSIDE,
    conditions.RAISES: WAITS,
    **{
        place: WAITS
        for places in (conditions.WAITS, conditions.NOTIFIED)
        for place in places.values()
    },
}


class SeenCondition(ConditionSpec):
    """A task disappears once."""

    vanished: tuple[str, ...] = start(tuple)

    def there(self) -> list[str]:
        return [who for who in conditions.at(conditions.OWNS)(self) if who not in self.vanished]

    @action(who=there, when=conditions.lock_usable)
    def owner_disappears(self, who: str) -> None:
        self.vanished = (who,)
        super().owner_disappears(who)

    @action(who=there)
    def release(self, who: str) -> None:
        super().release(who)

    @action(who=there, on=CONDITIONS, number=(1, 2))
    def notify(self, who: str, on: str, number: int) -> None:
        super().notify(who, on, number)

    @action(who=there, on=CONDITIONS)
    def notify_all(self, who: str, on: str) -> None:
        super().notify_all(who, on)

    def observed(self) -> Mapping[str, object]:
        where = dict(seen_of(self, conditions.TASKS, OF_CONDITION))  # type: ignore[call-overload]
        queues = (self.core.lock, *self.core.conditions.values())
        return {
            "where": tuple(pair for pair in where.items() if pair[0] not in self.vanished),
            "queues": tuple([len(one.queue) for one in queues]),
        }


class OfCondition(InTurn):
    """Two conditions on one lock."""

    def __init__(self) -> None:
        super().__init__()
        self.lock = Lock()
        self.conditions = {on: Condition(self.lock) for on in CONDITIONS}

    async def acquire(self, who: str) -> None:
        self.places[who] = ENTERS
        try:
            await self.lock.acquire()
            if await self.acts(who) == "leave":
                self.lock.release()
        except OUT_OF_SERVICE:
            pass
        finally:
            del self.places[who]

    async def act(self, who: str, how: str) -> bool:
        what, _, on = how.partition(" ")
        if what == "wait":
            with suppress(*OUT_OF_SERVICE):
                await self.waits_on(who, self.conditions[on])
            # It is not owned where the lock itself is out of service.
            return self.lock.statistics().owner is trio.lowlevel.current_task()
        if what == "all":
            self.conditions[on].notify_all()
        else:
            self.conditions[on].notify(int(what))
        return True

    def give_up(self, who: str) -> None:  # type: ignore[override]  # the step is called so
        Users.cancel(self, "acquire", who=who)

    def release(self, who: str) -> None:
        self.tell(who, "leave")

    def wait(self, who: str, on: str) -> None:
        self.tell(who, f"wait {on}")

    def notify(self, who: str, on: str, number: int) -> None:
        self.tell(who, f"{number} {on}")

    def notify_all(self, who: str, on: str) -> None:
        self.tell(who, f"all {on}")

    def cancel(self, who: str, on: str) -> None:  # type: ignore[override]  # as above
        self.scopes[who].cancel()

    def close_condition(self, on: str) -> None:
        self.conditions[on].close()

    def close_lock(self) -> None:
        self.lock.close()

    def owner_disappears(self, who: str) -> None:
        self.tell(who, "disappear")

    def state(self) -> Mapping[str, object]:
        queues = (self.lock, *self.conditions.values())
        return {
            "where": self.where(),
            "queues": tuple([one.statistics().tasks_waiting for one in queues]),
        }

"""What the events of three primitives mean to their specifications.

The specifications are those that ship; each is told here which tasks of a program are its names.
"""

from collections.abc import Mapping
from typing import Any

import trio

from structsync import Condition, Lock, Monitor, Semaphore, entry
from structsync.checking import Call, Meaning, TraceEvent, action, start
from structsync.specs._lock_with_conditions import CONDITIONS
from structsync.specs.condition import NOTIFIED, OWNS, RAISES, WAITS, ConditionSpec, at
from structsync.specs.monitor import MonitorSpec
from structsync.specs.semaphore import FULL, SemaphoreSpec

# ==== semaphore ====


class TracedSemaphore(SemaphoreSpec):
    """Tasks have the names of the specification, and ask for the weights that it gives them."""

    def explain(self, event: TraceEvent) -> Meaning:
        who, n = event.task, event.details.get("n")
        match event.kind:
            case "requested":
                return Call("request", who=who) if n == self.weights[str(who)] else False
            case "granted":
                return who in self.granted()
            case "withdrawn":
                return Call("withdraw", who=who)
            case "released":
                return Call("release" if n == self.out.count(str(who)) else "release_one", who=who)
            case "changed":
                size = event.details["resize"]
                return Call("grow") if size == FULL else Call("resize", size=size)
            case "closed":
                return Call("close")
            case _:
                return who not in self.in_queue()  # broken: it was in the queue, and has been told

    def observed(self) -> Mapping[str, object]:
        return {"value": self.core.value, "waiting": len(self.core.queue), "out": self.out}


def seen_of_semaphore(semaphore: Semaphore) -> dict[str, object]:
    return {"value": semaphore.value, "waiting": semaphore.statistics().tasks_waiting}


# ==== condition ====


class TracedCondition(ConditionSpec):
    """Nothing tells when a wait is cancelled, only later that its task has the lock again."""

    unseen_actions = ("cancel",)
    given_up: frozenset[str] = start(frozenset)  # whose wait ends with an error

    @action(
        who=at(*WAITS.values(), *NOTIFIED.values()),
        on=CONDITIONS,
        when=lambda spec, who, on: spec.stage(who) in (WAITS[on], NOTIFIED[on]),
    )
    def cancel(self, who: str, on: str) -> None:
        super().cancel(who, on)
        self.given_up |= {who}

    def explain(self, event: TraceEvent) -> Meaning:
        who, on, kind = str(event.task), event.primitive, event.kind
        if on == "lock":
            if kind == "released":
                # of a wait: it has given the lock up already
                return Call("release", who=who) if self.stage(who) == OWNS else self.waits(who)
            meanings: dict[str, Meaning] = {
                "requested": Call("acquire", who=who),
                "granted": who in self.granted() and self.stage(who) == OWNS,
                "withdrawn": Call("give_up", who=who),
                "closed": Call("close_lock"),
            }
            return meanings[kind]
        if kind == "requested":
            return Call("wait", who=who, on=on)
        if kind == "changed":
            number = event.details["notify"]
            return (
                Call("notify_all", who=who, on=on)
                if number is None
                else Call("notify", who=who, on=on, number=number)
            )
        if kind == "closed":
            return Call("close_condition", on=on)
        return self.stage(who) == OWNS and (kind == "withdrawn") == (who in self.given_up)

    def waits(self, who: str) -> bool:
        return self.stage(who) in (*WAITS.values(), *NOTIFIED.values(), RAISES)


# ==== monitor ====

ENTRIES = {"put": ("puts", "puts too"), "take": ("takes one", "takes two"), "look": ("looks",)}


class TracedMonitor(MonitorSpec):
    """Each task makes the one call that the specification has for its name."""

    def explain(self, event: TraceEvent) -> Meaning:
        who = event.task
        match event.kind:
            case "requested":
                return who in ENTRIES[event.details["entry"]] and Call("enter", who=who)
            case "granted":
                return who in self.granted()
            case "withdrawn":
                return Call("withdraw", who=who)
            case "released":
                return Call("leave", who=who)
            case _:
                return Call("close")

    def observed(self) -> Mapping[str, object]:
        return {"items": self.core.items, "waiting": len(self.core.queue)}


class Box(Monitor):
    """The box of the specification as a user would write it."""

    def __init__(self) -> None:
        super().__init__()
        self.items = 0

    @entry(when=lambda self: self.items < 2)
    async def put(self) -> None:
        await trio.lowlevel.checkpoint()
        self.items += 1

    @entry(when=lambda self, number: number <= self.items)
    async def take(self, number: int) -> None:
        await trio.lowlevel.checkpoint()
        self.items -= number

    @entry
    async def look(self) -> int:
        return self.items


def seen_of_box(box: Box) -> dict[str, object]:
    return {"items": box.items, "waiting": box.statistics().tasks_waiting}


# ==== programs ====


async def use(semaphore: Semaphore, n: int, patience: float, work: float) -> None:
    with trio.move_on_after(patience):
        await semaphore.acquire(n)
        with trio.CancelScope(shield=True):
            await trio.sleep(work)
        semaphore.release(n)


async def several_users(semaphore: Semaphore) -> None:
    """c passes no task; d is too large at first; b gives up, which lets no task pass."""
    async with trio.open_nursery() as nursery:
        plan: dict[str, tuple[int, float, float]] = {
            "a": (1, 9, 3),
            "b": (2, 0.5, 1),
            "c": (1, 9, 1),
            "e": (2, 9, 1),
            "f": (1, 9, 2),
        }
        for who, arguments in plan.items():
            nursery.start_soon(use, semaphore, *arguments, name=who)
            await trio.sleep(0.1)
        await trio.sleep(0.1)
        semaphore.resize(3)
        nursery.start_soon(use, semaphore, 3, 9, 1, name="d")
        await trio.sleep(0.1)
    semaphore.resize(1)
    semaphore.close()


async def wait(condition: Condition, scope: trio.CancelScope) -> None:
    with scope:
        async with condition:
            await condition.wait()


async def notify_and_cancel(lock: Lock, full: Condition, empty: Condition) -> None:
    """b is cancelled when it is notified, so that c gets what it was notified of."""
    scopes: dict[str, Any] = {who: trio.CancelScope() for who in "abc"}
    async with trio.open_nursery() as nursery:
        for who, on in (("a", empty), ("b", full), ("c", full)):
            nursery.start_soon(wait, on, scopes[who], name=who)
            await trio.sleep(0.1)

        async def notify() -> None:
            async with full:
                full.notify(1)
                scopes["b"].cancel()
                await trio.sleep(0.1)
            async with empty:
                empty.notify_all()
            with trio.move_on_after(0.1):
                await lock.acquire()
                lock.release()

        nursery.start_soon(notify, name="d")
    full.close()
    lock.close()


async def fill_and_empty(box: Box) -> None:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(box.take, 2, name="takes two")
        await trio.sleep(0.1)
        nursery.start_soon(box.take, 1, name="takes one")
        await trio.sleep(0.1)
        for who in ("puts", "puts too"):
            nursery.start_soon(box.put, name=who)
        nursery.start_soon(box.look, name="looks")
        await trio.sleep(0.1)
        nursery.start_soon(box.put, name="puts")
        await trio.sleep(0.1)
        nursery.cancel_scope.cancel()
    box.close()

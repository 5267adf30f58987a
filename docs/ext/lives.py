"""How requests live, found out by running the real cores: the pictures follow the code.

A world is a small situation with one request to watch and a few things that may happen to it. Every
sequence of them is played on fresh cores; what is drawn is each change of the request's stage that
was seen. Nothing here knows which changes there ought to be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import product
from typing import Any, NamedTuple, TypeAlias

from structsync._core.primitives.condition import ConditionCore
from structsync._core.primitives.lock import LockCore
from structsync._core.primitives.semaphore import SemaphoreCore
from structsync._core.queue.request import Request

# Everything that can happen to a request happens within so many steps: one to grant or to end it,
# one ahead of it, and one afterwards that must not change anything.
STEPS = 4

# What may happen, by the words that the picture uses. A refusal (an exception) changes nothing.
Acts: TypeAlias = dict[str, Callable[[], object]]
# From stage, to stage, and the words for what leads there; from None: how it begins.
Edges: TypeAlias = dict[tuple[str | None, str], list[str]]


class World(NamedTuple):
    """A situation on fresh cores."""

    begins: str
    stage: Callable[[], str]
    acts: Acts


def edges(worlds: Iterable[Callable[[], World]]) -> Edges:
    """Play every sequence of acts in every world; return the changes of stage that were seen."""
    found: Edges = {}

    def note(source: str | None, target: str, words: str) -> None:
        known = found.setdefault((source, target), [])
        if words not in known:
            known.append(words)

    for make in worlds:
        note(None, make().stage(), make().begins)
        for sequence in product(make().acts, repeat=STEPS):
            world = make()
            for words in sequence:
                before = world.stage()
                try:
                    world.acts[words]()
                except (ValueError, RuntimeError):
                    continue
                if world.stage() != before:
                    note(before, world.stage(), words)
    return found


# ==== a request in any queue ====


def at_once() -> World:
    core = SemaphoreCore(1)
    ours = core.submit(1)
    acts: Acts = {"withdraw()": lambda: core.withdraw(ours), "close()": lambda: core.end("closed")}
    return World("requested, and it fits", lambda: ours.status, acts)


def in_queue() -> World:
    core = SemaphoreCore(1, max_value=2)
    core.submit(1)
    ahead = core.submit(2)
    ours = core.submit(1)
    acts: Acts = {
        "enough is released": lambda: core.release(1),
        "a larger claim ahead withdraws": lambda: core.withdraw(ahead),
        "the limit grows": lambda: core.resize(5),
        "withdraw(), or its acquire() is cancelled": lambda: core.withdraw(ours),
        "close()": lambda: core.end("closed"),
    }
    return World("requested, and it has to wait", lambda: ours.status, acts)


def behind_an_owner() -> World:
    core = LockCore()
    core.submit("owner")
    ours = core.submit("we")
    acts: Acts = {"the owner's task ends": lambda: core.owner_exited("owner", "owner exited")}
    return World("requested, and it has to wait", lambda: ours.status, acts)


REQUEST = (at_once, in_queue, behind_an_owner)


# ==== a wait on a condition, which has two stages ====


class Waits:
    """Two tasks wait on a condition, one after the other; a third one owns the lock."""

    def __init__(self) -> None:
        self.lock = LockCore()
        self.condition = ConditionCore(self.lock)
        self.first, self.second = [self._wait(name) for name in ("first", "second")]
        self.lock.submit("notifier")

    def _wait(self, name: str) -> Request[Any]:
        self.lock.submit(name)
        request, _ = self.condition.wait(name, name)
        return request

    def is_in_queue(self, request: Request[Any]) -> bool:
        return any(one is request for one in self.condition.queue)

    def stage(self, request: Request[Any]) -> str:
        if self.is_in_queue(request):
            return "waiting"
        if self.lock.owner == request.claim:
            return "returns" if request.status == "granted" else "raises"
        return "notified" if request.status == "pending" else "rejoining"

    def notify(self) -> None:
        self.condition.refuse_unless_owner("notifier", "notify")
        self.condition.notify(1)

    def release(self) -> None:
        if self.lock.owner == "first":
            raise RuntimeError("its wait is over; what it does with the lock is no part of it")
        self.lock.release(self.lock.owner)

    def cancel_notified(self, request: Request[Any]) -> None:
        if not self.is_in_queue(request):
            self.condition.cancel(request)


def head_of_a_condition() -> World:
    waits = Waits()
    acts: Acts = {
        "notify()": waits.notify,
        "it gets the lock": waits.release,
        "cancelled": lambda: waits.condition.cancel(waits.first),
    }
    return World("wait()", lambda: waits.stage(waits.first), acts)


def next_on_a_condition() -> World:
    waits = Waits()
    acts: Acts = {
        "notify()": waits.notify,
        "a notified one ahead is cancelled": lambda: waits.cancel_notified(waits.first),
    }
    return World("wait()", lambda: waits.stage(waits.second), acts)


CONDITION = (head_of_a_condition, next_on_a_condition)

"""What must hold after each step of those in the queues of the primitives of structsync."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from trio.lowlevel import Task

import structsync
from structsync._core.queue.request import GRANTED, PENDING, Request
from structsync._core.queue.state import PrimitiveState
from structsync._runtime.events import EventKind, PrimitiveEvent
from structsync._runtime.live import Live, everywhere, without_event
from structsync._runtime.primitive import Primitive
from structsync.checking.invariants import is_grantable, nothing_grantable_waits

from .addresses import address_of

#: To which queues events are told: those of the execution that runs, while a task waits there.
_hearing: list[WatchedQueues] = []


def hear(event: PrimitiveEvent) -> None:
    """Hand an event on to the execution in which it happens."""
    _hear(event.kind, event.primitive, event.task)


def _hear(kind: EventKind, primitive: Live[Any], task: Task | None) -> None:
    for queues in _hearing:
        queues.on_event(kind, primitive, task)


without_event[hear] = _hear


def hear_nothing() -> None:
    """Leave events unheard: they take time, and where no task waits none is passed."""
    if _hearing:
        _hearing.clear()
        with contextlib.suppress(ValueError):  # taken out already, should it have raised
            everywhere.remove(hear)


class _WatchedQueue:
    """The queue of one primitive, as it was seen last."""

    __slots__ = ("before", "core", "is_condition", "is_one", "is_plain", "primitive", "title")

    def __init__(self, primitive: Primitive[Any], title: Callable[[], str]) -> None:
        self.primitive = primitive
        self.title = title
        self.core = core = primitive._core
        kind = type(core)
        self.is_one = core.policy.name == "fifo" and core.policy.single_queue
        """Whether no request may pass another."""
        self.is_plain = (
            self.is_one
            and core.policy.head_blocks
            and kind.waiting is PrimitiveState.waiting
            and kind.next_ones is PrimitiveState.next_ones
        )
        """Whether the core's queue is all of it, and its head all that can be granted next."""
        # A condition's waiter leaves its queue when it is notified, and is granted the lock.
        conditions = structsync.Condition, structsync.MonitorCondition
        self.is_condition = isinstance(primitive, conditions)
        self.before: list[Request[Any]] = []
        """The requests that waited after the step before."""


class WatchedQueues:
    """The queues of one execution."""

    def __init__(self) -> None:
        self._queues: list[_WatchedQueue] = []
        self._granted: dict[int, int] = {}
        self._released: tuple[Live[Any], Task | None] | None = None
        self._hears = False
        hear_nothing()

    def add(self, primitive: Primitive[Any], title: Callable[[], str]) -> None:
        """Watch the queue of a primitive; ``title`` returns what it is called by then."""
        self._queues.append(_WatchedQueue(primitive, title))

    def on_event(self, kind: EventKind, primitive: Live[Any], task: Task | None) -> None:
        """Note which claims were granted."""
        if kind == "granted" and not self._becomes_a_reader(primitive, task):
            at = address_of(primitive)
            self._granted[at] = self._granted.get(at, 0) + 1
        self._released = (primitive, task) if kind == "released" else None

    def _becomes_a_reader(self, primitive: Live[Any], task: Task | None) -> bool:
        # It passes no request; its events are a release and a grant of what was not requested.
        before = self._released
        return (
            before is not None
            and before[0] is primitive
            and before[1] is task
            and isinstance(primitive, structsync.RWLock)
        )

    def violated(self) -> str | None:
        """Return what does not hold after a step."""
        hears, found = False, None
        for watched in self._queues:
            core, before = watched.core, watched.before
            head = core.queue.head if watched.is_plain else None  # not every queue knows it
            waits = head is not None if watched.is_plain else bool(core.queue)
            if not waits and not before:
                continue
            if waits and (
                not nothing_grantable_waits(core) if head is None else is_grantable(core, head)
            ):
                found = found or (
                    f"{watched.title()}: a task waits for what could be granted (lost wakeup)"
                )
            watched.before = waiting = _in(head) if watched.is_plain else core.waiting()
            if waiting:
                hears = True
            granted = self._granted.get(address_of(watched.primitive), 0) if self._granted else 0
            # Where nothing was granted, and no request came or went, none was passed.
            if before and watched.is_one and (granted or waiting != before):
                newcomers = 0 if watched.is_condition else granted
                if _overtaken(before, newcomers):
                    found = found or (
                        f"{watched.title()}: a grant has passed a request that was ahead of it in the queue"
                    )
        if hears or self._hears:
            self._granted.clear()
            self._released = None
            if hears is not self._hears:
                self._listen(hears)
        return found

    def _listen(self, hears: bool) -> None:
        """Listen from now on to the events, or do not."""
        self._hears = hears
        if hears:
            _hearing.append(self)
            everywhere.append(hear)
        else:
            hear_nothing()


def _in(head: Request[Any] | None) -> list[Request[Any]]:
    """Return the requests from one on: what ``list(queue)`` returns, in half of its time."""
    found = []
    while head is not None:
        found.append(head)
        head = head.behind
    return found


def _overtaken(before: list[Request[Any]], granted: int) -> bool:
    """Return whether the queue was passed: by one in it, or by a grant to a request that was not."""
    served = [request.status is GRANTED for request in before]
    waits = [request.status is PENDING for request in before]
    if True not in waits:
        return False
    first = waits.index(True)
    return True in served[first:] or granted > sum(served)

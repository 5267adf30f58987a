"""Which task touched which owned primitive, so that trio tells us when an owner ends (C5).

A task keeps weak references to what it held or queued for, until it ends; the primitive knows these
tasks. Nothing is noted at a release: adding and removing a breaker at every acquire and release, as
trio's own lock does, costs a third of an uncontended acquire.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast
from weakref import ref

from trio.lowlevel import ParkingLot, Task, add_parking_lot_breaker, current_task

from structsync._core.queue.claimants import ClaimantArbiter
from structsync._core.queue.owned import OwnedArbiter

from .live import Live


class Touched:
    """The owned primitives that a live task held, or has or had a request for."""

    __slots__ = ("primitives", "purge_at")

    def __init__(self, live: Live[Any], claim: Any) -> None:
        self.primitives: list[tuple[ref[Live[Any]], Any]] = [(ref(live), claim)]  # each once
        self.purge_at = 16

    def add(self, live: Live[Any], claim: Any) -> None:
        """Add a primitive and a claim that are not there; forget what is gone, now and then."""
        if len(self.primitives) >= self.purge_at:
            self.primitives = [each for each in self.primitives if each[0]() is not None]
            self.purge_at = 2 * len(self.primitives) + 16
        self.primitives.append((ref(live), claim))

    def break_lot(self, task: Task) -> None:
        """Called by trio when the task has ended; must not raise and must not remove a breaker."""
        del _by_task[task]
        for reference, claim in self.primitives:
            live = reference()
            if live is not None:
                cast("set[Any]", live._touched_by).discard(claim)
                cast(Any, live)._owner_exited(task, claim)  # what is owned is a Primitive


_by_task: dict[Task, Touched] = {}


def note(live: Live[Any], claim: Any) -> None:
    """Note that the current task, which has not made this claim yet, holds it or queues for it."""
    task = current_task()
    touched = _by_task.get(task)
    if touched is None:
        touched = Touched(live, claim)
        # Of a parking lot trio uses only break_lot() here; a real one would cost a queue of its own.
        add_parking_lot_breaker(task, cast(ParkingLot, touched))
        _by_task[task] = touched
    else:
        touched.add(live, claim)
    if not isinstance(live._touched_by, set):
        live._touched_by = set()
    live._touched_by.add(claim)


def left_by(task: Task) -> list[Live[Any]]:
    """Break what a task that goes on still owns, as if it had ended; return that.

    What it left in a queue is withdrawn.
    """
    touched = _by_task.get(task)
    if touched is None:
        return []
    primitives, touched.primitives = touched.primitives, []
    broken = []
    for reference, claim in primitives:
        live = reference()
        if live is not None:
            cast("set[Any]", live._touched_by).discard(claim)
            owned = _held(live, task, claim) is not None
            cast(Any, live)._owner_exited(task, claim)
            if owned:
                broken.append(live)
    return broken


def owned_by(task: Task) -> Iterator[Live[Any]]:
    """Yield what a task owns of what breaks when it ends."""
    touched = _by_task.get(task)
    for reference, claim in () if touched is None else touched.primitives:
        live = reference()
        if live is not None and _held(live, task, claim) is not None:
            yield live


def release_all_of(task: Task) -> list[Live[Any]]:
    """Release what the current task owns; return that."""
    touched = _by_task.get(task)
    released = []
    for reference, claim in [] if touched is None else touched.primitives:
        live = reference()
        held = None if live is None else _held(live, task, claim)
        if held is not None:
            cast(Any, live)._release(held)
            released.append(cast("Live[Any]", live))
    return released


def _held(live: Live[Any], task: Task, claim: Any) -> Any:
    """Return the claim that a task holds, if it is this one or of one claim at a time; else None."""
    core = live._core
    if isinstance(core, OwnedArbiter):
        return claim if core.holds(claim) else None
    return cast("ClaimantArbiter", core).held_by(task)

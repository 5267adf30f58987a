"""What each task owns, so that trio tells us when an owner ends (C5).

One breaker per task stays registered with trio until the task ends; adding and removing one at every
acquire and release, as trio's own lock does, costs a third of an uncontended acquire.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from trio.lowlevel import ParkingLot, Task, add_parking_lot_breaker

if TYPE_CHECKING:
    from structsync._core.primitives.rwlock import Access

    from .primitive import OwnedPrimitive


class Holdings:
    """The owned primitives that a live task holds or has a request for."""

    __slots__ = ("primitives",)

    def __init__(self) -> None:
        self.primitives: dict[OwnedPrimitive[Any], None] = {}

    def break_lot(self, task: Task) -> None:
        """Called by trio when the task has ended; must not raise and must not remove a breaker."""
        del _by_task[task]
        for primitive in self.primitives:
            primitive._owner_exited(task)


_by_task: dict[Task, Holdings] = {}


def hold(claim: Task | Access, primitive: OwnedPrimitive[Any]) -> None:
    """Note that the claim's task owns the primitive, or has a request for it."""
    task = claim if isinstance(claim, Task) else cast(Task, claim.claimant)
    holdings = _by_task.get(task)
    if holdings is None:
        holdings = Holdings()
        # Of a parking lot trio uses only break_lot() here; a real one would cost a queue of its own.
        add_parking_lot_breaker(task, cast(ParkingLot, holdings))
        _by_task[task] = holdings
    holdings.primitives[primitive] = None


def drop(claim: Task | Access, primitive: OwnedPrimitive[Any]) -> None:
    """Note that the claim's task no longer owns the primitive."""
    task = claim if isinstance(claim, Task) else cast(Task, claim.claimant)
    holdings = _by_task.get(task)
    if holdings is not None:
        holdings.primitives.pop(primitive, None)

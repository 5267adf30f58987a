"""Which cores can be shared, and how they are driven by operations."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from structsync._core.primitives.barrier import BarrierCore
from structsync._core.primitives.latch import LatchCore
from structsync._core.primitives.lock import LockCore
from structsync._core.primitives.rwlock import Access, Mode, RWLockCore
from structsync._core.primitives.semaphore import SemaphoreCore
from structsync._core.queue.arbiter import Arbiter
from structsync._core.queue.request import Request

from .operations import Key, Want

CONDITION, HOST = "condition", "host"


class Kind(ABC):
    """What differs between the cores."""

    name: ClassVar[str]
    holds: ClassVar[bool] = True  # whether what is granted must be released

    @abstractmethod
    def make(self, size: Any) -> Arbiter[Any]:
        """Return a new core.

        Raises:
          ValueError: if there is none of that size.
        """

    def claim(self, want: Want, key: Key) -> Any:
        """Return the claim for what is wanted."""
        return key

    def submit(self, core: Any, want: Want, key: Key) -> list[Request[Any]]:
        """Make the claim, and return the requests that this ended; perhaps it alone, perhaps none."""
        request = core.submit(self.claim(want, key), waiter=key)
        return [] if request.queue is not None else [request]

    def value_of(self, request: Request[Any]) -> Any:
        """Return the value of a grant that need not be released."""
        return None

    def is_new(self, core: Any, size: Any) -> bool:
        """Return whether a core is no different from one made anew."""
        return bool(core.is_idle)


class SemaphoreKind(Kind):
    name = "semaphore"

    def make(self, size: Any) -> Arbiter[Any]:
        return SemaphoreCore(_counted(size, "permits"), max_value=size)

    def claim(self, want: Want, key: Key) -> Any:
        return _counted(want.amount, "permits")


class LockKind(Kind):
    name = "lock"

    def make(self, size: Any) -> Arbiter[Any]:
        return LockCore()


class HostKind(LockKind):
    """The name of an object that others call: one session has it at a time."""

    name = HOST


class RWLockKind(Kind):
    name = "rwlock"

    def make(self, size: Any) -> Arbiter[Any]:
        return RWLockCore()

    def claim(self, want: Want, key: Key) -> Any:
        return Access(Mode(want.amount), key)


class LatchKind(Kind):
    name = "latch"
    holds = False

    def make(self, size: Any) -> Arbiter[Any]:
        return LatchCore(_counted(size, "counts"))

    def claim(self, want: Want, key: Key) -> Any:
        return 0

    def is_new(self, core: Any, size: Any) -> bool:
        return bool(core.is_idle and core.count == size)


class BarrierKind(Kind):
    name = "barrier"
    holds = False

    def make(self, size: Any) -> Arbiter[Any]:
        return BarrierCore(_counted(size, "parties"))

    def claim(self, want: Want, key: Key) -> Any:
        return None

    def submit(self, core: Any, want: Want, key: Key) -> list[Request[Any]]:
        core.enqueue(self.claim(want, key), waiter=key)
        ended: list[Request[Any]] = core.complete_round() if core.full else []
        return ended

    def value_of(self, request: Request[Any]) -> Any:
        return request.claim  # the number within the round


KINDS = {
    kind.name: kind
    for kind in (
        SemaphoreKind(),
        LockKind(),
        HostKind(),
        RWLockKind(),
        LatchKind(),
        BarrierKind(),
    )
}


def _counted(number: Any, what: str) -> int:
    if type(number) is not int or number < 1:
        raise ValueError(f"the number of {what} must be an int >= 1, not {number!r}")
    return number

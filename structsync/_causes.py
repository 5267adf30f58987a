"""Why a primitive is out of service, as an object that makes the error for each waiter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import trio


@runtime_checkable
class Cause(Protocol):
    """Makes the error that waiters and later callers get."""

    def error(self) -> Exception: ...


@dataclass(frozen=True, slots=True)
class Closed:
    """Somebody called ``close()``."""

    name: str

    def error(self) -> Exception:
        return trio.ClosedResourceError(f"this {self.name} was closed")


@dataclass(frozen=True, slots=True)
class OwnerExited:
    """The task that owned it ended without giving it back (C5)."""

    name: str
    task: trio.lowlevel.Task

    def error(self) -> Exception:
        return trio.BrokenResourceError(
            f"Owner of this {self.name.lower()} exited without releasing: {self.task}"
        )


def error_of(cause: object) -> BaseException:
    """Return a fresh error for one waiter; a guard's own error is its own cause."""
    return cause if isinstance(cause, BaseException) else cause.error()  # type: ignore[attr-defined]

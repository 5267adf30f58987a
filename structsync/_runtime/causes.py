"""Why a primitive is closed or broken, as an object that makes the error for each waiter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias, cast

import trio


@dataclass(frozen=True, slots=True)
class Closed:
    """It was closed, by ``close()``."""

    name: str

    def error(self) -> Exception:
        return trio.ClosedResourceError(f"this {self.name} was closed")


@dataclass(frozen=True, slots=True)
class EntryClosed:
    """An entry was taken out of its monitor."""

    name: str

    def error(self) -> Exception:
        return trio.ClosedResourceError(f"the entry {self.name} was taken out of its monitor")


@dataclass(frozen=True, slots=True)
class OwnerExited:
    """The task that owned it ended without releasing it (C5)."""

    kind: str
    name: str | None
    task: trio.lowlevel.Task

    def error(self) -> Exception:
        name = "" if self.name is None else f" {self.name!r}"
        return trio.BrokenResourceError(
            f"Owner of this {self.kind.lower()}{name} exited without releasing: {self.task}"
        )


@dataclass(frozen=True, slots=True)
class ExitFailed:
    """The task that owned it ended, and its core, a user's, raised at that (C5)."""

    kind: str
    name: str | None
    task: trio.lowlevel.Task
    raised: BaseException

    def error(self) -> Exception:
        name = "" if self.name is None else f" {self.name!r}"
        broken = trio.BrokenResourceError(
            f"this {self.kind.lower()}{name} broke because its core failed when {self.task} exited: "
            f"{self.raised!r}; holds() must answer for every claim, and discharge() release what is held"
        )
        broken.__cause__ = self.raised
        return broken


@dataclass(frozen=True, slots=True)
class RoundBroken:
    """A party of a barrier left its round, or it was broken or reset."""

    reason: str

    def error(self) -> Exception:
        return trio.BrokenResourceError(f"this round of the Barrier is broken: {self.reason}")


@dataclass(frozen=True, slots=True)
class PoolEnded:
    """A pool was cancelled, by a job that failed or from outside."""

    name: str
    by_job: bool

    def error(self) -> Exception:
        how = "was cancelled, because a job of it failed" if self.by_job else "was cancelled"
        return trio.ClosedResourceError(f"this {self.name} {how}")


@dataclass(frozen=True, slots=True)
class Completed:
    """Nothing more may be put into a buffer."""

    name: str

    def error(self) -> Exception:
        return trio.ClosedResourceError(
            f"complete() was called on this {self.name}: nothing more can be put into it"
        )


@dataclass(frozen=True, slots=True)
class Drained:
    """A buffer is empty, and nothing more will be put into it."""

    name: str

    def error(self) -> Exception:
        return trio.EndOfChannel(f"this {self.name} is complete, and empty")


@dataclass(frozen=True, slots=True)
class EndClosed:
    """One end of a channel was closed, and others perhaps not."""

    name: str

    def error(self) -> Exception:
        return trio.ClosedResourceError(f"this {self.name} was closed")


@dataclass(frozen=True, slots=True)
class ReceiversGone:
    """No task is left that could get what is put in."""

    def error(self) -> Exception:
        return trio.BrokenResourceError("every receiving end of this channel was closed")


Cause: TypeAlias = (
    Closed
    | EntryClosed
    | OwnerExited
    | ExitFailed
    | RoundBroken
    | PoolEnded
    | Completed
    | Drained
    | EndClosed
    | ReceiversGone
)


def is_break(cause: object) -> bool:
    """Return whether something went wrong, other than for the one whose request it is."""
    if isinstance(cause, PoolEnded):
        return cause.by_job
    return isinstance(cause, OwnerExited | ExitFailed | RoundBroken)


def error_of(cause: object) -> BaseException:
    """Return the error for one waiter: a fresh one, or the guard's own."""
    if isinstance(cause, Cause):
        return cause.error()
    return cast(BaseException, cause)

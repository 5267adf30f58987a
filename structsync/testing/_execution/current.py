"""The execution that runs now, and what is noted while it runs."""

from __future__ import annotations

import threading
from types import FrameType
from typing import ClassVar

from structsync._runtime.schedules import deviations

from .execution import Execution
from .under_test import is_under_test


class Current:
    """The execution that runs now, and its thread."""

    execution: Execution | None = None
    thread: int = 0
    ticket_read: bool = False
    age_decides: bool = False
    changed_outside: str | None = None
    notes: ClassVar[dict[str, None]] = {}


def deviates() -> bool:
    """Return whether the execution that runs now has deviated from the plain schedule."""
    execution = Current.execution
    return execution is not None and execution.choices != execution.firsts


deviations.append(deviates)


def changed_outside() -> str | None:
    """Return what the program has first changed in the world outside, and where."""
    return Current.changed_outside


def note_change_outside(what: str) -> None:
    """Note what the program has changed there in another process."""
    Current.changed_outside = Current.changed_outside or what


def notes() -> tuple[str, ...]:
    """Return what is to be said of how the program was run, in the order in which it showed."""
    return tuple(Current.notes)


def note(text: str) -> None:
    """Note what a reader of the verdict is to know."""
    Current.notes.setdefault(text)


class executing:  # noqa: N801 - a context manager; as a generator it takes three times as long
    """Mark the part of an execution in which code under test runs."""

    __slots__ = ("_before", "_execution")

    def __init__(self, execution: Execution) -> None:
        self._execution = execution

    def __enter__(self) -> None:
        self._before = Current.execution, Current.thread
        Current.execution, Current.thread = self._execution, threading.get_ident()

    def __exit__(self, *exc_info: object) -> None:
        Current.execution, Current.thread = self._before


def release(execution: Execution) -> None:
    """Let everything again, should the execution have been dropped."""
    if Current.execution is execution:
        Current.execution = None


def ticket_was_read() -> bool:
    """Return whether the program has read ``Invocation.ticket`` since it is watched."""
    return Current.ticket_read


def age_decides() -> bool:
    """Return whether which of several tasks is the oldest has decided anything since they are watched."""
    return Current.age_decides


def note_that_age_decides() -> None:
    """Note that it has, here or in another process."""
    Current.age_decides = True


def explored_from(frame: FrameType) -> Execution | None:
    """Return the execution in which the code under test calls from this frame, if it does."""
    if Current.execution is None or threading.get_ident() != Current.thread:
        return None
    return Current.execution if is_under_test(frame.f_globals.get("__name__", "")) else None

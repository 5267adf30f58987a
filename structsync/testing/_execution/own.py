"""What belongs to the test's own file: a scope that it opened, a task that it started.

A library cancels its private nurseries, shields and helper tasks itself, or nothing does. Its caller
can cancel only what is round the call.
"""

from __future__ import annotations

import functools
import sys
from types import FrameType
from typing import Any, TypeVar

from trio.lowlevel import Task

from .frames import is_below

F = TypeVar("F")

#: Where a function that stands for a test keeps that.
STANDS_FOR = "__structsync_stands_for__"


def standing_for(test: object, function: F) -> F:
    """Return the function, which is run in place of a test."""
    setattr(function, STANDS_FOR, test)
    return function


def innermost(test: Any) -> Any:
    """Return the function itself that a test is, without what is put round it."""
    while True:
        if isinstance(test, functools.partial):
            test = test.func
        elif (
            inner := getattr(test, STANDS_FOR, None) or getattr(test, "__wrapped__", None)
        ) is None:
            return test
        else:
            test = inner


def file_of(test: Any) -> str | None:
    """Return the file in which a test stands."""
    test = innermost(test)
    code = getattr(test, "__code__", None) or getattr(type(test).__call__, "__code__", None)
    return None if code is None else code.co_filename


def is_opened_in(file: str | None, frame: FrameType | None) -> bool:
    """Return whether it is this file that opens a scope, or starts a task, in this frame or through it."""
    while frame is not None and is_below(frame):
        frame = frame.f_back
    return frame is not None and frame.f_code.co_filename == file


def is_started_in(file: str | None, task: Task) -> bool:
    """Return whether a task that is just spawned runs a function of this file, or was started there."""
    code = getattr(task.coro, "cr_code", None)
    runs = code is not None and code.co_filename == file
    return runs or is_opened_in(file, sys._getframe(1))

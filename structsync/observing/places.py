"""What a task, a primitive and a place in the program are called for people."""

from __future__ import annotations

import re
import sys
import sysconfig
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from functools import cache
from itertools import count
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, TypeAlias, TypeGuard

import outcome
import trio
from trio.lowlevel import Task

import structsync._core as core
from structsync._runtime.runs import running_task

_LIBRARY = tuple(
    str(Path(one).parent) + "/"
    for one in (Path(core.__file__).parent, trio.__file__, outcome.__file__)
)
_TASK = re.compile(r"""<Task (['"])(.*?)\1 at 0x[0-9a-f]+>""")
_CONTEXTLIB = sysconfig.get_path("stdlib") + "/contextlib.py"


Names: TypeAlias = Mapping[Hashable, str]


def repr_of(one: object) -> str:
    """Return the repr of an object of the user's; one that fails does not hide all others."""
    try:
        return repr(one)
    except Exception as error:  # noqa: BLE001
        return f"<{type(one).__name__}: {unseen(error)}>"


def unseen(error: Exception) -> str:
    """Return what is shown in place of a text that code of the user's has failed to return."""
    return f"cannot be looked at: {type(error).__name__}"


def names_of(them: Iterable[Hashable], *, call_others: Callable[[object], str] = repr_of) -> Names:
    """Return how messages call tasks, or whatever else holds something; no two have the same name.

    A task is called by its name, without the place where its function was defined; anything else by what
    ``call_others`` returns, by default its repr.
    """
    short = {one: name_of_task(one) if is_task(one) else call_others(one) for one in them}
    counts = Counter(short.values())
    numbers = {name: count(1) for name in counts}
    return {
        one: f"{name} #{next(numbers[name])}" if counts[name] > 1 else name
        for one, name in short.items()
    }


def is_task(one: object) -> TypeGuard[Task]:
    """Return whether this is a task, of something that may be any object of the user's."""
    # Not isinstance(), which reads the ``__class__`` of an object: that may be code of the user's, and fail.
    return issubclass(type(one), Task)


def name_of_task(task: Task) -> str:
    """Return how messages call a task: by its name, without where its function was defined."""
    return task.name.rpartition("<locals>.")[2]


def titled(live: Any) -> str:
    """Return how messages call a primitive: by its name, if it has one."""
    return title_of(live, getattr(live, "name", None))


def title_of(live: object, name: object) -> str:
    """Return the same of one that has this name; its class may make something else of the word."""
    kind = type(live).__name__
    return f"{kind} {name!r}" if name and isinstance(name, str) else f"{kind} at {id(live):#x}"


def state_for_people(state: str) -> str:
    """Return a primitive's state with tasks called by their names: ``locked by clerk``."""
    return _TASK.sub(lambda found: found[2].rpartition("<locals>.")[2], state)


Place: TypeAlias = tuple[CodeType, int]
"""A line of the program; made into text only where it is read."""


def line_of(task: object) -> str | None:
    """Return where a task stands in the program: ``bank.py:41 in transfer``; None if not known."""
    return text_of(place_of(task))


def text_of(place: Place | None) -> str | None:
    """Return a place as text."""
    if place is None:
        return None
    code, number = place
    return f"{Path(code.co_filename).name}:{number} in {code.co_name}"


def place_of(task: object) -> Place | None:
    """Return where a task stands in the program, not in a library that it calls; None if not known."""
    if not is_task(task):
        return None
    if task is running_task():
        return _innermost(task)
    found = None
    for frame, number in task.iter_await_frames():
        if not _is_library(frame.f_code.co_filename):
            found = frame.f_code, number
    return found


def _innermost(task: Task) -> Place | None:
    """Return the same of the task that runs now: from the inside, because this is done at each request."""
    outermost = task.coro.cr_frame
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if not _is_library(frame.f_code.co_filename):
            return frame.f_code, frame.f_lineno
        frame = None if frame is outermost else frame.f_back
    return None


def current_time() -> float | None:
    """Return the time on trio's clock; None outside a run."""
    try:
        return trio.current_time()
    except RuntimeError:
        return None


@cache
def _is_library(filename: str) -> bool:
    return filename.startswith(_LIBRARY) or filename == _CONTEXTLIB

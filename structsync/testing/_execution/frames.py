"""Where a suspended coroutine stands, in words."""

from __future__ import annotations

import gc
import linecache
import types
from collections.abc import Iterator
from typing import Any

#: Packages whose frames are not where a reader looks.
_BELOW = ("trio", "structsync", "outcome", "contextlib")


_SUSPENDED = {types.CoroutineType, types.GeneratorType, types.AsyncGeneratorType}


def chain_of(coroutine: Any) -> Iterator[Any]:
    """Yield a suspended coroutine and what it awaits, down to where it stands."""
    inner = coroutine
    while inner is not None:
        if hasattr(inner, "cr_await"):
            yield inner
            inner = inner.cr_await
        elif hasattr(inner, "gi_yieldfrom"):
            yield inner
            inner = inner.gi_yieldfrom
        elif hasattr(inner, "ag_await"):
            yield inner
            inner = inner.ag_await
        else:
            # What awaits an async generator, or a coroutine by __await__, shows it nowhere else.
            inner = next((one for one in gc.get_referents(inner) if type(one) in _SUSPENDED), None)


def frames_of(coroutine: Any) -> Iterator[types.FrameType]:
    """Yield the frames of a suspended coroutine, the outermost first."""
    for one in chain_of(coroutine):
        for name in ("cr_frame", "gi_frame", "ag_frame"):
            if (frame := getattr(one, name, None)) is not None:
                yield frame


def is_below(frame: types.FrameType) -> bool:
    """Return whether a frame is of a library on which the program stands."""
    return str(frame.f_globals.get("__name__", "")).partition(".")[0] in _BELOW


def place(frame: types.FrameType) -> str:
    """Return function and line of a frame: ``worker:41``."""
    return f"{frame.f_code.co_name}:{frame.f_lineno}"


def where(coroutine: Any) -> str:
    """Return where a coroutine stands in the program, with the line of its source."""
    outermost, *inner = frames_of(coroutine)
    *_, last = outermost, *(frame for frame in inner if not is_below(frame))
    source = linecache.getline(last.f_code.co_filename, last.f_lineno).strip()
    return f"{place(last)}  {source}".rstrip()


def of_the_program(coroutine: Any) -> list[types.FrameType]:
    """Return the frames that belong to the program, the innermost first; the outermost at least."""
    outermost, *inner = frames_of(coroutine)
    found = [frame for frame in inner if not is_below(frame)]
    if not is_below(outermost) or not found:
        found.insert(0, outermost)
    return found[::-1]

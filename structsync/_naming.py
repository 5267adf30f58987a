"""Public classes and functions say the name by which users know them, in reprs and tracebacks."""

from __future__ import annotations

import sys
from types import FunctionType

from ._homes import HOMES

_without = dict(HOMES)


def name_what_is_loaded() -> None:
    """Name what modules have brought since the last time, whichever of its names was wanted.

    Whatever users import calls this at its end. A module that another thread is still importing may not
    have its names yet; that thread will call this too.
    """
    for name, home in [*_without.items()]:
        thing = getattr(sys.modules.get(home), name, None)
        if isinstance(thing, type | FunctionType):
            thing.__module__ = "structsync"
            thing.__name__ = thing.__qualname__ = name
        if thing is not None:
            _without.pop(name, None)

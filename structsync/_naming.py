"""Public classes and functions say the name by which users know them, in reprs and tracebacks."""

from __future__ import annotations

import sys
from inspect import get_annotations
from types import FunctionType

from ._homes import HOMES

_without = dict(HOMES)

#: The modules that users import from; what one of these has brought keeps its name in the others.
PUBLIC = frozenset(
    f"structsync{module}"
    for module in (
        "",
        ".checking",
        ".distributed",
        ".lowlevel",
        ".otel",
        ".report",
        ".testing",
        ".threads",
    )
)


def name_what_is_loaded() -> None:
    """Name what modules have brought since the last time, whichever of its names was wanted.

    Whatever users import calls this at its end. A module that another thread is still importing may not
    have its names yet; that thread will call this too.
    """
    for name, home in [*_without.items()]:
        thing = getattr(sys.modules.get(home), name, None)
        if name_after("structsync", name, thing) and thing is not None:
            _without.pop(name, None)


def name_all_after(package: str) -> None:
    """Name what a public package has imported from private modules."""
    for name, thing in [*vars(sys.modules[package]).items()]:
        if not name.startswith("_"):
            name_after(package, name, thing)


def name_after(package: str, name: str, thing: object) -> bool:
    """Name a class or function of ours after the public package in which it has this name.

    The types of a dataclass's fields are evaluated first: what reads them later, as documentation does, would look
    them up where the class is from then on.

    Returns:
      False if it cannot be named yet, because another thread is still importing the module that it is in; that
      thread names it at its end.
    """
    if isinstance(thing, type | FunctionType) and _is_private(thing.__module__):
        if hasattr(thing, "__dataclass_fields__"):
            try:
                thing.__annotations__ = get_annotations(thing, eval_str=True)
            except NameError:
                return False
        thing.__module__ = package
        thing.__name__ = thing.__qualname__ = name
    return True


def _is_private(module: str | None) -> bool:
    return module is not None and module.startswith("structsync.") and module not in PUBLIC

"""Which attributes of its monitor a guard reads that the class of the monitor does not have.

A lambda in ``@entry(when=...)`` stands before the method whose class it is of, so no type checker knows
what its ``self`` is. A slip in a name would be found by the first call only: here it is when the class is made.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any

from structsync._core.queue.annotations import annotations_of
from structsync._runtime.code_names import READS, attributes_of, code_of, codes_of, names_in

#: Code that uses one of these may give objects any attributes, or ask whether they have them.
_ANY = {"__dict__", "delattr", "getattr", "hasattr", "setattr", "vars"}


def check_names(cls: type, base: type, entry: str, guard: Any) -> None:
    """Raise TypeError if a guard of an entry reads an attribute that no object of the class will have.

    An attribute that something else sets has to be declared by the class.

    Args:
      base: up to here, the classes that it inherits from are the user's.
    """
    code = code_of(guard)
    if code is None or not code.co_argcount:  # written in C, or it does not look at its monitor
        return
    read = list(dict.fromkeys(attributes_of(code, code.co_varnames[0], READS)))
    if all(hasattr(cls, name) for name in read) or not _ANY.isdisjoint(names_in(code)):
        return
    known = _known(cls, base)
    for name in read:
        if known is not None and name not in known:
            close = get_close_matches(name, [one for one in known if not one.startswith("_")], 1)
            meant = f"is it self.{close[0]}? If not, " if close else ""
            raise TypeError(
                f"the guard of {cls.__name__}.{entry} reads self.{name}, which {cls.__name__} does not "
                f"have: {meant}declare it in the class ({name}: int, for example), or set it in __init__ "
                "(if that is decorated, by a decorator that uses functools.wraps)"
            )


def _known(cls: type, base: type) -> set[str] | None:
    """Return the names that its own code uses, or that it inherits or declares; None if any may be."""
    known, used = {*dir(cls)}, set[str]()
    for one in cls.__mro__:
        known.update(annotations_of(one))
        if one in base.__mro__:
            continue
        if "__getattr__" in vars(one) or "__getattribute__" in vars(one):
            return None
        for value in vars(one).values():
            for code in codes_of(value):
                used.update(names_in(code))
    return known | used if _ANY.isdisjoint(used) else None

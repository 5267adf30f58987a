"""Everything that looks like a declaration is noticed when it is made, so that none gets lost.

A property below another decorator, in a tuple, at the level of a module, or in a class that is
defined twice would be no error for Python, and would never be checked.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import FunctionType
from typing import Any

from ._errors import SpecError

#: Declared functions and fields that no class has been made of yet.
_noticed: list[weakref.ref[Any]] = []
_kept: list[Any] | None = None


def notice(made: Any) -> None:
    """Take note of a declared function, a field or a spec class."""
    if not isinstance(made, type):
        _noticed.append(weakref.ref(made))
    if _kept is not None:
        _kept.append(made)


@contextmanager
def keeping() -> Iterator[list[Any]]:
    """Collect what is made inside the block, also what nothing else refers to."""
    global _kept
    before, _kept = _kept, []
    try:
        yield _kept
    finally:
        _kept = before


def check_body(name: str, body: dict[str, Any]) -> None:
    """Raise if a declaration in the body of a class is not the value of one of its names."""
    here = (body.get("__module__"), body.get("__qualname__", name))
    own = {id(value) for value in body.values()}
    left = [made for reference in _noticed if (made := reference()) is not None]
    _noticed[:] = [weakref.ref(made) for made in left if _body_of(made) != here]
    for made in left:
        if _body_of(made) == here and id(made) not in own:
            what = getattr(made, "__qualname__", f"start({getattr(made, 'factory', None)!r})")
            raise SpecError(
                f"{what} is declared in the body of {name}, and is not the value of one of its "
                "names, so it would not be checked: a decorator above it hides it, it stands in a "
                "container, or the name means something else now; give it a name of its own, with "
                "the decorator of structsync on top"
            )


def _body_of(made: Any) -> tuple[object, object]:
    if isinstance(made, FunctionType):
        return (made.__module__, made.__qualname__.rpartition(".")[0])
    found: tuple[object, object] = getattr(made, "made_in", (None, None))
    return found


def check_module(names: Iterable[str], made: Iterable[Any], used: Iterable[Any]) -> None:
    """Raise if a module declares a function or a field that belongs to no spec.

    Args:
        names: the modules.
        made: what was made while they were imported.
        used: the functions and fields of all specs.
    """
    modules, known = {*names}, {id(one) for one in used}
    for one in made:
        if _module_of(one) in modules and id(one) not in known:
            raise SpecError(
                f"{getattr(one, '__qualname__', 'start(...)')} is declared in {_module_of(one)} and belongs to no spec, so it "
                "would not be checked; indent it into its class, or remove it"
            )


def _module_of(made: Any) -> object:
    return made.made_in[0] if hasattr(made, "made_in") else made.__module__

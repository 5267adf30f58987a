"""Private names of a primitive, which a class derived from it must not use for something of its own.

A base class and those derived from it share one object, and ``_entries`` or ``_release`` is what a user
would call an attribute or a helper. What would overwrite the state of the primitive, or be called in the place
of its method, in the middle of a transition perhaps, is refused when the class is made.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from structsync._core.queue.annotations import annotations_of

from .code_names import STORES, attributes_of, codes_of
from .live import Live

#: The methods by which a primitive learns what only its class knows; they are there to be overridden.
OVERRIDABLE = frozenset({"_balance", "_describe", "_details_of", "_units"})
#: The core that a user's class passes on; to declare which it is sets nothing.
DECLARABLE = frozenset({"_core"})
_LIBRARY = __name__.partition(".")[0]


def private_names_of(cls: type) -> frozenset[str]:
    """Return the private names that the classes of the library have which a class is derived from."""
    names = {name for one in cls.__mro__ if _is_of_a_primitive(one) for name in vars(one)}
    return frozenset(name for name in names if name.startswith("_") and name[-2:] != "__")


def refuse_private_names(cls: type) -> None:
    """Raise TypeError if a user's class has, declares or sets what its primitive has for itself.

    Looked at are all classes that it inherits from: a mixin sets attributes of the same object.
    """
    if _is_of_a_primitive(cls):
        return
    taken = private_names_of(cls)
    for one in cls.__mro__:
        if not _is_of_a_primitive(one):
            for name in _used_by(one, taken):
                base = next(filter(_is_of_a_primitive, cls.__mro__)).__name__
                raise TypeError(
                    f"{one.__name__}.{name} must have another name: {base} has an attribute {name} of its "
                    f"own, and they would be one; rename it, to own{name} for example"
                )


def _is_of_a_primitive(cls: type) -> bool:
    return issubclass(cls, Live) and cls.__module__.partition(".")[0] == _LIBRARY


def _used_by(cls: type, taken: frozenset[str]) -> Iterator[str]:
    """Yield which of these names the body of a class or its annotations have, or a method of it sets."""
    for name, value in vars(cls).items():
        if name in taken and not (name in OVERRIDABLE and callable(value)):
            yield name
        if not issubclass(type(value), staticmethod):  # whose first argument may be anything
            yield from taken.intersection(_set_by(value))
    yield from (taken - DECLARABLE).intersection(annotations_of(cls))


def _set_by(method: Any) -> Iterator[str]:
    """Yield the attributes of its first argument that a method sets."""
    for code in codes_of(method):
        if code.co_argcount:
            yield from attributes_of(code, code.co_varnames[0], STORES)

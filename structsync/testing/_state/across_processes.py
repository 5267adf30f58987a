"""Numbers for objects that other processes know by the same numbers.

Inside of one process an object of which there is one for good, such as the code of a function, gets the next
number when it is first met. Which number that is depends on what was run before. What two processes are to have
in common is what the object is: where it stands in which file, or what it is called.
"""

from __future__ import annotations

import contextlib
import logging
import re
import types
from collections.abc import Iterator
from hashlib import blake2b

from . import identity
from .identity import Opaque, name_of

_DESCRIPTORS = (
    types.WrapperDescriptorType,
    types.ClassMethodDescriptorType,
    types.MethodDescriptorType,
    types.GetSetDescriptorType,
    types.MemberDescriptorType,
)
_SINGLE = (types.EllipsisType, types.NotImplementedType)


@contextlib.contextmanager
def comparable() -> Iterator[None]:
    """Let fingerprints be equal for equal states of different processes while the block runs."""
    taken: dict[int, object] = {}

    def number(thing: object) -> int:
        found = int.from_bytes(blake2b(repr(_described(thing)).encode(), digest_size=8).digest())
        if taken.setdefault(found, thing) is not thing and not isinstance(thing, _ALIKE):
            raise Opaque(f"{thing!r}, which another process could not distinguish from another one")
        return found

    with identity.numbered_by(number):
        yield


#: Of these, two that are described alike do alike.
_ALIKE = (types.CodeType, re.Pattern)


def _described(thing: object) -> object:
    """Return what an object is, in a form that looks the same in each process."""
    if isinstance(thing, types.CodeType):
        return _code(thing)
    if isinstance(thing, re.Pattern):
        return "pattern", thing.pattern, thing.flags
    if isinstance(thing, logging.Logger):
        return "logger", name_of(type(thing)), thing.name
    if isinstance(thing, types.ModuleType):
        return "module", thing.__name__
    if isinstance(thing, types.BuiltinFunctionType):
        return "builtin", thing.__module__, thing.__qualname__
    if isinstance(thing, _DESCRIPTORS):
        return type(thing).__name__, name_of(thing.__objclass__), thing.__name__
    if isinstance(thing, _SINGLE):
        return name_of(type(thing))
    if isinstance(state := _reduced(thing), str):
        return "global", name_of(type(thing)), getattr(thing, "__module__", None), state
    raise Opaque(f"{name_of(type(thing))}, which has no name by which another process knows it")


def _reduced(thing: object) -> object:
    try:
        return thing.__reduce_ex__(4)
    except Exception:  # noqa: BLE001 - of the user's, or it cannot be pickled
        return None


def _code(code: types.CodeType) -> tuple[object, ...]:
    constants = tuple([_constant(one) for one in code.co_consts])
    names = code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars
    place = code.co_filename, code.co_qualname, code.co_firstlineno
    positions = blake2b(repr([*code.co_positions()]).encode(), digest_size=8).hexdigest()
    return "code", place, positions, code.co_flags, code.co_code, constants, names


def _constant(value: object) -> object:
    """Return a constant of some code, with nothing in it that depends on an address or on a hash."""
    if isinstance(value, types.CodeType):
        return _code(value)
    if isinstance(value, tuple):
        return "tuple", tuple([_constant(one) for one in value])
    if isinstance(value, frozenset):
        return "frozenset", sorted(repr(_constant(one)) for one in value)
    return type(value).__name__, repr(value)

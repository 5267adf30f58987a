"""Looking into objects of classes: slots, attributes, inherited contents, or what pickle sees."""

from __future__ import annotations

import collections
import gc
import types
import warnings
import weakref
from collections.abc import Callable
from typing import Any

from structsync._core.queue.request import Queue
from structsync.testing._execution.under_test import is_under_test

from . import afterlife, global_variables
from .identity import DERIVED, UNSET, Expanded, Expander, Opaque, name_of, number_of


def exception(kind: type) -> Expander:
    """Return the expander for a class of exceptions, some of which keep more than arguments."""
    members = [member for _, member in _members(kind)]
    if issubclass(kind, OSError):  # of all errors the only ones with something that is computed
        members.append(vars(OSError)["characters_written"])

    own = _own(kind)

    def expand(thing: Any) -> Expanded:
        children = [*own, thing.args, thing.__cause__, thing.__context__, thing.__traceback__]
        children.append(vars(thing))
        children += [_value(member, thing) for member in members]
        return (name_of(kind), thing.__suppress_context__), children

    return expand


def _own(kind: type) -> list[Any]:
    """Return the class of an object if it is one of the program, so that its methods are in reach."""
    return [kind] if is_under_test(kind.__module__) else []


def _members(kind: type) -> list[tuple[str, Any]]:
    """Return the slots of a class, those of C classes too."""
    return [
        (name, member)
        for base in kind.__mro__
        for name, member in vars(base).items()
        if type(member) is types.MemberDescriptorType and name != "__weakref__"
    ]


def _value(member: Any, thing: Any) -> Any:
    try:
        return member.__get__(thing)
    except AttributeError:
        return UNSET


def reduced(thing: Any) -> Expanded:
    """Look into an object of a C type by what pickle would store."""
    # First: to ask a buffer for its dictionary makes one, which pickle stores.
    attributes = getattr(thing, "__dict__", None)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python 3.14 takes pickling from itertools
            state = thing.__reduce_ex__(4)
    except Exception as error:
        raise Opaque(name_of(type(thing))) from error
    if isinstance(state, str):
        if isinstance(thing, global_variables.CACHED) and not global_variables.is_of_a_library(
            thing
        ):
            raise Opaque(f"what functools.cache remembers for {state}()")
        return number_of(thing), []
    children = [
        list(part) if place >= 3 and part is not None else part for place, part in enumerate(state)
    ]
    return name_of(type(thing)), [*children, attributes]


def reference(kind: type) -> Expander:
    """Return the expander for a class of weak references, which may have attributes."""
    own, slots = _own(kind), [member for _, member in _members(kind)]

    def expand(thing: Any) -> Expanded:
        head, children = afterlife.reference(thing)
        values = [_value(member, thing) for member in slots]
        return head, [*own, *children, *values, getattr(thing, "__dict__", None)]

    return expand


def reduced_with_slots(kind: type) -> Expander:
    """Return the expander for a class on top of a C type, whose own pickling knows no slots."""
    slots = [
        member for _, member in _members(kind) if not member.__objclass__.__flags__ & IMMUTABLE
    ]
    if not slots:
        return reduced

    def expand(thing: Any) -> Expanded:
        head, children = reduced(thing)
        return head, [*children, *[_value(member, thing) for member in slots]]

    return expand


def pickles_by_itself(kind: type) -> bool:
    """Return whether code of the user decides what pickle sees of a class that hides state."""
    methods = ("__reduce__", "__reduce_ex__", "__getstate__")
    own = [one for one in kind.__mro__ if is_under_test(one.__module__)]
    return hides_state(kind) and any(name in vars(one) for one in own for name in methods)


def instance(kind: type) -> Expander:
    """Return the expander for a class written in Python: slots, attributes, inherited contents."""
    left_out = frozenset().union(*(DERIVED.get(base, ()) for base in kind.__mro__))
    slots = [(name, member) for name, member in _members(kind) if name not in left_out]
    has_dict = kind.__dictoffset__ != 0
    contents = _contents(kind)
    name = name_of(kind)
    own = _own(kind)
    getters = [member.__get__ for _, member in slots]
    told = [vars(base)["__dict__"] for base in kind.__mro__ if "__dict__" in vars(base)]
    made_up = not all(isinstance(one, _DESCRIPTORS) for one in told)
    may_call_back = bool(own) and kind.__weakrefoffset__ != 0

    def expand(thing: Any) -> Expanded:
        try:
            children = [*own, *[get(thing) for get in getters]]
        except AttributeError:  # one of them has no value
            children = [*own, *[_value(member, thing) for _, member in slots]]
        if may_call_back and weakref.getweakrefcount(thing):
            children += afterlife.callbacks(thing)
        keys: tuple[Any, ...] = ()
        if has_dict:
            attributes = vars(thing)
            if left_out:
                attributes = {key: one for key, one in attributes.items() if key not in left_out}
            keys = tuple(attributes)
            children += attributes.values()
        if made_up:  # a property says what its attributes are, and not what it refers to
            children += gc.get_referents(thing)
        children += contents(thing)
        return (name, keys), children

    return expand


def member(kind: type) -> Expander:
    """Return the expander for a class of enumerations, which may have a base that holds more than a name."""
    left_out = () if is_under_test(kind.__module__) else ("__objclass__",)
    slots, contents = [member for _, member in _members(kind)], _contents(kind)

    def expand(thing: Any) -> Expanded:
        children = [value for name, value in vars(thing).items() if name not in left_out]
        children += [_value(member, thing) for member in slots]
        return (name_of(kind), thing.name), [*children, *contents(thing)]

    return expand


#: As what ``__dict__`` stands in a class that does not make it up.
_DESCRIPTORS = types.GetSetDescriptorType | types.MemberDescriptorType
CONTENTS: dict[type, Callable[[Any], list[Any]]] = {
    int: lambda thing: [int(thing)],
    float: lambda thing: [float(thing)],
    str: lambda thing: [str.__str__(thing)],
    bytes: lambda thing: [bytes(thing)],
    Queue: lambda thing: list(thing),
    tuple: lambda thing: list(tuple.__iter__(thing)),
    list: lambda thing: list(list.__iter__(thing)),
    complex: lambda thing: [complex(thing)],
    collections.deque: lambda thing: [thing.maxlen, *collections.deque.__iter__(thing)],
    dict: lambda thing: [part for pair in dict.items(thing) for part in pair],
    set: lambda thing: [frozenset(thing)],
    frozenset: lambda thing: [frozenset(thing)],
}


def _contents(kind: type) -> Callable[[Any], list[Any]]:
    """Return what looks into that of an object which it has from a container or a plain value."""
    found = [look for base, look in CONTENTS.items() if issubclass(kind, base)]
    return found[-1] if found else _nothing


def _nothing(_: Any) -> list[Any]:
    return []


def hides_state(kind: type) -> bool:
    """Return whether objects of this type are larger than what can be seen of them."""
    slots = sum(
        type(member) is types.MemberDescriptorType
        for base in kind.__mro__
        for member in vars(base).values()
        if not base.__flags__ & IMMUTABLE
    )
    known = max((base.__basicsize__ for base in CONTENTS if issubclass(kind, base)), default=0)
    known = max(known, object.__basicsize__)
    inside = (kind.__dictoffset__ > 0) + (kind.__weakrefoffset__ > 0)
    return kind.__basicsize__ > known + 8 * (slots + inside)


#: Py_TPFLAGS_IMMUTABLETYPE: a class that no Python code has defined.
IMMUTABLE = 1 << 8

"""What is inside of an object, for the fingerprint: a head that is compared and children to walk.

Each kind of object has an expander, chosen once by its type. What no expander can see into raises
:exc:`Opaque`.
"""

from __future__ import annotations

import collections
import contextvars
import enum
import functools
import itertools
import logging
import re
import types
import weakref
from typing import Any

import trio

from structsync._core.arbiter import Arbiter
from structsync.testing import _instances, _kinds
from structsync.testing._known import UNSET, Expanded, Expander, is_local
from structsync.testing._known import Opaque as Opaque
from structsync.testing._known import name_of as name_of
from structsync.testing._known import number_of as number_of


def SET(thing: Any) -> Expanded:  # noqa: N802 - a constant: compared with, never called
    """Stand for sets, whose order is nobody's."""
    raise AssertionError


#: The expander of each type that has been met.
EXPANDERS: dict[type, Expander] = {}
_local: dict[type, Expander] = {}


def expander(kind: type) -> Expander:
    """Return what looks into objects of this type."""
    found = EXPANDERS.get(kind) or _local.get(kind)
    if found is None:
        table = _local if is_local(kind) else EXPANDERS
        found = table[kind] = _choose(kind)
    return found


def start_over() -> None:
    """Forget the classes of the last execution."""
    _local.clear()


def changed_context(context: contextvars.Context, base: contextvars.Context) -> list[Any]:
    """Return the context variables that the program itself has set, with their values."""
    return [
        part
        for variable, value in context.items()
        if base.get(variable, UNSET) is not value
        for part in (variable, value)
    ]


_KINDS: dict[type, Expander] = {
    tuple: _kinds.sequence,
    list: _kinds.sequence,
    collections.deque: _kinds.deque,
    dict: _kinds.mapping,
    collections.OrderedDict: _kinds.mapping,
    types.MappingProxyType: _kinds.mapping,
    set: SET,
    frozenset: SET,
    bytes: _kinds.octets,
    bytearray: _kinds.octets,
    range: _kinds.text,
    slice: _kinds.text,
    itertools.count: _kinds.text,
    contextvars.ContextVar: _kinds.variable,
    property: _kinds.accessor,
    staticmethod: _kinds.wrapper,
    classmethod: _kinds.wrapper,
    types.ModuleType: _kinds.module,
    object: _kinds.constant,
    types.CellType: _kinds.cell,
    types.MethodType: _kinds.method,
    types.BuiltinMethodType: _kinds.builtin,
    types.FunctionType: _kinds.function,
    functools.partial: _kinds.partial,
    weakref.ref: _kinds.reference,
    type: _kinds.class_,
    trio.Cancelled: _kinds.cancelled,
    types.CoroutineType: _kinds.suspended("cr_code", "cr_frame", "cr_await"),
    types.GeneratorType: _kinds.suspended("gi_code", "gi_frame", "gi_yieldfrom"),
    types.AsyncGeneratorType: _kinds.suspended("ag_code", "ag_frame", "ag_await"),
    types.TracebackType: lambda thing: ("traceback", []),
}
_BY_IDENTITY: tuple[type, ...] = (
    types.CodeType,
    types.WrapperDescriptorType,
    types.ClassMethodDescriptorType,
    types.MethodDescriptorType,
    types.MethodWrapperType,
    types.GetSetDescriptorType,
    types.MemberDescriptorType,
    types.EllipsisType,
    types.NotImplementedType,
    logging.Logger,
    re.Pattern,
)
#: Types of which each execution has one object, which says nothing about its state.
CONSTANT: set[type] = set()
#: Objects by which async functions and async generators wait for each other.
_AWAITABLES = frozenset(
    {"coroutine_wrapper", "async_generator_asend", "async_generator_athrow", "anext_awaitable"}
)


def _choose(kind: type) -> Expander:
    if (found := _KINDS.get(kind)) is not None:
        return found
    if kind in CONSTANT:
        return _kinds.constant
    if issubclass(kind, _BY_IDENTITY):
        return _kinds.identity
    if issubclass(kind, type):
        return _kinds.class_
    if hasattr(kind, "__explore_state__"):
        return _kinds.own_state
    if issubclass(kind, Arbiter):
        return _kinds.arbiter
    if issubclass(kind, enum.Enum):
        return _kinds.member
    if issubclass(kind, BaseException):
        return _instances.exception(kind)
    if issubclass(kind, weakref.ref):
        return _kinds.reference
    return _kinds.referents if kind.__name__ in _AWAITABLES else _choose_by_state(kind)


def _choose_by_state(kind: type) -> Expander:
    if issubclass(kind, weakref.finalize) or _instances.pickles_by_itself(kind):
        return _instances.hidden
    if (
        kind.__flags__ & _instances.IMMUTABLE
        or kind.__module__ == "itertools"
        or _instances.hides_state(kind)
    ):
        return _instances.reduced
    return _instances.instance(kind)

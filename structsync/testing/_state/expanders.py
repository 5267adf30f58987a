"""What is inside of an object, for the fingerprint: a head that is compared and children to walk.

Each kind of object has an expander, chosen once by its type. What no expander can see into raises
:exc:`Opaque`.
"""

from __future__ import annotations

import collections
import contextvars
import datetime
import decimal
import enum
import fractions
import functools
import itertools
import os
import pathlib
import re
import types
import weakref
from collections.abc import Sequence
from typing import Any

import trio

from structsync._core.queue.arbiter import Arbiter
from structsync._runtime.transitions import Transitions
from structsync.testing._execution.under_test import is_under_test

from . import (
    afterlife,
    builtin_types,
    c_types,
    class_instances,
    context_values,
    global_variables,
    in_front,
    libraries,
    loggers,
)
from .identity import UNSET, Expanded, Expander, is_local
from .identity import Opaque as Opaque
from .identity import name_of as name_of
from .identity import number_of as number_of


def SET(thing: Any) -> Expanded:  # noqa: N802 - a constant: compared with, never called
    """Stand for sets, whose order means nothing."""
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


def expanded(thing: Any) -> tuple[Any, Sequence[Any]]:
    """Return the head and the children of an object, the same whether or not any code has looked at it."""
    kind = type(thing)
    head, children = expander(kind)(thing)
    if kind is types.FunctionType:  # to ask one for its dictionary makes an empty one
        children = [one for one in children if type(one) is not dict or one]
    return head, [*children]


def start_over() -> None:
    """Forget the classes of the last execution."""
    _local.clear()
    global_variables.start_over()


def changed_context(context: contextvars.Context, base: contextvars.Context) -> list[Any]:
    """Return the context variables that the program itself has set, with their values."""
    return [
        part
        for variable, value in context.items()
        if base.get(variable, UNSET) is not value
        for part in (variable, value)
    ]


#: Of these the text is all that there is.
_WRITTEN_AS_TEXT = (
    decimal.Decimal,
    decimal.Context,
    fractions.Fraction,
    datetime.timedelta,
    pathlib.PurePosixPath,
    pathlib.PureWindowsPath,
    type(pathlib.Path()),
)
_KINDS: dict[type, Expander] = {
    tuple: builtin_types.sequence,
    list: builtin_types.sequence,
    collections.deque: builtin_types.deque,
    dict: builtin_types.mapping,
    collections.OrderedDict: builtin_types.mapping,
    set: SET,
    frozenset: SET,
    bytes: builtin_types.octets,
    bytearray: builtin_types.octets,
    range: builtin_types.text,
    slice: builtin_types.bounds,
    itertools.count: builtin_types.count,
    contextvars.ContextVar: context_values.variable,
    property: builtin_types.accessor,
    staticmethod: builtin_types.wrapper,
    classmethod: builtin_types.wrapper,
    types.ModuleType: builtin_types.module,
    object: builtin_types.constant,
    types.CellType: builtin_types.cell,
    types.MethodType: builtin_types.method,
    types.BuiltinMethodType: builtin_types.builtin,
    types.MethodWrapperType: builtin_types.method_wrapper,
    types.FunctionType: builtin_types.function,
    functools.partial: builtin_types.partial,
    weakref.ref: afterlife.reference,
    type: builtin_types.class_,
    trio.Cancelled: builtin_types.cancelled,
    types.CoroutineType: builtin_types.suspended("cr_code", "cr_frame", "cr_await"),
    types.GeneratorType: builtin_types.suspended("gi_code", "gi_frame", "gi_yieldfrom"),
    types.AsyncGeneratorType: builtin_types.suspended("ag_code", "ag_frame", "ag_await"),
    **c_types.KINDS,
    **in_front.KINDS,
    types.TracebackType: builtin_types.traceback,
    global_variables.Bindings: global_variables.look,
    type(os.environ): libraries.environment,
    # Whether the next step of one raises, because its object has changed, is nowhere to be seen.
    type(iter(collections.deque())): builtin_types.hidden,
    type(reversed(collections.deque())): builtin_types.hidden,
    type(iter(collections.OrderedDict())): builtin_types.hidden,
    **dict.fromkeys(_WRITTEN_AS_TEXT, builtin_types.text),
}
#: Each of these stands for itself, whatever it contains.
BY_IDENTITY: tuple[type, ...] = (
    types.CodeType,
    types.WrapperDescriptorType,
    types.ClassMethodDescriptorType,
    types.MethodDescriptorType,
    types.GetSetDescriptorType,
    types.MemberDescriptorType,
    types.EllipsisType,
    types.NotImplementedType,
    re.Pattern,
)
#: Types of which each execution has one object, which says nothing about its state.
CONSTANT: set[type] = {Transitions}
#: Objects by which async functions and async generators wait for each other.
_AWAITABLES = frozenset(
    {"coroutine_wrapper", "async_generator_asend", "async_generator_athrow", "anext_awaitable"}
)


def _choose(kind: type) -> Expander:
    if (found := _KINDS.get(kind)) is not None:
        return found
    if kind in CONSTANT:
        return builtin_types.constant
    if issubclass(kind, BY_IDENTITY):
        return builtin_types.identity
    if (seen := c_types.expander_of(kind)) is not None:
        return seen
    if issubclass(kind, type | types.ModuleType):
        return _choose_for_names(kind)
    if (of_logging := loggers.expander_of(kind)) is not None:
        return of_logging
    if hasattr(kind, "__explore_state__"):
        return builtin_types.own_state
    if issubclass(kind, Arbiter):
        return builtin_types.arbiter
    if issubclass(kind, enum.Enum):
        return class_instances.member(kind)
    if issubclass(kind, BaseException):
        return class_instances.exception(kind)
    if issubclass(kind, weakref.ref):
        return class_instances.reference(kind)
    return builtin_types.referents if kind.__name__ in _AWAITABLES else _choose_by_state(kind)


def _choose_for_names(kind: type) -> Expander:
    if issubclass(kind, types.ModuleType):  # trio's own is of a class of its own
        return builtin_types.module
    own = is_under_test(kind.__module__)
    return builtin_types.class_of_a_metaclass if own else builtin_types.class_


def _choose_by_state(kind: type) -> Expander:
    if issubclass(kind, weakref.finalize | super) or class_instances.pickles_by_itself(kind):
        return builtin_types.hidden
    if (
        kind.__flags__ & class_instances.IMMUTABLE
        or kind.__module__ == "itertools"
        or class_instances.hides_state(kind)
    ):
        return class_instances.reduced_with_slots(kind)
    return class_instances.instance(kind)

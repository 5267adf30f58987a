"""Looking into objects of built-in kinds: containers, functions, suspended coroutines."""

from __future__ import annotations

import gc
import sys
import types
from typing import Any, cast

from structsync.testing._execution.under_test import is_under_test

from . import global_variables
from .identity import Expanded, Expander, Opaque, known_code, name_of, number_of


def identity(thing: Any) -> Expanded:
    return number_of(thing), []


def sequence(thing: Any) -> Expanded:
    return type(thing).__name__, thing


def deque(thing: Any) -> Expanded:
    return ("deque", thing.maxlen), list(thing)


def mapping(thing: Any) -> Expanded:
    return type(thing).__name__, [part for pair in thing.items() for part in pair]


def constant(thing: Any) -> Expanded:
    return name_of(type(thing)), []


def octets(thing: Any) -> Expanded:
    return (type(thing).__name__, bytes(thing)), []


def text(thing: Any) -> Expanded:
    return repr(thing), []


def cell(thing: Any) -> Expanded:
    try:
        return "cell", [thing.cell_contents]
    except ValueError:
        return "empty cell", []


def method(thing: Any) -> Expanded:
    function = thing.__func__
    if type(function) is types.FunctionType and is_plain(function):
        return ("method", number_of(function.__code__)), [thing.__self__]
    return "method", [function, thing.__self__]


def builtin(thing: Any) -> Expanded:
    owner = thing.__self__
    if owner is None or isinstance(owner, types.ModuleType):
        return number_of(thing), []
    return ("builtin", thing.__name__), [owner]


def partial(thing: Any) -> Expanded:
    return name_of(type(thing)), [thing.func, thing.args, thing.keywords, vars(thing)]


def is_plain(function: types.FunctionType) -> bool:
    """Return whether all that a function does is in its code."""
    if function.__closure__ is not None or is_under_test(function.__module__):
        return False
    return function.__defaults__ is None


def function(thing: Any) -> Expanded:
    known = known_code(thing.__code__, namespace := thing.__globals__)
    if known.kept is not None or is_plain(thing):
        return known.number, []
    children = [*(thing.__closure__ or ()), thing.__defaults__, thing.__kwdefaults__]
    children.append(_attributes_of(thing))
    if known.library is not namespace:
        children += global_variables.data_of_code(known.code, namespace)
    return known.number, children


def _attributes_of(function: types.FunctionType) -> dict[str, Any] | None:
    """Return the attributes of a function; None for an empty dictionary that nobody else has."""
    found = vars(function)
    return found if found or sys.getrefcount(found) > _UNASKED else None


def _asked_for(function: types.FunctionType) -> int:
    found = vars(function)
    return sys.getrefcount(found)


_UNASKED = _asked_for(cast(types.FunctionType, lambda: None))


def class_(thing: Any) -> Expanded:
    if not is_under_test(thing.__module__):
        return name_of(thing), []
    return name_of(thing), [*thing.__bases__, *global_variables.data_of_class(thing)]


def class_of_a_metaclass(thing: Any) -> Expanded:
    head, children = class_(thing)
    return head, [type(thing), *children]


def _is_of(code: object, function: object) -> bool:
    if type(code) is not types.CodeType or type(function) is not types.FunctionType:
        return False
    # Before them may stand the code once more, behind the function that finalizes a generator.
    return function.__code__ is code


def suspended(code: str, frame: str, waits_for: str) -> Expander:
    """Return the expander for coroutines and the like, whose attributes have these names.

    To ask for a frame or for its code calls the audit hooks, which takes longer than the rest.
    """

    def expand(thing: Any) -> Expanded:
        frame_of = getattr(thing, frame)
        if frame_of is None:
            return ("over", number_of(getattr(thing, code))), []
        # Before the local variables and the stack stand the function and its code.
        referents = gc.get_referents(thing)
        start = 2
        while not _is_of(referents[start - 1], referents[start - 2]):
            start += 1
        namespace, values = frame_of.f_globals, frame_of.f_locals
        known = known_code(referents[start - 1], namespace)
        if (kept := known.kept) is not None:
            children = [values.get(name) for name in kept.names]
            if kept.awaited:
                children.append(getattr(thing, waits_for))
            return (known.number, frame_of.f_lasti), children
        # Up to Python 3.12 code that has not run often keeps what it sent on top of its stack.
        sent = referents[-1] is None and getattr(thing, waits_for) is not None
        children = referents[start : len(referents) - sent]
        # The names show which local variables have no value: they leave no gap among the rest.
        names = known.names if len(values) == len(known.names) else tuple(sorted(values))
        if known.library is not namespace:
            children += global_variables.data_of_code(known.code, namespace)
        return (known.number, frame_of.f_lasti, names), children

    return expand


def referents(thing: Any) -> Expanded:
    return type(thing).__name__, gc.get_referents(thing)


def cancelled(thing: Any) -> Expanded:
    # Which task cancelled is text for people, with an address in it.
    head = ("cancelled", getattr(thing, "source", None), getattr(thing, "reason", None))
    return head, [thing.__context__, thing.__traceback__]


def traceback(thing: Any) -> Expanded:
    """Look into what a traceback keeps alive: the frames of the program, without their lines."""
    codes, children = list[int](), list[Any]()
    while thing is not None:
        frame = thing.tb_frame
        if is_under_test(frame.f_globals.get("__name__", "")):
            values = frame.f_locals
            codes.append(number_of(frame.f_code))
            children += [part for name in sorted(values) for part in (name, values[name])]
        thing = thing.tb_next
    return ("traceback", *codes), children


def hidden(thing: Any) -> Expanded:
    raise Opaque(name_of(type(thing)))


def accessor(thing: Any) -> Expanded:
    return "property", [thing.fget, thing.fset, thing.fdel]


def wrapper(thing: Any) -> Expanded:
    return type(thing).__name__, [thing.__func__]


def module(thing: Any) -> Expanded:
    if not is_under_test(thing.__name__):
        return number_of(thing), []
    return ("module", thing.__name__), global_variables.data_of_module(vars(thing))


def arbiter(thing: Any) -> Expanded:
    # Tickets only grow; what matters is the order in the queue, and the ranks relative to each other.
    # An index of the queue by tickets is derived from it.
    left_out = {"queue", "next_ticket", "policy", "readers_in_queue"}
    own = {name: value for name, value in vars(thing).items() if name not in left_out}
    waiting = list(thing.queue)
    ranks = thing.policy.snapshot(thing.queue, thing.next_ticket)
    return (name_of(type(thing)), tuple(own)), [*own.values(), waiting, thing.policy.name, ranks]


def own_state(thing: Any) -> Expanded:
    return name_of(type(thing)), [thing.__explore_state__()]


def member(thing: Any) -> Expanded:
    return (name_of(type(thing)), thing.name), [*vars(thing).values()]


#: What an enumeration gives to each of its members, besides the name.
_OF_A_MEMBER = frozenset({"_value_", "_name_", "__objclass__", "_sort_order_"})


def member_of_a_library(thing: Any) -> Expanded:
    given = [part for pair in vars(thing).items() if pair[0] not in _OF_A_MEMBER for part in pair]
    return (name_of(type(thing)), thing.name), given

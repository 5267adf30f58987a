"""Looking into objects of built-in kinds: containers, functions, suspended coroutines."""

from __future__ import annotations

import gc
import operator
import sys
import types
from typing import Any

from structsync.testing._execution.addresses import address_of
from structsync.testing._execution.under_test import is_under_test

from . import global_variables, named_by_code
from .identity import AWAITED, KEPT, Expanded, Expander, Opaque, name_of, number_of


def identity(thing: Any) -> Expanded:
    return number_of(thing), []


def sequence(thing: Any) -> Expanded:
    return type(thing).__name__, thing


def deque(thing: Any) -> Expanded:
    return ("deque", thing.maxlen), list(thing)


def mapping(thing: Any) -> Expanded:
    if "__spec__" in thing and named_by_code.is_of_a_module(thing):
        return module(sys.modules[thing["__name__"]])
    return type(thing).__name__, [part for pair in thing.items() for part in pair]


def constant(thing: Any) -> Expanded:
    return name_of(type(thing)), []


def octets(thing: Any) -> Expanded:
    return (type(thing).__name__, bytes(thing)), []


def text(thing: Any) -> Expanded:
    return repr(thing), []


def bounds(thing: Any) -> Expanded:
    return "slice", [thing.start, thing.stop, thing.step]


def count(thing: Any) -> Expanded:
    return repr(thing), gc.get_referents(thing)


def cell(thing: Any) -> Expanded:
    try:
        return "cell", [thing.cell_contents]
    except ValueError:
        return "empty cell", []


def method(thing: Any) -> Expanded:
    function = thing.__func__
    if type(function) is types.FunctionType and is_plain(function):
        return ("method", *_head(function)), (thing.__self__,)
    return "method", (function, thing.__self__)


def builtin(thing: Any) -> Expanded:
    owner = thing.__self__
    if owner is None or isinstance(owner, types.ModuleType):
        return number_of(thing), []
    return ("builtin", thing.__name__), [owner]


def method_wrapper(thing: Any) -> Expanded:
    return ("method-wrapper", thing.__name__), [thing.__objclass__, thing.__self__]


def partial(thing: Any) -> Expanded:
    return name_of(type(thing)), [thing.func, thing.args, thing.keywords, vars(thing)]


def is_plain(function: types.FunctionType) -> bool:
    """Return whether all that a function does is in its code, and in plain values as its defaults."""
    if function.__closure__ is not None or is_under_test(function.__module__):
        return False
    defaults = function.__defaults__
    return defaults is None or all(type(one) in _PLAIN for one in defaults)


_PLAIN = frozenset({int, str, float, bool, type(None)})


def _head(function: types.FunctionType) -> tuple[Any, ...]:
    """Return what there is to say of a plain function."""
    return number_of(function.__code__), *(function.__defaults__ or ())


def function(thing: Any) -> Expanded:
    if is_plain(thing):
        return _head(thing), ()
    code = thing.__code__
    if address_of(code) in KEPT:
        return number_of(code), ()
    children = [*(thing.__closure__ or ()), thing.__defaults__, thing.__kwdefaults__]
    attributes = vars(thing)
    # Without an empty dictionary that nothing but the function refers to.
    if attributes or sys.getrefcount(attributes) > _REFERENCES:
        children.append(attributes)
    children += global_variables.data_of_code(code, thing.__globals__)
    children += _otherwise_named(thing, code)
    return number_of(code), children


def _references(function: object) -> int:
    """Return how often the attributes of a function are referred to while they are looked at like this."""
    attributes = vars(function)
    return sys.getrefcount(attributes)


_REFERENCES = _references(lambda: None)


def _otherwise_named(function: types.FunctionType, code: types.CodeType) -> tuple[Any, ...]:
    """Return the names and the docstring of a function, if they are not those of its code."""
    doc = code.co_consts[0] if code.co_consts else None
    if (
        function.__doc__ is doc
        and function.__name__ is code.co_name
        and function.__qualname__ is code.co_qualname
    ):
        return ()
    return "named", function.__name__, function.__qualname__, function.__doc__


def class_(thing: Any) -> Expanded:
    if not is_under_test(thing.__module__):
        return name_of(thing), []
    return name_of(thing), [*thing.__bases__, *global_variables.data_of_class(thing)]


def class_of_a_metaclass(thing: Any) -> Expanded:
    head, children = class_(thing)
    return head, [type(thing), *children]


def suspended(code: str, frame: str, waits_for: str) -> Expander:
    """Return the expander for coroutines and the like, whose attributes have these names."""
    code_and_frame, awaited = operator.attrgetter(code, frame), operator.attrgetter(waits_for)

    def expand(thing: Any) -> Expanded:
        code_of, frame_of = code_and_frame(thing)
        if frame_of is None:
            return ("over", number_of(code_of)), ()
        address = address_of(code_of)
        if (kept := KEPT.get(address)) is not None:
            values = frame_of.f_locals if kept else {}
            children = [awaited(thing) if one is AWAITED else values.get(one) for one in kept]
            return (number_of(code_of), frame_of.f_lasti, ()), children
        # Before the local variables and the stack stand the frame, the function and its code; in Python 3.11
        # the code stands at the beginning, too, and what finalizes an async generator before that.
        referents = gc.get_referents(thing)
        del referents[: referents.index(code_of, 2) + 1]
        # Up to Python 3.12 code that has not run often keeps what it sent on top of its stack.
        if referents and referents[-1] is None and awaited(thing) is not None:
            referents.pop()  # pragma: no cover - Python 3.13, which is measured, keeps nothing there
        # The names show which local variables have no value: they leave no gap among the rest.
        there, names = frame_of.f_locals, _names_of_variables(code_of, address)
        if len(there) != len(names):
            names = tuple(sorted(there))
        referents += global_variables.data_of_code(code_of, frame_of.f_globals)
        return (number_of(code_of), frame_of.f_lasti, names), referents

    return expand


_names: dict[int, tuple[types.CodeType, tuple[str, ...]]] = {}


def _names_of_variables(code: types.CodeType, address: int) -> tuple[str, ...]:
    known = _names.get(address)
    if known is None or known[0] is not code:
        names = {*code.co_varnames, *code.co_cellvars, *code.co_freevars}
        known = _names[address] = code, tuple(sorted(names))
    return known[1]


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
    return type(thing).__name__, [thing.__func__, vars(thing)]


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
    return name_of(type(thing)), (thing.__explore_state__(),)

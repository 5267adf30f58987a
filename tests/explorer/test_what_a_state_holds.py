"""What code in reach can read is in the state: the walk itself tells such states apart, without an audit.

Each part of the walk is switched off in turn, and what it sees is confirmed then.
"""

from __future__ import annotations

import collections
import logging
import os
import types
import weakref
from collections.abc import Callable
from typing import Any, TypeAlias

import pytest

from structsync.testing import Verdict, explore
from structsync.testing._search import search
from structsync.testing._search.audit import Audit
from structsync.testing._state import (
    afterlife,
    builtin_types,
    context_values,
    expanders,
    global_variables,
    libraries,
    named_by_code,
    set_order,
)

from .hidden_state import HIDDEN, Meta

Fault: TypeAlias = Callable[[pytest.MonkeyPatch], None]


@pytest.fixture(autouse=True)
def no_audit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "audit", lambda *_: Audit(0, 0))


def verdict(name: str) -> Verdict:
    program = HIDDEN[name].program()
    return explore(program, search="states", cancels=0, outside="ignore").verdict


@pytest.mark.parametrize("name", HIDDEN)
def test_the_state_holds_what_code_can_read(name: str) -> None:
    assert verdict(name) is Verdict.REFUTED


def attribute(owner: object, name: str, value: object) -> Fault:
    return lambda patch: patch.setattr(owner, name, value)


def expander(kind: type, instead: Any = builtin_types.constant) -> Fault:
    return lambda patch: patch.setitem(expanders.EXPANDERS, kind, instead)


def both(one: Fault, other: Fault) -> Fault:
    def patch(monkeypatch: pytest.MonkeyPatch) -> None:
        one(monkeypatch)
        other(monkeypatch)

    return patch


NAMES = attribute(global_variables.Bindings, "__call__", lambda self: [])
REBOUND = attribute(global_variables, "plain", lambda value: None)
FAULTS: dict[str, Fault] = {
    "a global Decimal": NAMES,
    "a global date": NAMES,
    "a global path": NAMES,
    "a global fraction": NAMES,
    "a global class": REBOUND,
    "a global function": REBOUND,
    "a class attribute": attribute(global_variables, "data_of_class", lambda kind: []),
    "a metaclass without its name": expander(Meta, builtin_types.class_),
    "an import inside a function": attribute(named_by_code, "_imported", lambda *_: ()),
    "an import by a string": attribute(named_by_code, "_ANY_MODULE", frozenset()),
    "globals()": attribute(named_by_code, "_WHOLE_NAMESPACE", frozenset()),
    "a context variable": attribute(context_values, "found_there", lambda *_: []),
    "the decimal context": attribute(context_values, "of_decimal", lambda *_: []),
    "a logger": expander(logging.Logger, builtin_types.identity),
    "a handler": expander(logging.NullHandler, builtin_types.identity),
    "the environment": expander(type(os.environ)),
    "the recursion limit": attribute(libraries, "_SETTINGS", {}),
    "a name in a library": attribute(libraries, "plain", lambda value: None),
    "an attribute of a class of a library": attribute(libraries, "plain", lambda value: None),
    "a cache round a builtin": attribute(global_variables, "is_of_a_library", lambda cached: True),
    "the order of a set": attribute(set_order, "of_values", sorted),
    "an iterator over a deque": expander(type(iter(collections.deque[int]()))),
    "a traceback": expander(types.TracebackType),
    "finalizers": attribute(afterlife, "finalizers", lambda reached: []),
    "a callback of a reference": both(
        expander(weakref.ref, lambda thing: ("reference", [thing()])),
        attribute(afterlife, "callbacks", lambda thing: []),
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_without_that_part_of_the_walk_it_does_not(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for table in ("_of_code", "_of_class", "_of_module"):
        monkeypatch.setattr(global_variables, table, {})
    monkeypatch.setattr(libraries, "_known", {})
    FAULTS[name](monkeypatch)
    assert verdict(name) is Verdict.CONFIRMED


def test_each_way_to_hide_something_has_its_fault() -> None:
    ordinary = {"a metaclass", "a deque", "the order of deaths"}
    assert FAULTS.keys() | ordinary == HIDDEN.keys()

"""What code in reach can read is in the state: the walk itself tells such states apart, without an audit.

Each part of the walk is switched off in turn, and what it sees is confirmed then.
"""

from __future__ import annotations

import collections
import importlib.util
import itertools
import logging
import os
import sys
import types
import uuid
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from structsync.testing import Verdict, explore
from structsync.testing._execution.under_test import is_under_test
from structsync.testing._search import search
from structsync.testing._search.audit import Audit
from structsync.testing._state import (
    afterlife,
    builtin_types,
    class_instances,
    context_values,
    expanders,
    fingerprint,
    global_variables,
    libraries,
    named_by_code,
    set_order,
)
from structsync.testing._state.identity import Expanded

from .conftest import twice
from .hidden_behind import BEHIND, Gate, Lists
from .hidden_in_corners import CORNERS, Day, Defaults, Dice, Reference, TellsNothing
from .hidden_state import HIDDEN, LARGE, Hidden, Meta

Fault: TypeAlias = Callable[[pytest.MonkeyPatch], None]


@pytest.fixture(autouse=True)
def no_audit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "audit", lambda *_: Audit(0, 0))


ALL = HIDDEN | CORNERS | BEHIND


def verdict(name: str) -> Verdict:
    found = explore(ALL[name].program(), search="states", cancels=0, outside="ignore")
    ALL[name].reset()
    return found.verdict


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.unmeasured] if name in LARGE else []) for name in ALL],
)
def test_the_state_holds_what_code_can_read(name: str) -> None:
    assert verdict(name) is Verdict.REFUTED


def before_and_after_another_search(monkeypatch: pytest.MonkeyPatch) -> tuple[int, int]:
    """Explore a program twice, with one between that names what a library changes; return the numbers of states."""
    monkeypatch.setattr(sys, "hidden", [], raising=False)
    of_a_library: dict[str, Any] = {"__name__": "json.hidden", "sys": sys}
    exec("def note(): sys.hidden.append(0)", of_a_library)
    program = twice(of_a_library["note"])
    of_another_test = twice(lambda: sys.hidden)  # type: ignore[attr-defined]

    before = explore(program, search="states", cancels=0)
    explore(of_another_test, search="states", cancels=0)
    after = explore(program, search="states", cancels=0)
    assert after.verdict is before.verdict is Verdict.CONFIRMED
    return before.states, after.states


def test_what_an_earlier_search_could_name_in_a_library_is_no_part_of_a_state(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before, after = before_and_after_another_search(monkeypatch)
    assert after == before


def test_what_no_search_forgets_is_found_in_the_states_of_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(global_variables, "forget", lambda: None)
    before, after = before_and_after_another_search(monkeypatch)
    assert after > before


MAILBOX = """\
latest = 0

def deliver(number):
    global latest
    latest = number
"""


@pytest.fixture
def anew(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No module is known to be under test or not."""
    is_under_test.cache_clear()
    yield
    monkeypatch.undo()
    is_under_test.cache_clear()


@pytest.mark.usefixtures("anew")
def test_a_module_of_the_program_may_have_the_name_of_one_of_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mailbox.py").write_text(MAILBOX)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(sys.modules, "mailbox", sys)
    del sys.modules["mailbox"]
    mailbox = importlib.import_module("mailbox")
    hidden = Hidden(lambda: mailbox.deliver(0), mailbox.deliver, lambda: vars(mailbox)["latest"], 1)
    found = explore(hidden.program(), search="states", cancels=0, outside="ignore")
    assert found.verdict is Verdict.REFUTED


@pytest.mark.usefixtures("anew")
def test_a_module_of_python_is_told_by_where_it_is_from(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not any(map(is_under_test, ["sys", "os.path", "zipimport", "sched", "email.message"]))
    monkeypatch.setitem(sys.modules, "antigravity", types.ModuleType("antigravity"))
    assert is_under_test("antigravity")
    installed = importlib.util.spec_from_loader(
        "tabnanny", None, origin=str(Path(os.__file__).parent / "site-packages" / "tabnanny.py")
    )
    module = types.ModuleType("tabnanny")
    module.__spec__ = installed
    monkeypatch.setitem(sys.modules, "tabnanny", module)
    assert is_under_test("tabnanny")


@pytest.mark.usefixtures("anew")
def test_a_name_that_no_module_has_is_pythons_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """As those of its modules are that only other systems have."""
    names = {*sys.stdlib_module_names, "of_another_system"}
    monkeypatch.setattr(sys, "stdlib_module_names", frozenset(names))
    assert not is_under_test("of_another_system.part")


def attribute(owner: object, name: str, value: object) -> Fault:
    return lambda patch: patch.setattr(owner, name, value)


def expander(kind: type, instead: Any = builtin_types.constant) -> Fault:
    return lambda patch: patch.setitem(expanders.EXPANDERS, kind, instead)


def both(one: Fault, other: Fault) -> Fault:
    def patch(monkeypatch: pytest.MonkeyPatch) -> None:
        one(monkeypatch)
        other(monkeypatch)

    return patch


def by_attributes(thing: Any) -> Expanded:
    return type(thing).__name__, [*vars(thing).values()]


NAMES = attribute(global_variables.Bindings, "__call__", lambda self: [])
OTHERWISE_NAMED = attribute(builtin_types, "_otherwise_named", lambda *_: ())
NO_ORDER = attribute(set_order, "_is_made_of_values", lambda thing: False)
NO_CLASS = attribute(class_instances, "_own", lambda kind: [])
VALUES = type(iter(dict[int, int]().values()))
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
    "a function's doc": OTHERWISE_NAMED,
    "a function's name": OTHERWISE_NAMED,
    "a function's full name": OTHERWISE_NAMED,
    "a staticmethod": expander(staticmethod),
    "a reference with attributes": expander(Reference, afterlife.reference),
    "an object in a slice": expander(slice, builtin_types.text),
    "an object in a count": expander(itertools.count, builtin_types.text),
    "whether a UUID is safe": expander(uuid.UUID, builtin_types.text),
    "slots on top of a date": expander(Day, class_instances.reduced),
    "slots on top of a defaultdict": expander(Defaults, class_instances.reduced),
    "slots on top of a Random": expander(Dice, class_instances.reduced),
    "attributes that are denied": expander(TellsNothing),
    "how much an error has written": expander(BlockingIOError),
    "the namespace of a function": attribute(named_by_code, "_WHOLE_NAMESPACE", frozenset()),
    "the namespace of a frame": attribute(named_by_code, "_WHOLE_NAMESPACE", frozenset()),
    "a name that is resolved": attribute(named_by_code, "_ANY_MODULE", frozenset()),
    "the order of named tuples in a set": NO_ORDER,
    "the order of frozen dataclasses in a set": NO_ORDER,
    "the order of equal hashes in a set": attribute(set_order, "of_equal_hashes", lambda *_: []),
    "a small hexadecimal number": attribute(fingerprint, "_LEAST_ADDRESS", 0),
    "a hexadecimal number of five digits": attribute(fingerprint, "_LEAST_ADDRESS", 1 << 16),
    "a file in memory": attribute(global_variables, "_is_open_file", lambda file: False),
    "a buffer in a library": attribute(libraries, "_CONTENT", ()),
    "the name of a level of logging": attribute(libraries, "_SETTINGS", {}),
    "the handler of a signal": attribute(libraries, "_SETTINGS", {}),
    "the timeout of sockets": attribute(libraries, "_SETTINGS", {}),
    "a dict behind a proxy": expander(types.MappingProxyType, builtin_types.mapping),
    "a dict behind its keys": expander(type(iter({})), class_instances.reduced),
    "a dict behind its values": expander(VALUES, class_instances.reduced),
    "a dict behind its items": expander(type(iter({}.items())), class_instances.reduced),
    "a dict behind its reversed keys": expander(type(reversed({})), class_instances.reduced),
    "a dict behind its reversed values": expander(
        type(reversed({}.values())), class_instances.reduced
    ),
    "a dict behind its reversed items": expander(
        type(reversed({}.items())), class_instances.reduced
    ),
    "a dict behind a zip": expander(VALUES, class_instances.reduced),
    "a set behind an iterator": expander(type(iter(set[int]())), class_instances.reduced),
    "an object behind a weak proxy": expander(weakref.ProxyType),
    "the callback of a weak proxy": both(
        expander(weakref.ProxyType), attribute(afterlife, "_callback", lambda _: None)
    ),
    "the object behind super()": expander(super),
    "slots on top of an enumeration": expander(Gate, by_attributes),
    "what an enumeration contains": expander(Lists, by_attributes),
    "a class made for an error": NO_CLASS,
    "a class made for a reference": NO_CLASS,
}


@pytest.mark.unmeasured
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
    assert FAULTS.keys() | ordinary == ALL.keys()

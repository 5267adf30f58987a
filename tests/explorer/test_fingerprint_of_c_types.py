"""Objects of C types that libraries keep in their modules are looked into: what differs in them is state."""

from __future__ import annotations

import abc
import contextvars
import struct
import sys
import threading
import weakref
from collections.abc import Callable

import pytest
from trio.lowlevel import checkpoint

from structsync.testing._state import c_types, expanders

from .conftest import Side, check_it_differs, check_it_repeats, other

VARIABLE: contextvars.ContextVar[int] = contextvars.ContextVar("VARIABLE")


class Local(threading.local):
    def __init__(self, number: int) -> None:
        self.number = number


def _local(number: int) -> threading.local:
    made = threading.local()
    made.number = number
    return made


def _lock(number: int) -> object:
    made = threading.Lock()
    if number:
        made.acquire()
    return made


def _reentrant(number: int) -> object:
    made = threading.RLock()
    for _ in range(number):
        made.acquire()
    return made


def _context(number: int) -> contextvars.Context:
    made = contextvars.Context()
    made.run(VARIABLE.set, number)
    return made


def _token(number: int) -> object:
    made = contextvars.Context()
    token = made.run(VARIABLE.set, 1)
    if number:
        made.run(VARIABLE.reset, token)
    return token


def _thread(number: int) -> object:
    made = threading.Thread(name="the same")
    vars(made)["number"] = number
    return made


def _weak_proxy(number: int) -> object:
    return weakref.proxy(LASTING if number else Local(0))


LASTING = Local(0)
MAKERS: dict[str, Callable[[int], object]] = {
    "a local of threads": _local,
    "a subclass of it": Local,
    "a lock of threads": _lock,
    "how often it is held": _reentrant,
    "what is kept at a thread": _thread,
    "a layout": lambda number: struct.Struct("<I" if number else "<Q"),
    "a union": lambda number: int | str if number else int | bytes,
    "a context": _context,
    "a used token": _token,
    "a weak proxy of what is gone": _weak_proxy,
    "the slot of an object": lambda number: {1: number}.__setitem__,
}


def holds(make: Callable[[int], object]) -> Side:
    async def either() -> None:
        held = make(int(other()))
        await checkpoint()
        del held

    return either


@pytest.mark.parametrize("name", MAKERS)
def test_what_differs_inside_makes_a_difference(name: str) -> None:
    check_it_differs(holds(MAKERS[name]), True)


@pytest.mark.unmeasured
@pytest.mark.parametrize("which", [False, True])
@pytest.mark.parametrize("name", MAKERS)
def test_what_is_alike_makes_none(name: str, which: bool) -> None:
    check_it_repeats(holds(MAKERS[name]), which)


@pytest.mark.parametrize(
    "one",
    [contextvars.Token.MISSING, vars(abc.ABC)["_abc_impl"], threading.main_thread()],
    ids=["missing", "abstract", "main thread"],
)
def test_a_singleton_stands_for_itself(one: object) -> None:
    check_it_repeats(holds(lambda _: one), False)


def test_a_proxy_is_what_it_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    """wrapt itself is not installed here: whatever stands in its place."""

    class ObjectProxy(list[int]):
        pass

    wrappers = type("wrappers", (), {"ObjectProxy": ObjectProxy})
    monkeypatch.setitem(sys.modules, "wrapt._wrappers", wrappers)
    look = c_types.expander_of(ObjectProxy)
    assert look is c_types.proxy
    head, children = look(ObjectProxy([1]))
    assert "ObjectProxy" in head
    assert 1 in children


def test_the_planted_fault_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without what looks inside, the two sides are equal."""
    expanders.expander(type(_local(0)))
    monkeypatch.setitem(expanders.EXPANDERS, type(_local(0)), lambda thing: ("local", []))
    with pytest.raises(AssertionError, match="makes no difference"):
        check_it_differs(holds(_local), True)

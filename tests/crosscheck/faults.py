"""Planted faults: each makes the fingerprint blind to one thing that a state consists of."""

from __future__ import annotations

import collections
import contextlib
import functools
import hashlib
import marshal
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any
from unittest import mock

import trio
from trio._core._run import CancelStatus

from structsync.testing import Settings
from structsync.testing._execution import loop_engine
from structsync.testing._search import choosers
from structsync.testing._settings import ClockMode
from structsync.testing._state import expanders, fingerprint

from . import frames
from .generate import Case
from .program import Op, Program, Worker

Expanded = tuple[Any, Sequence[Any]]
Change = Callable[[Any, list[Any]], Expanded]
Fault = Callable[[], contextlib.AbstractContextManager[Any]]

_SUSPENDED = (types.CoroutineType, types.GeneratorType, types.AsyncGeneratorType)


class Blinded:
    """Stands in for the fingerprint's expanders: what is seen of some objects is changed."""

    def __init__(self, concerns: Callable[[type], bool], change: Change) -> None:
        self._concerns = concerns
        self._change = change

    def get(self, kind: type) -> Callable[[Any], Expanded]:
        """Return what looks into objects of a type."""
        expand = expanders.expander(kind)
        if not self._concerns(kind):
            return expand
        if expand is expanders.SET:  # these are written by the walk itself
            return lambda thing: self._change("set", [])
        return lambda thing: self._changed(*expand(thing))

    def _changed(self, head: Any, children: Sequence[Any]) -> Expanded:
        return self._change(head, [*children])


def sees(kinds: type | tuple[type, ...], change: Change) -> Fault:
    """What is seen of objects of these types is changed."""
    blinded = Blinded(lambda kind: issubclass(kind, kinds), change)
    return lambda: mock.patch.object(fingerprint, "_expanders", blinded)


def sees_named(name: str, change: Change) -> Fault:
    """The same for a class that is known by its name."""
    blinded = Blinded(lambda kind: kind.__name__ == name, change)
    return lambda: mock.patch.object(fingerprint, "_expanders", blinded)


def writes(change: Callable[[list[Any]], list[Any]]) -> Fault:
    """What is written of a state is changed before it is hashed."""

    def fault() -> contextlib.AbstractContextManager[Any]:
        def dumps(data: list[Any], version: int) -> bytes:
            return marshal.dumps(change(data), version)

        return mock.patch.object(fingerprint, "marshal", types.SimpleNamespace(dumps=dumps))

    return fault


def nothing(head: Any, children: list[Any]) -> Expanded:
    """The object is there, and that is all."""
    return head, []


def sorted_children(head: Any, children: list[Any]) -> Expanded:
    """In no order."""
    return head, sorted(children, key=repr)


def without_stack(head: Any, children: list[Any]) -> Expanded:
    """The local variables alone: those that have a value come first."""
    if head[0] == "over":
        return head, children
    return head, children[: len(head[2])]


def without_locals(head: Any, children: list[Any]) -> Expanded:
    """All but the local variables."""
    if head[0] == "over":
        return head, children
    return head, children[len(head[2]) :]


def without_names(head: Any, children: list[Any]) -> Expanded:
    """Local variables without telling which of them have a value."""
    return head[:2], children


def without_position(head: Any, children: list[Any]) -> Expanded:
    """A frame that could be anywhere in its code."""
    return (head[0], head[2:]), children


def equal_is_same(data: list[Any]) -> list[Any]:
    """1, 1.0 and True are one, as they are to a dict."""
    return [int(one) if isinstance(one, bool | float) and one in (0, 1) else one for one in data]


def after(mark: bytes) -> Callable[[list[Any]], list[Any]]:
    """The number after each such mark is not told."""

    def change(data: list[Any]) -> list[Any]:
        pairs = zip([None, *data], data, strict=False)
        return [0 if before == mark else one for before, one in pairs]

    return change


def sees_places_alone() -> contextlib.AbstractContextManager[Any]:
    """Of a task it is told where it stands, and not with what."""

    def content(self: Any, task: Any) -> None:
        self.out.append(self._place_in_code(task))

    return mock.patch.object(fingerprint._Walk, "content", content)


def forgets_the_budget() -> contextlib.AbstractContextManager[Any]:
    """A state is known also if there was less left to inject the first time."""

    def known(self: Any, engine: Any, budget: int) -> bool:
        key = self._fingerprinter(engine)
        met = key in self.seen
        self.seen[key] = (0, 0)
        return met

    return mock.patch.object(choosers.DepthFirst, "_known", known)


def forgets_the_time() -> contextlib.AbstractContextManager[Any]:
    """It is always midnight."""
    real = fingerprint.Fingerprinter.__call__

    def call(self: Any, engine: Any) -> bytes:
        now, engine.clock.now = engine.clock.now, 0.0
        try:
            return real(self, engine)
        finally:
            engine.clock.now = now

    return mock.patch.object(fingerprint.Fingerprinter, "__call__", call)


def forgets_what_comes() -> contextlib.AbstractContextManager[Any]:
    """No task knows what a runnable task was woken with."""
    return mock.patch.object(loop_engine.LoopEngine, "pending_of", return_value=None)


def forgets_the_context() -> contextlib.AbstractContextManager[Any]:
    """Context variables are not looked at."""
    return mock.patch.object(expanders, "changed_context", return_value=[])


def hashes_to_one_byte() -> contextlib.AbstractContextManager[Any]:
    """Different states often have the same hash."""
    short = functools.partial(hashlib.blake2b, digest_size=1)
    return mock.patch.object(fingerprint, "blake2b", lambda data, digest_size: short(data))


def alone(*workers: Sequence[Op], settings: Settings) -> Case:
    """A program written for one fault, which random ones show too seldom."""
    program = Program(tuple(Worker(tuple(ops)) for ops in workers), capacity=0)
    return Case(program, replace(settings, symmetry=False))


def after_a_blink(deed: Op, look: Sequence[Op], clock: ClockMode = "autojump") -> Case:
    """A task does something if it sees another one blink; when both have gone, a third looks."""
    return alone(
        [Op("perhaps", k=0, body=(deed,)), Op("log", "b")],
        [Op("blink", k=0), Op("log")],
        look,
        settings=Settings(cancels=0, clock=clock),
    )


@dataclass(frozen=True, slots=True)
class Planted:
    """A fault, where it matters, and the reduction that must show it.

    ``about`` names the constructs that random programs are made of, or is one program.
    """

    plant: Fault
    about: Sequence[str] | Case
    way: str = "states"
    first: int = 0  # the random program to begin with, where many before it do not show the fault


FAULTS = {
    "value stack": Planted(sees(_SUSPENDED, without_stack), [*frames.STACK]),
    "local variables": Planted(sees(_SUSPENDED, without_locals), ["local"]),
    "unbound locals": Planted(sees(_SUSPENDED, without_names), ["unbound local", "deleted local"]),
    "position": Planted(sees(_SUSPENDED, without_position), ["position in the code", "log"]),
    "generators": Planted(sees(types.GeneratorType, nothing), ["generator"]),
    "async generators": Planted(sees(types.AsyncGeneratorType, nothing), ["async generator"]),
    "cells": Planted(sees(types.CellType, nothing), ["cell"]),
    "functions": Planted(sees(types.FunctionType, nothing), ["default argument"]),
    "bound methods": Planted(sees(types.MethodType, nothing), ["bound method"]),
    "order of a deque": Planted(
        sees(collections.deque, sorted_children),
        ["append to a deque", "rotate a deque"],
        first=30,
    ),
    "order of a dict": Planted(
        sees(collections.OrderedDict, sorted_children),
        ["insert in a dict", "move in a dict"],
        first=40,
    ),
    "order of a list": Planted(sees(list, sorted_children), ["log"]),
    "items of a set": Planted(sees((set, frozenset), nothing), ["add to a set", "take from a set"]),
    "exceptions": Planted(sees(Exception, nothing), ["exception held"]),
    "objects with slots": Planted(sees_named("Slotted", nothing), ["object with slots"]),
    "iterators": Planted(sees(type(iter(())), nothing), ["iterator: tuple"]),
    "cancel scopes": Planted(
        sees((trio.CancelScope, CancelStatus), nothing),
        after_a_blink(
            Op("cancel what is open", k=1), [Op("own scope", body=(Op("pause"), Op("pause")))]
        ),
    ),
    "events": Planted(
        sees(trio.Event, nothing),
        after_a_blink(Op("set an event"), [Op("ask an event", "b"), Op("log", "b")]),
    ),
    "memory channels": Planted(
        sees_named("MemoryChannelState", nothing),
        ["try to send", "try to receive", "perhaps", "blink"],
    ),
    "primitives of structsync": Planted(
        sees_named("SemaphoreCore", nothing),
        after_a_blink(
            Op("give structsync permits"),
            [
                Op("try structsync permits", k=1),
                Op("try structsync permits", "b", k=0),
                Op("log", "b"),
            ],
        ),
    ),
    "type of equal values": Planted(
        writes(equal_is_same), ["likeness: 1", "likeness: True", "likeness: 1.0"]
    ),
    "aliases": Planted(writes(after(b"again")), ["alias", "swapped aliases"]),
    "which of the tasks": Planted(
        writes(after(b"task")),
        Case(
            Program(
                (
                    Worker((Op("park", "b"),), copies=2, numbered=True),
                    Worker(
                        (Op("how many are parked"), Op("unpark"), Op("end of the main nursery"))
                    ),
                )
            ),
            Settings(cancels=1, symmetry=False),
        ),
    ),
    "what like tasks hold": Planted(sees_places_alone, ["local"], "symmetry"),
    "remaining budget": Planted(
        forgets_the_budget,
        alone(
            [Op("blink", k=0)],
            [Op("forget", k=1), Op("log", "b")],
            [Op("am I cancelled")],
            settings=Settings(cancels=1, cancel="tasks"),
        ),
    ),
    "time": Planted(
        forgets_the_time,
        after_a_blink(Op("pause", pause=3), [Op("what time is it")], clock="explore"),
    ),
    "what a task is woken with": Planted(
        forgets_what_comes,
        alone(
            [Op("receive"), Op("log")],
            [Op("try to send", "b", 1), Op("log", "b")],
            [Op("try to send", "b", 2), Op("log", "b")],
            settings=Settings(cancels=0),
        ),
    ),
    "context": Planted(forgets_the_context, ["context variable"]),
    "most of the hash": Planted(hashes_to_one_byte, ["local", "log"]),
}

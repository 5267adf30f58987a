"""Clocks, chance, threads and sockets: refused where the code under test reaches for them."""

from __future__ import annotations

import contextlib
import functools
import os
import random
import sys
import threading
import time
import types
import uuid
from collections.abc import Callable, Iterator, Mapping
from types import FrameType, ModuleType
from typing import Any

import trio

from structsync.testing._errors import NondeterminismError

from . import clocks, outside, reaching
from .captured import replaced_where_captured
from .current import Current, explored_from, note, note_change_outside
from .replacing import replaced
from .under_test import is_under_test

_CLOCKS = ("time", "time_ns", "clock_gettime", "clock_gettime_ns")
#: These tell the time only if they are not given one.
_OF_NOW = {"asctime": 0, "ctime": 0, "gmtime": 0, "localtime": 0, "strftime": 1}
#: Modules whose functions ask for chance on behalf of their caller.
_ON_BEHALF = frozenset({"random", "secrets"})
_THREADS = frozenset({"_thread.start_new_thread", "_thread.start_joinable_thread"})
_OUTSIDE = {
    "socket.__new__": "a socket",
    "subprocess.Popen": "a process",
    "os.exec": "a process",
    "os.fork": "a process",
    "os.forkpty": "a process",
    "os.posix_spawn": "a process",
    "os.spawn": "a process",
    "os.system": "a process",
}
_WATCHED = frozenset({*_THREADS, *_OUTSIDE, *outside.EVENTS})


@contextlib.contextmanager
def refused_chance(tests: tuple[object, ...]) -> Iterator[None]:
    hidden = [
        name
        for name in random.__all__
        if isinstance(getattr(getattr(random, name), "__self__", None), random.Random)
    ]
    seeded = "make a random.Random(seed) in the test"
    refused = [(random, name, seeded) for name in hidden]
    clocks_of_now = [name for name in (*_CLOCKS, *_OF_NOW) if hasattr(time, name)]
    refused += [(time, name, "use trio.current_time()") for name in clocks_of_now]
    refused += [(os, name, seeded) for name in ("urandom", "getrandom") if hasattr(os, name)]
    refused += [(uuid, "uuid1", seeded), (uuid, "uuid4", seeded)]
    with contextlib.ExitStack() as stack:
        stands_for = {
            getattr(module, name): _refusing(module, name, repair)
            for module, name, repair in refused
        }
        measuring = {name: getattr(time, name) for name in clocks.MEASURING}
        for name, function in measuring.items():
            stands_for[function] = clocks.telling(name, explored_from, note)
        unheard = [name for name in outside.UNHEARD if hasattr(os, name)]
        for name in unheard:
            stands_for[getattr(os, name)] = _noting(name)
        names = [(module, name) for module, name, _ in refused]
        names += [(time, name) for name in measuring] + [(os, name) for name in unheard]
        names.append((random, "_urandom"))  # by this one SystemRandom knows that of os
        for module, name in names:
            stack.enter_context(replaced(module, name, stands_for[getattr(module, name)]))
        for module in [*sys.modules.values()]:
            if is_under_test(getattr(module, "__name__", "")):
                for name, value in _bound_at_import(module, stands_for):
                    stack.enter_context(replaced(module, name, stands_for[value]))
        by_address = {id(function): other for function, other in stands_for.items()}
        stack.enter_context(replaced_where_captured(by_address, *tests))
        stack.enter_context(replaced(random.Random, "__init__", _seeded(random.Random.__init__)))
        yield


def _seeded(init: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(init)
    def init_with_seed(self: random.Random, x: Any = None) -> None:
        if x is None:
            _refuse(sys._getframe(1), "random.Random()", "give it a seed")
        init(self, x)

    return init_with_seed


def _bound_at_import(
    module: ModuleType, functions: Mapping[Any, object]
) -> list[tuple[str, Callable[..., object]]]:
    """Return the names by which a module of the user knows functions: ``from time import time``."""
    kinds = types.BuiltinFunctionType | types.FunctionType | types.MethodType
    return [
        (name, value)
        for name, value in [*vars(module).items()]
        if isinstance(value, kinds) and value in functions
    ]


def _refusing(module: ModuleType, name: str, repair: str) -> Callable[..., Any]:
    function = getattr(module, name)
    given = _OF_NOW.get(name)

    @functools.wraps(function)
    def refuse(*args: Any, **kwargs: Any) -> Any:
        if given is None or args[given : given + 1] in ((), (None,)):
            _refuse(_caller(sys._getframe(1)), f"{module.__name__}.{name}()", repair)
        return function(*args, **kwargs)

    return refuse


def _caller(frame: FrameType) -> FrameType:
    """Return on whose behalf a function is called."""
    while frame.f_globals.get("__name__") in _ON_BEHALF and frame.f_back is not None:
        frame = frame.f_back
    return frame


def _noting(name: str) -> Callable[..., Any]:
    function = getattr(os, name)

    @functools.wraps(function)
    def note_and_call(*args: Any, **kwargs: Any) -> Any:
        if Current.execution is not None and threading.get_ident() == Current.thread:
            where = outside.place(sys._getframe(1))
            if where is not None:
                note_change_outside(f"calls os.{name}() {where}")
        return function(*args, **kwargs)

    return note_and_call


def _refuse(frame: FrameType, what: str, repair: str) -> None:
    """Raise if it is the code under test that calls."""
    if explored_from(frame) is not None:
        where = f"{frame.f_code.co_filename}:{frame.f_lineno}"
        raise NondeterminismError(
            f"{what} at {where}: no schedule decides what it returns; {repair}"
        )


@contextlib.contextmanager
def refused_threads() -> Iterator[None]:
    run_sync = trio.to_thread.run_sync

    @functools.wraps(run_sync)
    async def refuse(*args: Any, **kwargs: Any) -> Any:
        if Current.execution is None:
            return await run_sync(*args, **kwargs)
        raise NondeterminismError(reaching.text("a thread", sys._getframe()))

    start = threading.Thread.start

    @functools.wraps(start)
    def refuse_start(thread: threading.Thread) -> None:
        if Current.execution is not None and threading.get_ident() == Current.thread:
            raise NondeterminismError(reaching.text("a thread", sys._getframe()))
        start(thread)

    with (
        replaced(trio.to_thread, "run_sync", refuse),
        # Python 3.11 calls no audit hook for it.
        replaced(threading.Thread, "start", refuse_start),
    ):
        yield


@functools.cache
def install_audit() -> None:
    """Listen to the interpreter for good (a hook cannot be taken out); it acts while exploring."""

    def refuse(event: str, args: object, watched: frozenset[str] = _WATCHED) -> None:
        if event not in watched:  # by far the most, such as each look at the code of a function
            return
        if Current.execution is None or threading.get_ident() != Current.thread:
            return
        if event in _THREADS:
            raise NondeterminismError(reaching.text("a thread", sys._getframe(1)))
        if event in _OUTSIDE:
            raise NondeterminismError(reaching.text(_OUTSIDE[event], sys._getframe(1)))
        if Current.changed_outside is None:
            Current.changed_outside = outside.change(event, args)

    vars(refuse)["__cantrace__"] = True  # for debuggers, and for what measures coverage
    sys.addaudithook(refuse)

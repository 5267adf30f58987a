"""What is watched and forbidden while a test is explored, because a schedule must be all there is.

Which scopes the program opens and which primitives it makes is seen in their classes; the clock,
chance, threads and sockets are refused by name where the code under test reaches for them.
"""

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
from typing import Any, ClassVar, cast

import trio

from structsync._core.monitors.entry import Invocation
from structsync._runtime.events import PrimitiveEvent, observe
from structsync.testing._errors import NondeterminismError

from . import clocks, oracles, outside, own, reaching
from .captured import replaced_where_captured
from .execution import Execution
from .under_test import is_under_test


class _Current:
    """The execution that runs now, and its thread."""

    execution: Execution | None = None
    thread: int = 0
    ticket_read: bool = False
    changed_outside: str | None = None
    notes: ClassVar[dict[str, None]] = {}


def changed_outside() -> str | None:
    """Return what the program has first changed in the world outside, and where."""
    return _Current.changed_outside


def note_change_outside(what: str) -> None:
    """Note what the program has changed there in another process."""
    _Current.changed_outside = _Current.changed_outside or what


def notes() -> tuple[str, ...]:
    """Return what is to be said of how the program was run, in the order in which it showed."""
    return tuple(_Current.notes)


_CLOCKS = ("time", "time_ns")
_THREADS = frozenset({"_thread.start_new_thread", "_thread.start_joinable_thread"})
_OUTSIDE = {
    "socket.__new__": "a socket",
    "subprocess.Popen": "a process",
    "os.fork": "a process",
    "os.posix_spawn": "a process",
}
_WATCHED = frozenset({*_THREADS, *_OUTSIDE, *outside.EVENTS})


@contextlib.contextmanager
def controlled(*tests: object) -> Iterator[None]:
    """Watch and forbid while the block runs; executions inside of it call :func:`executing`."""
    _install_audit()
    _Current.ticket_read = False
    _Current.changed_outside = None
    _Current.notes.clear()
    patches = (
        _watched_scopes,
        _watched_primitives,
        _watched_tickets,
        _refused_threads,
    )
    with contextlib.ExitStack() as stack:
        for patch in patches:
            stack.enter_context(patch())
        stack.enter_context(_refused_chance(tests))
        stack.enter_context(observe(_forward))
        yield


@contextlib.contextmanager
def executing(execution: Execution) -> Iterator[None]:
    """Mark the part of an execution in which code under test runs."""
    before = _Current.execution, _Current.thread
    _Current.execution, _Current.thread = execution, threading.get_ident()
    try:
        yield
    finally:
        _Current.execution, _Current.thread = before


def release(execution: Execution) -> None:
    """Let everything again, should the execution have been dropped."""
    if _Current.execution is execution:
        _Current.execution = None


def ticket_was_read() -> bool:
    """Return whether the program has read ``Invocation.ticket`` since it is watched."""
    return _Current.ticket_read


def _forward(event: PrimitiveEvent) -> None:
    """Hand an event on to the execution in which it happens."""
    execution = _Current.execution
    if execution is not None:
        execution.watched.on_event(event)


@contextlib.contextmanager
def _replaced(owner: Any, name: str, new: object) -> Iterator[None]:
    missing = object()
    own = vars(owner).get(name, missing)
    setattr(owner, name, new)
    try:
        yield
    finally:
        if own is missing:
            delattr(owner, name)
        else:
            setattr(owner, name, own)


@contextlib.contextmanager
def _watched_scopes() -> Iterator[None]:
    enter, leave = trio.CancelScope.__enter__, trio.CancelScope.__exit__

    def watched_enter(scope: trio.CancelScope) -> trio.CancelScope:
        entered = enter(scope)
        execution = _Current.execution
        if execution is None:
            return entered
        opener = sys._getframe(1)
        if not _opened_by_the_program(opener):
            execution.scopes.sleeps(scope)
        elif _counts(execution, opener):
            task, raises = trio.lowlevel.current_task(), _raises_if_cancelled(opener)
            execution.scopes.entered(scope, task, raises=raises, caller=opener)
        return entered

    def watched_exit(scope: trio.CancelScope, *exc_info: Any) -> bool:
        if _Current.execution is not None:
            _Current.execution.scopes.left(scope)
        return leave(scope, *exc_info)

    with (
        _replaced(trio.CancelScope, "__enter__", watched_enter),
        _replaced(trio.CancelScope, "__exit__", watched_exit),
    ):
        yield


@contextlib.contextmanager
def _watched_tickets() -> Iterator[None]:
    # Not a property in place of the slot: the class would look as if it hid state.
    def watched_get(invocation: Invocation, name: str) -> Any:
        if name == "ticket" and not _is_trios_or_ours(sys._getframe(1)):
            _Current.ticket_read = True
        return object.__getattribute__(invocation, name)

    with _replaced(Invocation, "__getattribute__", watched_get):
        yield


def _opened_by_the_program(caller: FrameType) -> bool:
    """Return whether it is code of the program that opens a scope, not code of trio for itself.

    A nursery's scope is opened by ``__aenter__``, on behalf of whoever awaits that, and the scope
    of ``fail_after`` by a generator of trio.
    """
    if not _is_trios(caller):
        return not _is_trios_or_ours(caller)
    if caller.f_code.co_name == "__aenter__":
        return caller.f_back is None or not _is_trios_or_ours(caller.f_back)
    return _raises_if_cancelled(caller)


def _raises_if_cancelled(caller: FrameType) -> bool:
    return _is_trios(caller) and caller.f_code.co_name in ("fail_at", "fail_after")


def _counts(execution: Execution, opener: FrameType) -> bool:
    asked = execution.settings.cancel == "own"
    return not asked or own.is_opened_in(execution.own_file, opener)


def _is_trios(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0] == "trio"


def _is_trios_or_ours(frame: FrameType) -> bool:
    module = str(frame.f_globals.get("__name__", ""))
    # A structsync.Scope is opened on behalf of the program.
    ours = module.startswith("structsync.") and module != "structsync._primitives.scope"
    return ours or _is_trios(frame)


@contextlib.contextmanager
def _watched_primitives() -> Iterator[None]:
    with contextlib.ExitStack() as stack:
        for kind in oracles.FOUND:
            stack.enter_context(
                _replaced(kind, "__init__", _watched_init(cast(Any, kind).__init__))
            )
        yield


def _watched_init(init: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(init)
    def init_and_watch(self: Any, *args: Any, **kwargs: Any) -> None:
        init(self, *args, **kwargs)
        if _Current.execution is not None:
            _Current.execution.watched.found(self)

    return init_and_watch


@contextlib.contextmanager
def _refused_chance(tests: tuple[object, ...]) -> Iterator[None]:
    hidden = [
        name
        for name in random.__all__
        if isinstance(getattr(getattr(random, name), "__self__", None), random.Random)
    ]
    seeded = "make a random.Random(seed) in the test"
    refused = [(random, name, seeded) for name in hidden]
    refused += [(time, name, "use trio.current_time()") for name in _CLOCKS]
    refused += [(os, "urandom", seeded), (uuid, "uuid1", seeded), (uuid, "uuid4", seeded)]
    with contextlib.ExitStack() as stack:
        stands_for = {
            getattr(module, name): _refusing(module, name, repair)
            for module, name, repair in refused
        }
        measuring = {name: getattr(time, name) for name in clocks.MEASURING}
        for name, function in measuring.items():
            stands_for[function] = clocks.telling(name, _explored_from, note)
        names = [(module, name) for module, name, _ in refused] + [(time, one) for one in measuring]
        for module, name in names:
            stack.enter_context(_replaced(module, name, stands_for[getattr(module, name)]))
        for module in [*sys.modules.values()]:
            if is_under_test(getattr(module, "__name__", "")):
                for name, value in _bound_at_import(module, stands_for):
                    stack.enter_context(_replaced(module, name, stands_for[value]))
        by_address = {id(function): other for function, other in stands_for.items()}
        stack.enter_context(replaced_where_captured(by_address, *tests))
        stack.enter_context(_replaced(random.Random, "__init__", _seeded(random.Random.__init__)))
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

    @functools.wraps(function)
    def refuse(*args: Any, **kwargs: Any) -> Any:
        _refuse(sys._getframe(1), f"{module.__name__}.{name}()", repair)
        return function(*args, **kwargs)

    return refuse


def _refuse(frame: FrameType, what: str, repair: str) -> None:
    """Raise if it is the code under test that calls."""
    if _explored_from(frame) is not None:
        where = f"{frame.f_code.co_filename}:{frame.f_lineno}"
        raise NondeterminismError(
            f"{what} at {where}: no schedule decides what it returns; {repair}"
        )


def _explored_from(frame: FrameType) -> Execution | None:
    """Return the execution in which the code under test calls from this frame, if it does."""
    if _Current.execution is None or threading.get_ident() != _Current.thread:
        return None
    return _Current.execution if is_under_test(frame.f_globals.get("__name__", "")) else None


def note(text: str) -> None:
    """Note what a reader of the verdict is to know."""
    _Current.notes.setdefault(text)


@contextlib.contextmanager
def _refused_threads() -> Iterator[None]:
    run_sync = trio.to_thread.run_sync

    @functools.wraps(run_sync)
    async def refuse(*args: Any, **kwargs: Any) -> Any:
        if _Current.execution is None:
            return await run_sync(*args, **kwargs)
        raise NondeterminismError(reaching.text("a thread", sys._getframe()))

    start = threading.Thread.start

    @functools.wraps(start)
    def refuse_start(thread: threading.Thread) -> None:
        if _Current.execution is not None and threading.get_ident() == _Current.thread:
            raise NondeterminismError(reaching.text("a thread", sys._getframe()))
        start(thread)

    with (
        _replaced(trio.to_thread, "run_sync", refuse),
        # Python 3.11 calls no audit hook for it.
        _replaced(threading.Thread, "start", refuse_start),
    ):
        yield


@functools.cache
def _install_audit() -> None:
    """Listen to the interpreter for good (a hook cannot be taken out); it acts while exploring."""

    def refuse(event: str, args: object, watched: frozenset[str] = _WATCHED) -> None:
        if event not in watched:  # by far the most, such as each look at the code of a function
            return
        if _Current.execution is None or threading.get_ident() != _Current.thread:
            return
        if event in _THREADS:
            raise NondeterminismError(reaching.text("a thread", sys._getframe(1)))
        if event in _OUTSIDE:
            raise NondeterminismError(reaching.text(_OUTSIDE[event], sys._getframe(1)))
        if _Current.changed_outside is None:
            _Current.changed_outside = outside.change(event, args)

    vars(refuse)["__cantrace__"] = True  # for debuggers, and for what measures coverage
    sys.addaudithook(refuse)

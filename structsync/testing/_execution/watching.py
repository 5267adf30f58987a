"""Which scopes a program opens, which primitives it makes, and whether it reads tickets."""

from __future__ import annotations

import contextlib
import functools
import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, cast

import trio

from structsync._core.monitors.entry import Invocation

from . import oracles, own
from .current import Current
from .execution import Execution
from .replacing import replaced

_enter, _leave = trio.CancelScope.__enter__, trio.CancelScope.__exit__


@contextlib.contextmanager
def watched_scopes() -> Iterator[None]:
    with (
        replaced(trio.CancelScope, "__enter__", _watched_enter),
        replaced(trio.CancelScope, "__exit__", _watched_exit),
    ):
        yield


# Functions without a closure: each open scope has the second one on a stack, where all of it is in its code.


def _watched_enter(scope: trio.CancelScope) -> trio.CancelScope:
    entered = _enter(scope)
    execution = Current.execution
    if execution is None or scope is execution.whole:
        return entered
    opener = sys._getframe(1)
    if not _opened_by_the_program(opener):
        execution.scopes.sleeps(scope)
    elif _counts(execution, opener):
        task, raises = trio.lowlevel.current_task(), _raises_if_cancelled(opener)
        execution.scopes.entered(scope, task, raises=raises, caller=opener)
    return entered


def _watched_exit(scope: trio.CancelScope, *exc_info: Any) -> bool:
    if Current.execution is not None:
        Current.execution.scopes.left(scope)
    return _leave(scope, *exc_info)


@contextlib.contextmanager
def watched_tickets() -> Iterator[None]:
    # Not a property in place of the slot: the class would look as if it hid state.
    def watched_get(invocation: Invocation, name: str) -> Any:
        if name == "ticket" and not _is_trios_or_ours(sys._getframe(1)):
            Current.ticket_read = True
        return object.__getattribute__(invocation, name)

    with replaced(Invocation, "__getattribute__", watched_get):
        yield


def _opened_by_the_program(caller: FrameType) -> bool:
    """Return whether it is code of the program that opens a scope, not code of trio for itself.

    A nursery's scope is opened by ``__aenter__``, on behalf of its caller, and the scope
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
    return _belongs_to_trio(str(frame.f_globals.get("__name__", "")))


def _is_trios_or_ours(frame: FrameType) -> bool:
    return _belongs_to_trio_or_us(str(frame.f_globals.get("__name__", "")))


@functools.cache
def _belongs_to_trio(module: str) -> bool:
    return module.partition(".")[0] == "trio"


@functools.cache
def _belongs_to_trio_or_us(module: str) -> bool:
    # A structsync.Scope is opened on behalf of the program.
    ours = module.startswith("structsync.") and module != "structsync._primitives.scope"
    return ours or _belongs_to_trio(module)


@contextlib.contextmanager
def watched_primitives() -> Iterator[None]:
    with contextlib.ExitStack() as stack:
        for kind in oracles.FOUND:
            stack.enter_context(replaced(kind, "__init__", _watched_init(cast(Any, kind).__init__)))
        yield


def _watched_init(init: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(init)
    def init_and_watch(self: Any, *args: Any, **kwargs: Any) -> None:
        init(self, *args, **kwargs)
        if Current.execution is not None:
            Current.execution.watched.found(self)

    return init_and_watch

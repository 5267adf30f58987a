"""The primitives of a run, used by threads.

A thread holds in its own name: what it enters by :func:`hold` belongs to it, and neither to the task that
started it nor to any other. All is decided in the run; the thread waits for the answer. It may be a worker
thread of trio's, or any other thread that has the run's *token*.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Any, Generic, NoReturn, TypeVar, TypeVarTuple, cast, final

from trio.lowlevel import TrioToken

from ._naming import name_what_is_loaded
from ._runtime.thread_blocks import Block, Call

__all__ = ["Hold", "call", "hold"]

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
Ts = TypeVarTuple("Ts")


def hold(
    manager: AbstractAsyncContextManager[T, Any],
    *,
    timeout: float | None = None,
    token: TrioToken | None = None,
) -> Hold[T]:
    """Return a ``with`` block for a thread, which holds what an ``async with`` block holds for a task.

    Inside, :func:`call` runs as the holder, so a thread that holds a condition can wait on it. Blocks may
    be nested, and the innermost is left first. The block yields what ``async with`` would yield, and the
    context manager gets the errors of the body, as there.

    Fairness: the thread queues like a task, from the moment at which the run receives its request.
    Cancellation: in a worker thread a wait ends with :exc:`trio.Cancelled` when the call that started the
    thread is cancelled, unless it was granted first. In any other thread it ends with
    :exc:`trio.RunFinishedError` when the run ends; what that thread holds is released then, and it gets the
    same error when it leaves the block.

    Args:
      manager: any async context manager, such as ``lock``, ``semaphore.permits(2)``, ``rwlock.reading()``
          or ``acquire_all(...)``; it is entered once.
      timeout: how long to wait, in seconds of the run's clock; None for as long as it takes. With 0 it
          takes only what is free.
      token: the token of the run, from :func:`trio.lowlevel.current_trio_token`; one of trio's worker
          threads needs none. With it, cancelling the call that started the worker thread interrupts
          nothing.

    Raises:
      TypeError, ValueError: if an argument is not as described.
      TimeoutError: on entering, if the time is up first.
      RuntimeError: on entering, in the thread of a run, which this would block; in a thread that trio did
          not start, without a token; or if the block was entered before.
      trio.RunFinishedError: on entering, if the run has ended, before or meanwhile.
      trio.Cancelled: on entering, if the call that started this worker thread is cancelled.
      KeyboardInterrupt: on entering, in the main thread, after Ctrl-C; nothing is held then.

    Source: Martins 2020 (the synchronous interface on the asynchronous one).
    """
    if not hasattr(type(manager), "__aenter__") or not hasattr(type(manager), "__aexit__"):
        raise TypeError(
            f"hold() takes an async context manager, such as a lock or semaphore.permits(2), not {manager!r}"
        )
    _check(timeout, token)
    return Hold(Block(manager, token), timeout)


def call(
    async_fn: Callable[[*Ts], Awaitable[T]],
    *args: *Ts,
    timeout: float | None = None,
    token: TrioToken | None = None,
) -> T:
    """Call an async function in the run, and wait for what it returns.

    Inside a block of :func:`hold` it runs as the holder; outside, in a task of its own, so it must not
    leave a lock locked (use a block for that). It sees a copy of the context of the thread.

    Cancellation: as in :func:`hold`; the function is cancelled, and if it returns all the same, so does
    this.

    Args:
      async_fn: the function.
      args: its arguments.
      timeout: how long it may take, in seconds of the run's clock; None for as long as it takes. With 0 it
          may not wait.
      token: as in :func:`hold`.

    Raises:
      BaseException: what the function raises.
      TimeoutError: if it is cancelled because the time is up.
      PermitLeakError: if it would leave a lock locked outside any block; the lock is released.
      TypeError, ValueError: if an argument is not as described.
      RuntimeError, trio.RunFinishedError, trio.Cancelled: as in :func:`hold`.
      KeyboardInterrupt: in the main thread, after Ctrl-C; a note says so if the function had ended.
    """
    if not callable(async_fn):
        raise TypeError(
            f"call() takes an async function and its arguments, not {async_fn!r}: call(fn, *args)"
        )
    _check(timeout, token)
    return cast(T, Call(async_fn, args, timeout).ask(token))


@final
class Hold(Generic[T_co]):
    """What :func:`hold` returns; a context manager, for one block."""

    __slots__ = ("_block", "_entered", "_timeout")
    _block: Block
    _timeout: float | None

    def __init__(self, block: Block, timeout: float | None) -> None:
        self._block = block
        self._timeout = timeout
        self._entered = False

    def __repr__(self) -> str:
        return f"<structsync.threads.hold of {self._block.manager!r}>"

    def __reduce__(self) -> NoReturn:
        raise TypeError(f"{self!r} cannot be copied or pickled")

    def __enter__(self) -> T_co:
        if self._entered:
            raise RuntimeError(f"{self!r} was entered before; hold() it again")
        self._entered = True
        return cast(T_co, self._block.enter(self._timeout))

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
        /,
    ) -> bool:
        return self._block.leave(error)

    def __del__(self) -> None:
        # Ctrl-C in the main thread may come between entering and the body, or before leaving begins.
        self._block.leave_if_lost()


def _check(timeout: object, token: object) -> None:
    if timeout is not None:
        if isinstance(timeout, bool) or not isinstance(timeout, int | float):
            raise TypeError(f"timeout must be a number of seconds or None, not {timeout!r}")
        # the clock adds floats: of ints it takes none beyond them
        if not (0 <= timeout <= sys.float_info.max or timeout == math.inf):
            raise ValueError(f"timeout must be >= 0 seconds, or None for no limit, not {timeout}")
    if token is not None and not isinstance(token, TrioToken):
        raise TypeError(
            f"token must be what trio.lowlevel.current_trio_token() returns in the run, not {token!r}"
        )


name_what_is_loaded()

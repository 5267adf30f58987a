"""The primitives of a run, used by threads.

A thread holds in its own name: what it enters by :func:`hold` belongs to it, and neither to the task that
started it nor to any other. All is decided in the run; the thread waits for the answer. It may be a worker
thread of trio's, or any other thread that has the run's *token*.
"""

from __future__ import annotations

import math
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

    Inside, :func:`call` runs as the holder, so that a thread that holds a condition can wait for it.
    Blocks may be nested, and the innermost is left first. Entering gives what ``async with`` would give;
    an error of the body is told to the context manager, as there.

    Fairness: the thread queues as a task does, and when the run hears of it. Cancellation: a wait ends
    with :exc:`trio.Cancelled` when what started a worker thread is cancelled; what was granted first is
    held. It ends with :exc:`trio.RunFinishedError` in another thread when the run ends; what that thread
    holds is released then, and it is told by the same error when it leaves the block.

    Args:
      manager: any async context manager, of ours such as ``lock``, ``semaphore.permits(2)``,
          ``rwlock.reading()`` or ``acquire_all(...)``; entered once.
      timeout: how long to wait, in seconds of the run's clock; None for as long as it takes. With 0
          what is free is taken.
      token: of the run, from :func:`trio.lowlevel.current_trio_token`; a worker thread of trio's needs
          none. With it, that which started the worker thread interrupts nothing.

    Raises:
      TypeError, ValueError: if an argument is not as described.
      TimeoutError: on entering, if the time is up first.
      RuntimeError: on entering, in the thread of a run, where this would block the run; in a thread that
          trio did not start if there is no token; if the block was entered before.
      trio.RunFinishedError: on entering, if the run has ended, before or meanwhile.
      trio.Cancelled: on entering, if what started this worker thread is cancelled.
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

    Inside of a block of :func:`hold` of this thread and that run it runs as the holder; outside, in a task
    of its own, so that it must not leave a lock locked: that is what blocks are for. It sees a copy of the
    context of the thread.

    Cancellation: as of :func:`hold`; the function is cancelled, and what it returns all the same is
    returned.

    Args:
      async_fn: the function.
      args: its arguments.
      timeout: how long it may take, in seconds of the run's clock; None for as long as it takes. With 0 it
          may do what need not wait.
      token: as of :func:`hold`.

    Raises:
      BaseException: what the function raises.
      TimeoutError: if it is cancelled because the time is up.
      PermitLeakError: if it would leave a lock locked outside of any block; the lock is released.
      TypeError, ValueError: if an argument is not as described.
      RuntimeError, trio.RunFinishedError, trio.Cancelled: as of :func:`hold`.
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
        if math.isnan(timeout) or timeout < 0:
            raise ValueError(f"timeout must be >= 0 seconds, or None for no limit, not {timeout}")
    if token is not None and not isinstance(token, TrioToken):
        raise TypeError(
            f"token must be what trio.lowlevel.current_trio_token() returns in the run, not {token!r}"
        )


name_what_is_loaded()

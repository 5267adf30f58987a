"""A call in another process, with its error brought home."""

from __future__ import annotations

import pickle
import traceback
from collections.abc import Awaitable, Callable
from typing import Any

import trio


class RemoteTraceback(Exception):
    """The traceback of an error in the process in which it was raised; the error's ``__cause__``."""

    def __str__(self) -> str:
        return f"\n{self.args[0]}"


class Broken:
    """What a worker process answers for a call that raised."""

    def __init__(self, error: BaseException, text: str) -> None:
        self.error = error
        self.text = text


def call(fn: Callable[..., Any], *args: Any) -> Any:
    """Call the function, in the worker process; answer its error instead of raising it.

    What is raised here is then trouble on the way: something cannot be sent.
    """
    try:
        return fn(*args)
    except BaseException as error:  # noqa: BLE001 - raised again at home
        trace = error.__traceback__
        frames = traceback.format_exception(type(error), error, trace and trace.tb_next)
        return Broken(_sendable(error), "".join(frames).rstrip())


def _sendable(error: BaseException) -> BaseException:
    try:
        if isinstance(pickle.loads(pickle.dumps(error)), BaseException):
            return error
    except Exception:  # noqa: BLE001 - whatever its class does
        pass
    try:
        shown = repr(error)
    except Exception:  # noqa: BLE001 - the same
        shown = f"<{type(error).__qualname__} without a repr>"
    return RuntimeError(f"a job failed with an error that cannot be pickled: {shown}")


async def run(run_sync: Callable[..., Awaitable[Any]], fn: Callable[..., Any], *args: Any) -> Any:
    """Call the function by ``run_sync``, which knows a worker process.

    Raises:
      TypeError: if the function, an argument or the result cannot be pickled.
      OSError: if no process can be started, as where too many files are open.
      BaseException: what the function raises.
    """
    import trio_parallel

    try:
        answer = await run_sync(call, fn, *args)
    except (trio.Cancelled, trio_parallel.BrokenWorkerError, OSError):
        raise
    except Exception as error:
        raise TypeError(
            f"{fn!r}, its arguments and its result go from one process to another, and one of them "
            f"cannot be pickled: {error}; use functions and classes of modules"
        ) from error
    if isinstance(answer, Broken):
        raise answer.error from RemoteTraceback(answer.text)
    return answer

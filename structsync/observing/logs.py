"""Leaks and breaks as records of the standard library's logging, with their facts as plain values."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from trio.lowlevel import enable_ki_protection

from structsync._runtime.causes import Closed, error_of
from structsync._runtime.events import PrimitiveEvent, observe
from structsync._runtime.live import Live
from structsync._runtime.reports import Trouble, listeners

from .per_primitive import PerPrimitive
from .places import current_time, name_of_task, titled

#: Of one primitive so many reasons are remembered, so that each is logged once.
MOST_REASONS = 16


class _Logs:
    def __init__(self, logger: logging.Logger, level: int) -> None:
        self._logger = logger
        self._level = level
        self._seen: PerPrimitive[None] = PerPrimitive()

    def note(self, event: PrimitiveEvent) -> None:
        """Log that requests end because their primitive broke: an observer."""
        if event.kind != "broken":
            return
        cause = getattr(event.request, "cause", None)
        if cause is not None and not isinstance(cause, Closed):
            waiter = None if event.task is None else name_of_task(event.task)
            self._once("broken", event.primitive, str(error_of(cause)), waiter)

    def report(self, what: Trouble, live: Live[Any], reason: str) -> None:
        """Log a leak, or that an owner has ended."""
        if what == "leak":
            self._log(what, live, reason, None)
        else:
            self._once(what, live, reason, None)

    def _once(self, what: Trouble, live: Live[Any], reason: str, waiter: str | None) -> None:
        seen = self._seen.to_write(live)
        if reason not in seen:
            if len(seen) >= MOST_REASONS:
                del seen[next(iter(seen))]
            seen[reason] = None
            self._log(what, live, reason, waiter)

    def _log(self, what: Trouble, live: Live[Any], reason: str, waiter: str | None) -> None:
        facts = {
            "event": what,
            "kind": type(live).__name__,
            "name": live.name if isinstance(live.name, str) else None,
            "reason": reason,
            "waiter": waiter,
            "tasks_waiting": len(live._core.queue),
            "time": current_time(),
        }
        message = f"{titled(live)}: {reason}"
        self._logger.log(self._level, "%s", message, extra={"structsync": facts})


def log_events(
    logger: logging.Logger | None = None, *, level: int = logging.ERROR
) -> AbstractContextManager[None]:
    """Log leaks and breaks while the block runs, with their facts as plain values.

    A *leak* is what the end of a :func:`open_scope` finds; a *break* is an owner that has ended, a round of
    a barrier that is broken, or a pool that a failing job has cancelled. Each is one record, however many
    tasks wait. Closing is no break, and is not logged.

    A record has an attribute ``structsync``, for a formatter that writes JSON: a dictionary with
    ``event`` (``"leak"`` or ``"broken"``), ``kind`` and ``name`` of the primitive, ``reason``,
    ``waiter`` (the name of a task that got the error, if there is one), ``tasks_waiting`` and ``time``
    (trio's clock).

    If a handler raises, the program and the logging continue.

    Args:
      logger: by default the logger ``structsync.events``.
      level: the level of the records.

    Raises:
      TypeError: if ``logger`` has no method ``log``, or ``level`` is not an int.
    """
    if not (logger is None or callable(getattr(logger, "log", None))):
        raise TypeError(f"logger must be a logging.Logger or None, not {logger!r}")
    if type(level) is not int:
        raise TypeError(f"level must be an int, such as logging.ERROR, not {level!r}")
    found = logging.getLogger("structsync.events") if logger is None else logger
    return _logging(_Logs(found, level))


@contextmanager
@enable_ki_protection
def _logging(logs: _Logs) -> Iterator[None]:
    with observe(logs.note):
        listeners.append(logs.report)
        try:
            yield
        finally:
            if logs.report in listeners:
                listeners.remove(logs.report)

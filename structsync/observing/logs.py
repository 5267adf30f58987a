"""Leaks and breaks as records of the standard library's logging, with their facts as plain values."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Any

from trio.lowlevel import enable_ki_protection

from structsync._runtime.causes import error_of, is_break
from structsync._runtime.events import PrimitiveEvent, observe
from structsync._runtime.live import Live
from structsync._runtime.reports import Trouble, listeners

from .places import current_time, name_of_task, titled

#: So many breaks are remembered, the latest, so that each is logged once.
MOST_BREAKS = 100
_log = logging.getLogger("structsync")


class _Logs:
    def __init__(self, logger: logging.Logger, level: int) -> None:
        self._logger = logger
        self._level = level
        # By identity: an equal cause may be that of another break.
        self._seen: dict[int, object] = {}
        self._has_failed = False

    def note(self, event: PrimitiveEvent) -> None:
        """Log that requests end because their primitive broke: an observer."""
        if event.kind == "broken":
            cause = getattr(event.request, "cause", None)
            if is_break(cause):
                waiter = None if event.task is None else name_of_task(event.task)
                self._once(event.primitive, cause, str(error_of(cause)), waiter)

    def report(self, what: Trouble, live: Live[Any], reason: str) -> None:
        """Log a leak, or what has broken a primitive."""
        if what == "leak":
            self._log(what, live, reason, None)
        else:
            self._once(live, live._core.cause, reason, None)

    def _once(self, live: Live[Any], cause: object, reason: str, waiter: str | None) -> None:
        """Log a break: not again for each waiter, of the primitive and of those that broke with it."""
        if id(cause) in self._seen:
            return
        if len(self._seen) >= MOST_BREAKS:
            del self._seen[next(iter(self._seen))]
        self._seen[id(cause)] = cause
        self._log("broken", live, reason, waiter)

    def _log(self, what: Trouble, live: Live[Any], reason: str, waiter: str | None) -> None:
        try:
            facts = _facts(what, live, reason, waiter)
            message = f"{titled(live)}: {reason}"
            self._logger.log(self._level, "%s", message, extra={"structsync": facts})
        except BaseException:  # noqa: BLE001 - as of an observer; and what is logged next may succeed
            self._report_failure()

    def _report_failure(self) -> None:
        if not self._has_failed:
            self._has_failed = True
            # The handler may be one of this logger, too.
            with suppress(BaseException):
                _log.exception("a handler of log_events() failed; the other records are logged")


def _facts(what: Trouble, live: Live[Any], reason: str, waiter: str | None) -> dict[str, object]:
    return {
        "event": what,
        "kind": type(live).__name__,
        "name": live.name if isinstance(live.name, str) else None,
        "reason": reason,
        "waiter": waiter,
        "tasks_waiting": len(live._core.queue),
        "time": current_time(),
    }


def log_events(
    logger: logging.Logger | None = None, *, level: int = logging.ERROR
) -> AbstractContextManager[None]:
    """Log leaks and breaks while the block runs, with their facts as plain values.

    A *leak* is what the end of an :func:`open_scope` block finds; a *break* is an owner that has ended, a round of
    a barrier that is broken, or a pool that a failing job has cancelled. Each is one record, however many
    tasks wait, a lock with all its conditions included. Closing, completing and cancelling are not breaks, and
    are not logged.

    A record has an attribute ``structsync``, for a formatter that writes JSON: a dictionary with
    ``event`` (``"leak"`` or ``"broken"``), ``kind`` and ``name`` of the primitive, ``reason``,
    ``waiter`` (the name of a task that got the error, if there is one), ``tasks_waiting`` and ``time``
    (trio's clock).

    If a handler raises, the program and the logging continue; the first such error is logged to the
    ``structsync`` logger.

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
            listeners.remove(logs.report)

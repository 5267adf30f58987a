"""What is informed of what went wrong beside the events of requests: leaks, and owners that have ended."""

from __future__ import annotations

import logging
from collections.abc import Callable, Hashable
from typing import Any, Literal, TypeAlias

from .live import Live

Trouble: TypeAlias = Literal["leak", "broken"]

#: Called with what happened, to which primitive, and the reason in words, in the middle of a transition.
listeners: list[Callable[[Trouble, Live[Any], str], object]] = []
#: Called for the lines at which a task acquired what it holds of a primitive, where that is traced.
acquired_at: list[Callable[[Live[Any], Hashable], list[str]]] = []
_log = logging.getLogger("structsync")


def report(what: Trouble, live: Live[Any], reason: str) -> None:
    """Inform the listeners; remove one that fails, because its error is not the program's."""
    for listener in tuple(listeners):
        try:
            listener(what, live, reason)
        except BaseException:  # noqa: BLE001 - as of an observer
            _log.exception("listener %r failed and was removed", listener)
            if listener in listeners:
                listeners.remove(listener)


def lines_of(live: Live[Any], who: Hashable) -> list[str]:
    """Return at which lines a task acquired what it holds, by the trace that was opened first."""
    return acquired_at[0](live, who) if acquired_at else []

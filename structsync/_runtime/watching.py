"""What is informed of tasks that are about to park: the guard against deadlocks.

Not an observer, because it has to know the request, and of a permit whether a block holds it. Without
a watcher all that it costs is a look at an empty list where a task enters a block, or is about to park
other than in the plain queue of one primitive.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

from trio.lowlevel import Task

from structsync._core.queue.request import BROKEN, PENDING, Request

from .job_wait import JobsWait
from .live import Live
from .transitions import of_this_thread
from .waking import wake

#: What a task may be parked for.
Wait: TypeAlias = Request[Any] | JobsWait


class Watcher(Protocol):
    """Called in the middle of a transition; may not raise, and changes nothing there."""

    def parks(self, request: Wait) -> None:
        """Take note that the current task is about to park for this request (the first of a group)."""

    def enters(self, task: Task, lives: Sequence[Live[Any]]) -> None:
        """Take note that what a task is granted of these from now on, a block holds; none: it is over."""

    def permits(self, live: Live[Any]) -> Mapping[Hashable, int]:
        """Return which tasks hold how many permits of a semaphore in blocks, as far as that was seen."""
        ...


watchers: list[Watcher] = []
_log = logging.getLogger("structsync")


def inform_of_park(request: Wait) -> None:
    for watcher in tuple(watchers):
        try:
            watcher.parks(request)
        except BaseException:  # noqa: BLE001
            _remove(watcher)


def inform_of_block(task: Task, lives: Sequence[Live[Any]]) -> None:
    for watcher in tuple(watchers):
        try:
            watcher.enters(task, lives)
        except BaseException:  # noqa: BLE001
            _remove(watcher)


def _remove(watcher: Watcher) -> None:
    """Remove a watcher that fails: let out, its error would make the step half done (I6)."""
    _log.exception("watcher %r failed and was removed", watcher)
    if watcher in watchers:
        watchers.remove(watcher)


def after_this_step(do: Callable[[], object]) -> None:
    """Do something right after the transition that runs now."""
    of_this_thread().later.append(do)


def end_wait(request: Wait, error: BaseException) -> None:
    """Raise an error where a task waits for a request, or is about to; let in those behind it."""
    if request.status is not PENDING:
        return
    if isinstance(request, JobsWait):
        request.end(error)
        return
    live: Live[Any] = request.primitive
    transitions = of_this_thread()
    with transitions:
        ended = [live._core.end_with(request, BROKEN, error), *live._core.settle()]
        wake(transitions, live, ended)

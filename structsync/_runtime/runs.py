"""Whether a primitive may be used now: is it open, and is this its run?"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from trio.lowlevel import Task, current_root_task, current_task

from structsync._core.queue.arbiter import EndedForGood

from .causes import error_of
from .live import Live
from .transitions import NOBODYS, Transitions, of_this_thread


@contextmanager
def errors_of_ended() -> Iterator[None]:
    """Raise the error of a primitive that is closed or broken where its core refuses for that."""
    try:
        yield
    except EndedForGood as ended:
        error = error_of(ended.cause)
        raise error from error.__cause__


def check_run(live: Live[Any], *, disturbs_sleepers_only: bool = False) -> Transitions:
    """Return the transitions of this thread, in whose run the primitive is used from now on.

    What disturbs only sleepers is allowed where no task sleeps, so that a request that its run left
    behind can be withdrawn.

    Raises:
      RuntimeError: if the primitive is in use by another run (C6): a task waits, or is known to
          hold it. What the first run releases must not fail because a second one queued.
    """
    here = of_this_thread()
    if _is_free(live):
        live._transitions, live._root = here, None
        return here
    root = current_root()
    if root is not None and (live._root is root or (not live._root and live._transitions is here)):
        return here
    if disturbs_sleepers_only and not any(request.parked for request in live._core.queue):
        return here
    raise RuntimeError(
        f"{live!r} is in use by another trio run: it can be used from here once no task holds "
        "it or waits for it (withdraw() a request that a run left behind); from another thread, "
        "use structsync.threads, or go through trio.from_thread.run_sync()"
    )


def transitions_of(live: Live[Any]) -> Transitions:
    """Return the transitions in which the primitive may be used from here."""
    transitions = live._transitions
    return transitions if transitions.mark._is_owned() else check_run(live)


def check_changeable(several: Iterable[Live[Any]]) -> None:
    """Raise if one of these may not be changed from here now, so that a change of them all is refused as a whole.

    Raises:
      RuntimeError: if another run uses one of them, or a transition runs in this thread (I6).
    """
    here = of_this_thread()
    if here.running:
        here.refuse()
    for live in several:
        transitions_of(live)


def _is_free(live: Live[Any]) -> bool:
    last, root = live._transitions, live._root
    if live._core.is_idle or (last is NOBODYS and root is None):
        return True
    if live._core.queue:
        return False
    # What was held when its run ended, or its thread, binds no task any more.
    if root is not None:
        return root.coro.cr_frame is None
    return all(thread.ident != last.thread for thread in threading.enumerate())


def current_root() -> Task | None:
    """Return the root task of the run here, which tells runs apart; None outside a run."""
    try:
        return current_root_task()
    except RuntimeError:  # no run here at all; trio 0.27 cannot be asked
        return None


def running_task() -> Task | None:
    """Return the current task, or None outside a run."""
    try:
        return current_task()
    except RuntimeError:  # trio 0.27 cannot be asked
        return None

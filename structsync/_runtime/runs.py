"""Who may use a primitive now: is it in service, and is this its run?"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import get_ident
from typing import TYPE_CHECKING, Any

from trio.lowlevel import Task, current_root_task, current_task

from structsync._core.queue.arbiter import EndedForGood

from .causes import error_of

if TYPE_CHECKING:
    from .primitive import Primitive


@contextmanager
def errors_of_ended() -> Iterator[None]:
    """Raise the error of a primitive that is closed or broken where its core refuses for that."""
    try:
        yield
    except EndedForGood as ended:
        raise error_of(ended.cause) from None


def check_run(primitive: Primitive[Any], *, disturbs_sleepers_only: bool = False) -> None:
    """Raise RuntimeError if the primitive is in use by another run than the current one (C6).

    What disturbs only sleepers is allowed where nobody sleeps, so that a request that its run left
    behind can be withdrawn.
    """
    core = primitive._core
    if core.at_rest:
        primitive._thread, primitive._root = get_ident(), None
        return
    try:
        here = current_root_task()
    except RuntimeError:  # no run here at all; trio 0.27 cannot be asked
        here = None
    if here is not None and (primitive._root or primitive._thread) in (here, get_ident()):
        return
    if disturbs_sleepers_only and not any(request.parked for request in core.queue.values()):
        return
    raise RuntimeError(
        f"{primitive!r} is in use by another trio run: it can be used from here once nobody holds "
        "it or waits for it (withdraw() a request that a run left behind); from a thread, go "
        "through trio.from_thread.run_sync()"
    )


def running_task() -> Task | None:
    """Return the current task, or None outside a run."""
    try:
        return current_task()
    except RuntimeError:  # trio 0.27 cannot be asked
        return None

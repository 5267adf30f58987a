"""What is watched and forbidden while a test is explored, because a schedule must be all there is.

Which scopes the program opens and which primitives it makes is seen in their classes; the clock,
chance, threads and sockets are refused by name where the code under test reaches for them.
"""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator

from .current import Current
from .refusals import install_audit, refused_chance, refused_threads
from .watched_queues import hear_nothing
from .watching import watched_primitives, watched_scopes, watched_tickets


@contextlib.contextmanager
def controlled(*tests: object) -> Iterator[None]:
    """Watch and forbid while the block runs; executions inside of it call :func:`executing`."""
    install_audit()
    Current.ticket_read = Current.age_decides = False
    Current.changed_outside = None
    Current.notes.clear()
    patches = (
        watched_scopes,
        watched_primitives,
        watched_tickets,
        refused_threads,
    )
    with contextlib.ExitStack() as stack:
        for patch in patches:
            stack.enter_context(patch())
        stack.enter_context(refused_chance(tests))
        stack.callback(hear_nothing)
        yield


class without_collector:  # noqa: N801 - a context manager; as a generator it takes longer
    """Let no finalizer run because the collector happens to run: that is decided by how much was made.

    What is in no cycle dies where the last reference to it goes, as ever.
    """

    __slots__ = ("_enabled",)

    def __enter__(self) -> None:
        self._enabled = gc.isenabled()
        gc.disable()

    def __exit__(self, *exc_info: object) -> None:
        if self._enabled:
            gc.enable()

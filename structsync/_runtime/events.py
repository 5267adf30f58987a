"""The event stream: what happened to which request, for whoever observes."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, final

from trio.lowlevel import enable_ki_protection

from structsync._core.queue.request import Request

from .arguments import check_sync
from .live import Live, everywhere

if TYPE_CHECKING:
    import trio

EventKind: TypeAlias = Literal["requested", "granted", "withdrawn", "broken", "released", "closed"]
_log = logging.getLogger("structsync")


@final
@dataclass(frozen=True, slots=True)
class Event:
    """One step of one primitive.

    Attributes:
      kind: ``requested`` (a claim was made), then one of ``granted``, ``withdrawn`` and ``broken``;
          ``released`` (a claim was given back); ``closed`` (the primitive was).
      primitive: the primitive.
      claim: what was claimed or given back: a number of permits, a task, a borrower; None for
          ``closed``.
      task: whose claim it is, as far as that is known: the task that asked or gave back; None
          outside a run.
    """

    kind: EventKind
    primitive: Live[Any]
    claim: Any
    task: trio.lowlevel.Task | None


Observer: TypeAlias = Callable[[Event], object]


@contextmanager
@enable_ki_protection
def observe(observer: Observer) -> Iterator[None]:
    """Call ``observer`` with each :class:`Event` of every primitive while the block runs.

    The observer is called synchronously, after the step is complete and the woken tasks are
    scheduled. It must not acquire, resize, close or notify (``RuntimeError``), and what it releases
    or withdraws is carried out right after the step. If it raises, the error is logged to the
    ``structsync`` logger and the observer is removed. Unused, it costs nothing measurable.

    Raises:
      TypeError: if the observer is not a sync function.
    """
    check_sync(observer, "observer")
    everywhere.append(observer)
    try:
        yield
    finally:
        if observer in everywhere:
            everywhere.remove(observer)


def emit(
    kind: EventKind, primitive: Live[Any], claim: Any, task: trio.lowlevel.Task | None
) -> None:
    """Inform the observers of one step, inside the transition that made it."""
    event = Event(kind, primitive, claim, task)
    own = primitive._observers
    for observers in (everywhere,) if own is everywhere else (everywhere, own):
        for observer in tuple(observers):
            try:
                observer(event)
            except BaseException:  # noqa: BLE001 - let out, it would make the step half done (I6)
                _log.exception("observer %r failed and was removed", observer)
                if observer in observers:
                    observers.remove(observer)


def emit_ended(primitive: Live[Any], ended: Iterable[Request[Any]]) -> None:
    """Inform the observers how requests ended."""
    for request in ended:
        emit(request.status.value, primitive, request.claim, request.waiter)  # type: ignore[arg-type]

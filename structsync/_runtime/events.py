"""The event stream: what happened to which request, for observers."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, cast, final

import trio
from trio.lowlevel import Task, enable_ki_protection

from structsync._core.queue.request import Request

from .arguments import check_sync
from .live import Live, everywhere, without_event
from .runs import running_task

EventKind: TypeAlias = Literal[
    "requested", "granted", "withdrawn", "broken", "released", "changed", "closed"
]
_log = logging.getLogger("structsync")


@final
@dataclass(frozen=True, slots=True)
class PrimitiveEvent:
    """One step of one primitive.

    Attributes:
      kind: ``requested`` (a claim was made), then one of ``granted``, ``withdrawn`` and ``broken``;
          ``released`` (a claim was released); ``changed`` (a call such as ``resize``, ``notify``
          or ``wake`` changed what the primitive grants); ``closed`` (the primitive was).
      primitive: the primitive.
      claim: what was claimed or released: a number of permits, a task, a borrower; of ``changed``
          the name of what was called and its value, such as ``("resize", 5)``; None for ``closed``.
      task: the task whose claim it is, if that is known: the one that requested it, also where another task
          closes its :class:`Request` or :class:`Holding`; otherwise the one that released. None outside a
          run.
      request: the request: the same object (compare by ``is``) in all events of one request; None if the
          event belongs to no single request.
      time: when it happened, by trio's clock, in seconds; None outside a run.
    """

    kind: EventKind
    primitive: Live[Any]
    claim: Any
    task: Task | None
    request: object = None
    time: float | None = None

    @property
    def details(self) -> dict[str, object]:
        """The facts of this event, in plain values.

        ``task`` (its name, or None); of a claim ``n``, ``mode``, ``owner``, ``borrower``, ``entry``,
        ``predicate`` or ``job``, as the primitive has it, or ``claim``, which for a primitive of your own is
        what you made it; of ``changed`` what was called, with its value, or the ``repr`` of an object.
        """
        found: dict[str, object] = {"task": None if self.task is None else self.task.name}
        if self.kind == "changed":
            name, value = self.claim
            found[name] = value if _is_plain(value) else repr(value)
        elif self.claim is not None:
            found |= self.primitive._details_of(self.claim)
        return found


def _is_plain(value: object) -> bool:
    if isinstance(value, tuple | list | dict):
        several = value.items() if isinstance(value, dict) else value
        return all(map(_is_plain, several))
    return value is None or isinstance(value, str | int | float)


class _Open:
    """An event whose attributes can be assigned yet."""

    __slots__ = ("claim", "kind", "primitive", "request", "task", "time")


def _event(
    kind: EventKind,
    primitive: Live[Any],
    claim: Any,
    task: Task | None,
    request: object,
    time: float | None,
) -> PrimitiveEvent:
    """Return ``PrimitiveEvent(...)``, in a third of the time: events are most of what an observer costs."""
    event: Any = _Open()
    event.kind = kind
    event.primitive = primitive
    event.claim = claim
    event.task = task
    event.request = request
    event.time = time
    event.__class__ = PrimitiveEvent  # Python refuses it unless both have the same slots
    return cast(PrimitiveEvent, event)


Observer: TypeAlias = Callable[[PrimitiveEvent], object]


def observe(observer: Observer) -> AbstractContextManager[None]:
    """Call ``observer`` with each :class:`PrimitiveEvent` of every primitive while the block runs.

    The observer is called synchronously, after the step is complete and the woken tasks are
    scheduled. It must not acquire, resize, close or notify (``RuntimeError``), and what it releases
    or withdraws is carried out right after the step. If it raises, the error is logged to the
    ``structsync`` logger and the observer is removed. Unused, it costs nothing measurable.

    Raises:
      TypeError: if the observer is not a sync function.
    """
    check_sync(observer, "observer")
    return _observing(observer)


@contextmanager
@enable_ki_protection
def _observing(observer: Observer) -> Iterator[None]:
    everywhere.append(observer)
    try:
        yield
    finally:
        if observer in everywhere:
            everywhere.remove(observer)


def emit(
    kind: EventKind, primitive: Live[Any], claim: Any, task: Task | None, request: object = None
) -> None:
    """Inform the observers of one step, inside the transition that made it."""
    own = primitive._observers
    if without_event and own is everywhere and len(everywhere) == 1:
        only = without_event.get(everywhere[0])
        if only is not None:
            only(kind, primitive, task)
            return
    try:
        now = trio.current_time()
    except RuntimeError:  # outside a run
        now = None
    event = _event(kind, primitive, claim, task, request, now)
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
        kind: Any = request.status.value
        emit(kind, primitive, request.claim, request.waiter, request)


def emit_requested(request: Request[Any]) -> None:
    """Inform the observers of a request that stands in the queue now."""
    emit("requested", request.primitive, request.claim, request.waiter, request)


def emit_taken(live: Live[Any], claim: Any) -> None:
    """Inform the observers of a claim that was granted without a wait."""
    task, request = running_task(), object()  # which it was, though it never stood in the queue
    emit("requested", live, claim, task, request)
    emit("granted", live, claim, task, request)


def emit_released(
    live: Live[Any], claim: Any, owner: Task | None, ended: Iterable[Request[Any]]
) -> None:
    """Inform the observers of a claim that was released, and of what that ended."""
    emit("released", live, claim, running_task() if owner is None else owner)
    emit_ended(live, ended)

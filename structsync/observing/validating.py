"""A running program held against a specification, and a program recorded for that."""

from __future__ import annotations

import io
import logging
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, final

from rich.console import Console
from trio.lowlevel import enable_ki_protection

from structsync._runtime.arguments import check_sync
from structsync._runtime.events import PrimitiveEvent, observe
from structsync._runtime.live import Live
from structsync._runtime.schedules import is_another
from structsync.checking._events import TraceEvent
from structsync.checking._following import Explain, Follower
from structsync.checking._language import Spec
from structsync.checking._trace_file import header, line_of
from structsync.report import Counterexample, to_text

from .places import current_time

_log = logging.getLogger("structsync")

#: Of so many requests that had events last the numbers are remembered.
MOST_REQUESTS = 10_000

#: What can be seen of a primitive's state, by name.
Observed = Callable[[Any], Mapping[str, Any]]


@final
class NothingFollowed(AssertionError):
    """No event was a step of the specification, so nothing was compared with it, and nothing is confirmed."""

    __module__ = "structsync.checking"


@final
class TraceRefuted(AssertionError):
    """A program did what its specification does not allow.

    Attributes:
      counterexample: the first such event, with the steps that led to it.
    """

    __module__ = "structsync.checking"

    counterexample: Counterexample

    def __init__(self, counterexample: Counterexample) -> None:
        self.counterexample = counterexample
        console = Console(width=100, record=True, file=io.StringIO())
        console.print(to_text(counterexample))
        super().__init__(console.export_text())


class _Events:
    """Makes plain events of what primitives report, for what takes them in."""

    def __init__(self, take: Callable[[TraceEvent], object], observed: Observed | None) -> None:
        self.error: BaseException | None = None
        self._take = take
        self._observed = observed
        self._requests: dict[Hashable, int] = {}
        self._number = 0

    def note(self, event: PrimitiveEvent) -> None:
        """Take in an event of a primitive: inside its transition, where nothing may be raised."""
        details = event.details
        details.pop("task", None)
        task = None if event.task is None else event.task.name
        request = None if event.request is None else self._number_of(event.request)
        primitive = event.primitive
        name = getattr(primitive, "name", None) or type(primitive).__name__
        try:
            state = dict(self._observed(primitive)) if self._observed else {}
            self.take(TraceEvent(event.kind, details, task, name, request, state, event.time))
        except Exception as error:  # noqa: BLE001 - the observer would be removed, the block be green
            self.error = self.error or error

    def take(self, event: TraceEvent) -> None:
        """Take in an event, unless an earlier one could not be."""
        if self.error is None:
            self._take(event)

    def _number_of(self, request: Hashable) -> int:
        found = self._requests.pop(request, None)
        if found is None:
            found = self._number = self._number + 1
        self._requests[request] = found
        if len(self._requests) > MOST_REQUESTS:
            del self._requests[next(iter(self._requests))]
        return found


class _Happenings:
    """What a program reports of itself."""

    def __init__(self, events: Any) -> None:
        self._events = events

    def happened(
        self, kind: str, /, *, state: Mapping[str, Any] | None = None, **details: Any
    ) -> None:
        """Report a step of your own object, right after it happened.

        Args:
          kind: what happened: for the default ``explain`` the name of an action.
          state: what can be seen of the state now, by name; it is compared with the
              specification's ``observed()``.
          details: its values: for the default ``explain`` those of the action's parameters.
        """
        self._events.take(
            TraceEvent(kind, details, None, "", None, dict(state or {}), current_time())
        )


@final
class Trace(_Happenings):
    """The comparison of a program with a specification, inside the block of :func:`validate`."""

    def __init__(self, events: Any, follower: Any) -> None:
        super().__init__(events)
        self._follower = follower

    @property
    def events(self) -> int:
        """How many events were compared, up to the first that is not allowed."""
        events: int = self._follower.events
        return events

    @property
    def steps(self) -> dict[str, int]:
        """How many events were followed by a step of the specification, by the name of the action."""
        return dict(self._follower.taken)

    @property
    def refutation(self) -> Counterexample | None:
        """The first event that is not allowed, or after which a property is broken; None so far."""
        refutation: Counterexample | None = self._follower.refutation
        return refutation


@final
class TraceRecorder(_Happenings):
    """A trace that is being written, inside the block of :func:`record`."""


@contextmanager
@enable_ki_protection
def validate(
    spec: type[Spec],
    *primitives: Live[Any],
    explain: Explain | None = None,
    unseen: Sequence[str] | None = None,
    observed: Observed | None = None,
    on_refuted: Callable[[Counterexample], object] | None = None,
) -> Iterator[Trace]:
    """Compare a running program with a specification, which has to allow every event.

    ::

        with checking.validate(SemaphoreSpec, semaphore, explain=explain):
            await program()

    The specification follows the events of the primitives, and those reported by :meth:`Trace.happened`. If
    an event leaves a choice open, all choices are followed. Invariants and step properties are evaluated in
    each state that the program may be in.

    At the end of the block :class:`TraceRefuted` is raised if an event was not allowed or a property did
    not hold; an error that leaves the block anyway is not replaced. If no event was a step of the
    specification, :class:`NothingFollowed` is raised; in an explored test only by its plain schedule,
    because in others a task may be cancelled at once. Each event costs as much as a few steps of a search:
    ten to twenty microseconds, and some fifty for a step that was not taken before from the same state.

    Args:
      spec: the spec class.
      primitives: the primitives to observe; none, if the program reports its own events.
      explain: what an event means, ``explain(spec, event)``; by default the spec's own method
          :meth:`Spec.explain`.
      unseen: the actions that no event describes; by default ``spec.unseen_actions``.
      observed: what can be seen of a primitive after each of its events; it is compared with
          the specification's :meth:`Spec.observed`.
      on_refuted: called with the counterexample at once; then the block raises nothing, and logs if
          nothing was followed. For production.

    Raises:
      TraceRefuted: the program did what the specification does not allow.
      NothingFollowed: no event was a step of the specification.
      SpecError: the specification, or what its ``explain`` returns, breaks a rule.
      TypeError: a function is async, or one of the primitives is not one.
    """
    follower = Follower(spec, explain, unseen)
    refuted = on_refuted or (lambda counterexample: None)
    check_sync(refuted, "on_refuted")

    def take(event: TraceEvent) -> None:
        if follower.refutation is None and not follower.see(event):
            assert follower.refutation is not None
            refuted(follower.refutation)

    events = _Events(take, _checked(observed))
    with _observing(events, primitives):
        yield Trace(events, follower)
    if events.error is not None:
        raise events.error
    nothing = follower.nothing_followed()
    if on_refuted is not None:
        if nothing:
            _log.warning("%s", nothing)
    elif follower.refutation is not None:
        raise TraceRefuted(follower.refutation)
    elif nothing and not is_another():
        raise NothingFollowed(nothing)


@contextmanager
@enable_ki_protection
def record(
    path: str | Path, *primitives: Live[Any], observed: Observed | None = None
) -> Iterator[TraceRecorder]:
    """Write a trace of a running program into a file, for ``structsync check --trace``.

    Args:
      path: the file; it is overwritten.
      primitives: the primitives to observe; none, if the program reports its own events.
      observed: what can be seen of a primitive after each of its events, in plain values.

    Raises:
      ValueError: an event has a value that JSON cannot represent.
      TypeError: a function is async, or one of the primitives is not one.
    """
    with Path(path).open("w", encoding="utf-8") as file:
        file.write(header())
        events = _Events(lambda event: file.write(line_of(event)), _checked(observed))
        with _observing(events, primitives):
            yield TraceRecorder(events)
    if events.error is not None:
        raise events.error


def _checked(observed: Observed | None) -> Observed | None:
    if observed is not None:
        check_sync(observed, "observed")
    return observed


@contextmanager
def _observing(events: _Events, primitives: Sequence[object]) -> Iterator[None]:
    for one in primitives:
        if not isinstance(one, Live):
            raise TypeError(f"what is observed is a primitive of structsync, not {one!r}")

    def note(event: PrimitiveEvent) -> None:
        if any(event.primitive is one for one in primitives):
            events.note(event)

    with observe(note) if primitives else nullcontext():
        yield

"""Every live primitive as data: its holders and its waiters, in which order, since when, and where."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, final

from trio.lowlevel import Task

from structsync._core.queue.request import Request
from structsync._runtime.job import Job
from structsync._runtime.live import Live
from structsync._runtime.watching import watchers

from .needs import holders_of
from .places import Names, is_task, line_of, names_of, repr_of, title_of, titled, unseen
from .trace import Noted, traces
from .wait_graph import WaitEdge, WaitGraph


@final
@dataclass(frozen=True, slots=True)
class Holder:
    """A holder of something of a primitive.

    Attributes:
      name: of the task, or of whatever else holds it.
      task: the task; None if it is no task.
      units: how many permits; 1 where nothing is counted.
      since: when it was granted, on trio's clock; None if that was not traced.
      line: where in the program it was requested; None if that was not traced.
    """

    name: str
    task: Task | None
    units: int
    since: float | None
    line: str | None


@final
@dataclass(frozen=True, slots=True)
class Waiter:
    """A task that waits for a primitive.

    Attributes:
      name: of the task.
      task: the task; None for a request that was made outside a run.
      claim: what it wants, as text.
      parked: whether the task is parked until this is granted, or until the job that it has submitted ends;
          otherwise it holds a request, and does something else meanwhile.
      since: when it was requested, on trio's clock; of a notified waiter of a condition, which queues for
          the lock, when it began to wait for that. None if it was not traced.
      line: where in the program it waits.
    """

    name: str
    task: Task | None
    claim: str
    parked: bool
    since: float | None
    line: str | None


@final
@dataclass(frozen=True, slots=True)
class PrimitiveSnapshot:
    """One primitive.

    Attributes:
      primitive: the object itself.
      title: its name in messages.
      state: its state as shown in ``repr``; or that it cannot be looked at, if code of yours raises then.
      holders: the known holders.
      waiters: the tasks that wait, in the order of the queue.
    """

    primitive: Live[Any]
    title: str
    state: str
    holders: tuple[Holder, ...]
    waiters: tuple[Waiter, ...]


@final
@dataclass(frozen=True, slots=True)
class Snapshot:
    """What :func:`snapshot` returns.

    Attributes:
      primitives: the live primitives; those with waiters first, the longest queue at the top.
    """

    primitives: tuple[PrimitiveSnapshot, ...]

    def graph(self) -> WaitGraph:
        """Return which tasks wait for which: an edge from each waiter to each holder of what it waits for.

        A task that holds a request and does something else meanwhile waits for none.
        """
        return WaitGraph(tuple(self._edges()))

    def _edges(self) -> Iterator[WaitEdge]:
        for one in self.primitives:
            for waiter in (each for each in one.waiters if each.parked):
                for holder in one.holders:
                    yield WaitEdge(waiter.name, one.title, holder.name)


def snapshot(primitives: Iterable[Live[Any]] | None = None) -> Snapshot:
    """Return which tasks hold and wait for what, now, as data.

    This changes nothing, and can be called anywhere in the thread of the run: in a task, in an observer, in
    a debugger. No list of the primitives is kept for it: it searches all objects of the process, which
    takes a tenth of a second for a million objects. Objects set aside by ``gc.freeze()`` are not found.

    The time and the line of each acquire are known only inside :func:`trace_waits` (or a
    :func:`deadlock_guard`); the holders of a semaphore's permits only inside a guard, and only for blocks.
    No task holds a value or a condition, so these have only waiters; a buffer has holders only of the items
    in hand.

    Args:
      primitives: which ones; by default every one in this process.

    Raises:
      TypeError: if one of them is no primitive of structsync.
    """
    if primitives is None:
        primitives = live_primitives()
    else:
        primitives = [*primitives]
        for one in primitives:
            if not isinstance(one, Live):
                raise TypeError(f"a snapshot is of primitives of structsync, not of {one!r}")
    seen = [_seen(one) for one in primitives]
    waiting = [request.waiter for one in seen for request in one.waiting]
    names = names_of([*waiting, *(who for one in seen for who in one.held)])
    found = [_look_at(one, names) for one in seen]
    found.sort(key=lambda one: (-len(one.waiters), -len(one.holders), one.title))
    return Snapshot(tuple(found))


def live_primitives() -> list[Live[Any]]:
    """Return every primitive in this process, by a search through all objects."""
    # Not isinstance(), which reads the ``__class__`` of an object: that may be code of the user's, and fail.
    found = [one for one in gc.get_objects() if issubclass(type(one), Live)]
    return [one for one in found if hasattr(one, "_core")]  # else its class failed to make it


def holders_with_units(live: Live[Any]) -> dict[Hashable, int]:
    """Return which holder has how many units of a primitive, as far as that is known."""
    held: dict[Hashable, int] = Counter(holders_of(live))
    for watcher in watchers:
        held.update(watcher.permits(live))
    return held


class _Seen(NamedTuple):
    live: Live[Any]
    held: dict[Hashable, int]
    waiting: list[Request[Any]]
    problem: str = ""


def _seen(live: Live[Any]) -> _Seen:
    try:
        return _Seen(live, holders_with_units(live), live._core.waiting())
    except Exception as error:  # noqa: BLE001 - of a borrower of the user's, whose hash may do anything
        return _Seen(live, {}, [], unseen(error))


def is_waited_for(request: Request[Any]) -> bool:
    """Return whether the task sleeps whose request this is, and not for something else."""
    claim = request.claim
    return request.parked or (type(claim) is Job and request.waiter in claim._waiters)


def _look_at(seen: _Seen, names: Names) -> PrimitiveSnapshot:
    live = seen.live
    try:
        title, state = titled(live), seen.problem or live._describe()
    except Exception as error:  # noqa: BLE001 - of a value or a class of the user's
        title, state = title_of(live, live._name), unseen(error)
    return PrimitiveSnapshot(
        live,
        title,
        state,
        tuple(_holder(live, who, units, names) for who, units in seen.held.items()),
        tuple(_waiter(live, request, names) for request in seen.waiting),
    )


def _holder(live: Live[Any], who: Hashable, units: int, names: Names) -> Holder:
    noted = _noted(trace.hold_of(live, who) for trace in traces)
    task = who if is_task(who) else None
    return Holder(names[who], task, units, noted.since, noted.line)


def _waiter(live: Live[Any], request: Request[Any], names: Names) -> Waiter:
    who, parked = request.waiter, is_waited_for(request)
    noted = _noted(trace.wait_of(live, request) for trace in traces)
    task = who if is_task(who) else None
    line = noted.line or (line_of(who) if parked else None)
    claim = "" if request.claim is who else repr_of(request.claim)
    return Waiter(names[who], task, claim, parked, noted.since, line)


def _noted(found: Iterable[Noted | None]) -> Noted:
    """Return the oldest note: the trace that was opened first has seen most."""
    return next((one for one in found if one is not None), _NOTHING)


_NOTHING = Noted()

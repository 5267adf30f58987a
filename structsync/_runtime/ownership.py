"""Which task touched which owned primitive, so that trio tells us when an owner ends (C5).

A task keeps weak references to what it held or queued for, until it ends; the primitive knows these
tasks. Where a task makes many claims on one primitive, those that are over are forgotten now and then.
Nothing is noted at a release: adding and removing a breaker at every acquire and release, as
trio's own lock does, costs a third of an uncontended acquire.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Hashable, Iterator
from contextlib import nullcontext
from functools import partial
from typing import Any, cast
from weakref import ref

from trio.lowlevel import (
    ParkingLot,
    Task,
    add_parking_lot_breaker,
    current_root_task,
    current_task,
)

from structsync._core.queue.claimants import ClaimantArbiter
from structsync._core.queue.owned import OwnedArbiter

from . import releasing
from .causes import ExitFailed, error_of
from .events import emit
from .live import Live
from .reports import listeners, report
from .transitions import of_this_thread
from .waking import wake

#: How often one claim may be granted to one task at a time: a task that has it still then will have it forever.
MOST_GRANTS = 10_000
_log = logging.getLogger("structsync")


class _Ends:
    """What trio calls when a task ends that touched an owned primitive."""

    __slots__ = ()

    def break_lot(self, task: Task) -> None:
        """Break what the task owns; must not raise and must not remove a breaker."""
        _purge_at.pop(task, None)
        for reference, claim in _by_task.pop(task):
            live = reference()
            if live is not None:
                try:
                    cast("set[Any]", live._touched_by).discard(claim)
                    cast(Any, live)._owner_exited(task, claim)  # what is owned is a Primitive
                except BaseException as error:  # noqa: BLE001 - trio would end the whole run
                    _break_instead(live, task, error)


def _break_instead(live: Live[Any], task: Task, error: BaseException) -> None:
    """Break what a task owned, or may have owned, because the core failed to say so or to release it."""
    cause = ExitFailed(type(live).__name__, live._name, task, error)
    reason = str(cause.error())
    _log.error("%s", reason, exc_info=error)
    try:
        releasing.change(live, lambda: cast(Any, live)._core.end(cause))
        report("broken", live, reason)
    except BaseException:  # noqa: BLE001 - the same; what a core may override is called here, too
        _log.exception("%s could not be broken", live._title())


# Of a parking lot trio uses only break_lot() here; a real one for each task would cost a queue each.
_ENDS = cast(ParkingLot, _Ends())

# The owned primitives that a live task held, or has or had a request for, with its claim; each once.
_by_task: dict[Task, list[tuple[ref[Live[Any]], Any]]] = {}

# From how many on those that are gone or over are forgotten, where it is more than 16. A table of its own,
# because an object with both for each task would cost as much as all the rest of a note.
_purge_at: dict[Task, int] = {}


def note(live: Live[Any], claim: Any) -> None:
    """Note that the current task, which has not made this claim yet, is about to take it or to queue for it.

    Before it does: of a claim that has no hash, which is refused here, nothing is taken. A finalizer that runs
    here may note another one.
    """
    hash(claim)
    task = current_task()
    fresh: list[tuple[ref[Live[Any]], Any]] = []
    touched = _by_task.setdefault(task, fresh)
    if touched is fresh:
        add_parking_lot_breaker(task, _ENDS)
    if len(touched) >= _purge_at.get(task, 16):
        _purge(task, touched)
    touched.append((ref(live), claim))
    if not isinstance(live._touched_by, set):
        live._touched_by = set()
    live._touched_by.add(claim)


def _purge(task: Task, touched: list[tuple[ref[Live[Any]], Any]]) -> None:
    """Forget the primitives that are gone, and what is over of those where a task has many claims.

    Until the next time as much is noted as was looked at, so that a note costs the same however long the
    queues are.
    """
    count = len(touched)
    _purge_at[task] = 2 * count + 16  # before, so that a finalizer does not forget them too
    there = [(live, each) for each in touched[:count] if (live := each[0]()) is not None]
    claims: dict[int, tuple[Live[Any], list[Any]]] = {}
    for live, (_, claim) in there:
        if isinstance(live._core, OwnedArbiter) and _is_used_here(live):
            claims.setdefault(id(live), (live, []))[1].append(claim)
    looked = sum(live._core.queue.length for live, _ in claims.values())
    over = {key: _forget_what_is_over(*one) for key, one in claims.items()}
    touched[:count] = [each for live, each in there if each[1] not in over.get(id(live), ())]
    _purge_at[task] = 2 * len(touched) + 16 + looked


def _is_used_here(live: Live[Any]) -> bool:
    """Return whether it was used last in this run, so that no other thread changes its queue."""
    return live._transitions is of_this_thread() or live._root is current_root_task()


def _forget_what_is_over(live: Live[Any], claims: list[Any]) -> set[Any]:
    """Have the primitive forget those of the claims that are neither held nor in its queue; return them."""
    transitions = of_this_thread()
    # A note is made in a transition or outside; in one no finalizer changes the queue.
    with nullcontext() if transitions.running else transitions:
        core = cast("OwnedArbiter[Any]", live._core)
        queued = {request.claim for request in core.queue}
        over = {claim for claim in claims if claim not in queued and not core.holds(claim)}
        cast("set[Any]", live._touched_by).difference_update(over)
    return over


def left_by(task: Task) -> list[Live[Any]]:
    """Break what a task that goes on still owns, as if it had ended; return that.

    What it left in a queue is withdrawn.
    """
    if task not in _by_task:
        return []
    touched, _by_task[task] = _by_task[task], []
    broken: dict[int, Live[Any]] = {}  # each once, however many claims the task made of it
    for reference, claim in touched:
        live = reference()
        if live is not None:
            cast("set[Any]", live._touched_by).discard(claim)
            owned = _held(live, task, claim) is not None
            cast(Any, live)._owner_exited(task, claim)
            if owned:
                broken[id(live)] = live
    return [*broken.values()]


def owned_by(task: Task) -> Iterator[Live[Any]]:
    """Yield what a task owns of what breaks when it ends."""
    for reference, claim in [*_by_task.get(task, ())]:
        live = reference()
        if live is not None and _held(live, task, claim) is not None:
            yield live


def release_all_of(task: Task) -> list[Live[Any]]:
    """Release what the current task owns; return that."""
    released = []
    for reference, claim in [*_by_task.get(task, ())]:
        live = reference()
        held = None if live is None else _held(live, task, claim)
        if live is not None and held is not None:
            _while_held(live, task, claim, partial(cast(Any, live)._release, held))
            released.append(live)
    return released


def _held(live: Live[Any], task: Task, claim: Any) -> Any:
    """Return the claim that a task holds, if it is this one or of one claim at a time; else None."""
    core = live._core
    if isinstance(core, OwnedArbiter):
        return claim if core.holds(claim) else None
    return cast("ClaimantArbiter", core).held_by(task)


def _while_held(live: Live[Any], task: Task, claim: Any, release: Callable[[], object]) -> None:
    """Release what is held, as often as the same claim was granted."""
    for _ in range(MOST_GRANTS):
        release()
        if _held(live, task, claim) is None:
            return
    raise RuntimeError(
        f"holds() is true after discharge() was called {MOST_GRANTS} times for {claim!r} of "
        f"{live._title()}: holds() must be false for what discharge() released"
    )


def owner_exited(live: Live[Any], task: Task, claimant: Any, cause: Hashable) -> None:
    """Break what the claimant owned, or release it if there is no cause; or withdraw what it left queued."""
    end = partial(_end_once, live, claimant, cause)
    if cause is None:
        _while_held(live, task, claimant, end)
    else:
        end()


def _end_once(live: Live[Any], claimant: Any, cause: Hashable) -> None:
    transitions, core = of_this_thread(), cast(Any, live._core)  # of an owned primitive
    with transitions:
        releases = cause is None and core.holds(claimant)
        ended = core.owner_exited(claimant, cause)
        if releases and live._observers:
            emit("released", live, claimant, None)
        if listeners and cause is not None and core.cause is cause:
            report("broken", live, str(error_of(cause)))
        wake(transitions, live, ended)

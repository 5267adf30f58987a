"""Where a core's decision lets tasks in: releases and other changes of a primitive. Nothing here sleeps."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from types import CoroutineType
from typing import Any

from trio.lowlevel import Task, enable_ki_protection

from structsync._core.queue.request import Request

from .done import DONE
from .events import EventKind, emit, emit_ended, emit_released
from .live import Live
from .runs import check_run, running_task, transitions_of
from .waking import emit_in_other_queues, resume


@enable_ki_protection
def release(live: Live[Any], claim: Any, owner: Task | None = None) -> None:
    """Release the claim and wake the tasks that this lets in; if a transition runs, right after it.

    Observers are told that it was the owner's claim, by default the current task's.
    """
    _ = leave(live, None, None, None, claim, owner)


@enable_ki_protection
def leave(
    live: Live[Any],
    kind: object,
    error: object,
    traceback: object,
    claim: Any = 1,
    owner: Task | None = None,
) -> CoroutineType[Any, Any, None]:
    """Do what :func:`release` does; this is its body and, of itself, the ``__aexit__`` of a primitive."""
    transitions = live._transitions
    if not transitions.mark._is_owned():
        transitions = check_run(live)
    if transitions.running:
        transitions.later.append(partial(release, live, claim, owner))
        return DONE
    transitions.running = True
    try:
        ended = live._release_claim(claim)
        if ended:
            in_other_queues = resume(transitions, ended)
            if live._observers:
                emit_released(live, claim, owner, ended)
            if in_other_queues:
                emit_in_other_queues(in_other_queues)
        elif live._observers:
            emit_released(live, claim, owner, ())
    finally:
        transitions.running = False
        if transitions.later:
            transitions.carry_out()
    return DONE


def change(
    live: Live[Any],
    transition: Callable[[], list[Request[Any]]],
    *,
    wakes: Live[Any] | None = None,
    events: Iterable[tuple[EventKind, Any]] = (),
) -> None:
    """Carry out a transition of the core and wake the tasks that it lets in.

    Those are waiters of the primitive itself, or of ``wakes``. Observers hear first of what the
    current task did by it: the kinds and claims of ``events``.
    """
    transitions = transitions_of(live)
    with transitions:
        ended, woken = transition(), live if wakes is None else wakes
        in_other_queues = resume(transitions, ended)
        if live._observers:
            for kind, claim in events:
                emit(kind, live, claim, running_task())
        if woken._observers:
            emit_ended(woken, ended)
        if in_other_queues:
            emit_in_other_queues(in_other_queues)

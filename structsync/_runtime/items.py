"""Where items go from task to task: the skeleton of :mod:`.parking`, for claims that exchange items.

It differs from that of an acquire in one point: what is granted makes room on the other side of the
buffer, so each decision ends with the tasks that it lets in.
"""

from __future__ import annotations

from typing import Any, cast

import trio
from trio.lowlevel import (
    Abort,
    cancel_shielded_checkpoint,
    checkpoint_if_cancelled,
    current_task,
    enable_ki_protection,
    wait_task_rescheduled,
)

from structsync._core.primitives.buffer import BLOCKED, BufferCore
from structsync._core.primitives.sides import Batch, Get, Lane, Put
from structsync._core.queue.request import Request
from structsync._core.queue.state import EndedForGood
from structsync._core.queue.user_code import UserCodeFailed

from . import cancelling
from .cancelling import RaiseCancel
from .events import emit_ended, emit_requested, emit_taken
from .live import Live
from .parking import error_of_decision
from .runs import check_run
from .transitions import Transitions, of_this_thread
from .waking import emit_in_other_queues, resume, wake
from .watching import inform_of_park, watchers


@enable_ki_protection
async def exchange(live: Live[Any], claim: Get | Put, lane: Lane) -> Any:  # noqa: PLR0915 - hot
    """Put or get now, or wait in its lane of the queue for it; return what was got."""
    transitions = live._transitions
    if not transitions.mark._is_owned():
        transitions = check_run(live)
    # A task that finds another one ahead parks, and there trio checks. Nothing is called between the two, so that
    # no finalizer can let the other one go.
    if lane.head is None:
        await checkpoint_if_cancelled()
    if transitions.running:
        transitions.refuse()
    core: Any = live._core  # a BufferCore; a cast is a call
    handed: Any = None
    request: Any = None
    failed: BaseException | None = None
    transitions.running = True
    try:
        handed = core.exchange(claim, lane.head, True)
        if handed is BLOCKED:
            request = core.enqueue(claim, 0, current_task())
            transitions.parking = request.waiter
            request.primitive = live
            request.parked = True
            if live._observers:
                emit_requested(request)
                if watchers:
                    inform_of_park(request)
        elif lane.other.head is not None or live._observers:
            # The task that decided to park has parked: it is this task that runs.
            transitions.parking = None
            tell_others(transitions, live, claim)
    except BaseException:  # noqa: BLE001 - raised after the check for cancellation
        failed = error_of_decision()
    finally:
        transitions.running = False
        if transitions.later:
            transitions.carry_out()
    if failed is not None:
        try:
            await checkpoint_if_cancelled()  # before the error: its caller may be cancelled already
            raise failed from None
        finally:
            del failed  # its traceback holds this frame
    if request is None:
        await cancel_shielded_checkpoint()
        return handed
    await wait_task_rescheduled(request)
    # that of a get is what it was handed by now
    return None if request.claim is claim else request.claim


def tell_others(transitions: Transitions, live: Live[Any], claim: Get | Put) -> None:
    """Let in the tasks on the other side for which a claim made room, and inform the observers of both."""
    ended = live._core.settle()
    in_other_queues = resume(transitions, ended)
    if live._observers:
        emit_taken(live, claim)
        emit_ended(live, ended)
    if in_other_queues:
        emit_in_other_queues(in_other_queues)


def exchange_nowait(live: Live[Any], claim: Get | Put, lane: Lane) -> Any:
    """Put or get now or raise WouldBlock; return what was got."""
    transitions = live._transitions
    if not transitions.mark._is_owned():
        transitions = check_run(live)
    if transitions.running:
        transitions.refuse()
    core: Any = live._core
    transitions.running = True
    try:
        handed = core.exchange(claim, lane.head, True)
        if handed is BLOCKED:
            core.refuse(claim)
            raise trio.WouldBlock
        if lane.other.head is not None or live._observers:
            tell_others(transitions, live, claim)
    except (EndedForGood, UserCodeFailed):
        raise error_of_decision() from None
    finally:
        transitions.running = False
        if transitions.later:
            transitions.carry_out()
    return handed


class Window(Batch):
    """A batch, and the time for which it collects once its first item is there."""

    __slots__ = ("max_wait", "scope")

    def __init__(self, most: int, max_wait: float) -> None:
        super().__init__(most)
        self.max_wait = max_wait
        self.scope = trio.CancelScope()

    def opened(self) -> None:
        # The task that collects sleeps in this scope; its deadline is what ends the window.
        self.scope.deadline = trio.current_time() + self.max_wait


async def collect(live: Live[Any], window: Window) -> list[Any]:
    """Get as many items as wanted, or what there is when the window is over."""
    found: list[Any] = []
    with window.scope:  # which never catches anything: its end grants what there is
        core = cast(BufferCore, live._core)
        found = await exchange(live, window, core.queue.gets)
    return found  # noqa: RET504 - for mypy, a scope may catch what it cancels


def abort(request: Request[Any], raise_cancel: RaiseCancel) -> Abort:
    """Withdraw the request of a task that trio wants to cancel; or end its window, if that is why."""
    claim = request.claim
    if not isinstance(claim, Window) or not claim.scope.cancel_called:
        return cancelling.abort(request, raise_cancel)
    end_window(request)
    return Abort.FAILED  # it wakes with its items


def end_window(request: Request[Any]) -> None:
    """Grant a batch what there is, now or right after the transition that runs."""
    transitions = of_this_thread()
    if transitions.running:
        transitions.later.append(lambda: end_window(request))
        return
    live = request.primitive
    with transitions:
        wake(transitions, live, live._core.end_window(request))

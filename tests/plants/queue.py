"""Faults to plant in the queue discipline and in the shell, which all primitives share.

Each file of this folder has those of one primitive; the tests of schedules and the stateful ones must find them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from trio.lowlevel import Abort, cancel_shielded_checkpoint, checkpoint

from structsync._core.primitives.lock import LockCore
from structsync._core.primitives.rwlock import RWLockCore
from structsync._core.queue.arbiter import Arbiter
from structsync._core.queue.claimants import ClaimantArbiter
from structsync._core.queue.policy import Fifo
from structsync._core.queue.request import GRANTED, WITHDRAWN, Queue, Request
from structsync._runtime import cancelling, items, parking, parking_together, waking
from structsync._runtime.primitive import Primitive
from structsync._runtime.transitions import Transitions, of_this_thread

PARKING = (parking, parking_together, items)


def without_settling(resize: Callable[..., Any]) -> Callable[..., list[Request[Any]]]:
    def changed(self: Any, total: Any) -> list[Request[Any]]:
        settle = self.settle
        self.settle = list
        try:
            resize(self, total)
        finally:
            self.settle = settle
            del self.settle
        return []

    return changed


def a_withdrawal_lets_no_task_in(patch: pytest.MonkeyPatch) -> None:
    def withdraw(self: Arbiter[Any], request: Request[Any]) -> list[Request[Any]] | None:
        if not self.leave(request):
            return None
        request.status = WITHDRAWN
        return []

    patch.setattr(Arbiter, "withdraw", withdraw)


def a_release_lets_no_task_in(patch: pytest.MonkeyPatch) -> None:
    # What release() comes to, and a primitive calls of itself.
    patch.setattr(Arbiter, "discharge_and_settle", lambda self, claim: self.discharge(claim))


def a_granted_request_stays_in_queue(patch: pytest.MonkeyPatch) -> None:
    def grant(self: Arbiter[Any], request: Request[Any], *handed: object) -> None:
        if not handed:
            self.admit(request.claim)
        request.status = GRANTED

    patch.setattr(Arbiter, "grant", grant)


def a_grant_is_not_marked(patch: pytest.MonkeyPatch) -> None:
    """The state and the queue are right, and its waiter is told that it has not got it."""

    def grant(self: Arbiter[Any], request: Request[Any], *handed: object) -> None:
        if not handed:
            self.admit(request.claim)
        self.leave(request)

    patch.setattr(Arbiter, "grant", grant)


WITH_INDEX = (ClaimantArbiter, LockCore, RWLockCore)


def a_request_that_leaves_the_queue_stays_in_the_index(patch: pytest.MonkeyPatch) -> None:
    for kind in WITH_INDEX:
        patch.setattr(kind, "left", lambda self, request: None)


def a_request_that_joins_the_queue_is_not_in_the_index(patch: pytest.MonkeyPatch) -> None:
    a_request_that_leaves_the_queue_stays_in_the_index(patch)
    for kind in WITH_INDEX:
        patch.setattr(kind, "entered", lambda self, request: None)


def a_successor_is_not_linked_from_behind(patch: pytest.MonkeyPatch) -> None:
    """The request behind still names the one that has left as ahead of it."""
    intact = Queue.replace

    def replace(self: Queue[Any], request: Request[Any], successor: Request[Any]) -> None:
        behind = request.behind
        intact(self, request, successor)
        if behind is not None:
            behind.ahead = request

    patch.setattr(Queue, "replace", replace)


def a_request_that_leaves_from_the_middle_takes_those_behind_along(
    patch: pytest.MonkeyPatch,
) -> None:
    """They are counted still, and no task finds them."""
    intact = Queue.remove

    def remove(self: Queue[Any], request: Request[Any]) -> None:
        ahead = request.ahead
        intact(self, request)
        if ahead is not None:
            ahead.behind, self.tail = None, ahead

    patch.setattr(Queue, "remove", remove)


def what_comes_in_the_middle_of_a_step_is_dropped(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Transitions, "carry_out", lambda self: self.later.clear())


def what_comes_in_the_middle_of_a_step_is_done_at_once(patch: pytest.MonkeyPatch) -> None:
    """It finds, and changes, a state that is half way."""
    patch.setattr(Transitions, "running", property(lambda self: None, lambda self, value: None))


def those_let_in_are_not_woken(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(waking, "reschedule", lambda *_: None)


def a_cancelled_acquire_stays_in_queue(patch: pytest.MonkeyPatch) -> None:
    def abort(request: Request[Any], *_: object) -> Abort:
        request.parked = False
        return Abort.SUCCEEDED

    patch.setattr(cancelling, "abort", abort)
    patch.setattr(parking, "abort_by", lambda stop, request, *_: abort(request))


def a_cancellation_beats_a_grant(patch: pytest.MonkeyPatch) -> None:
    """After the take comes a checkpoint that can be cancelled, and no task gives back."""
    for module in PARKING:
        patch.setattr(module, "cancel_shielded_checkpoint", checkpoint)


def others_run_between_the_look_and_the_take(patch: pytest.MonkeyPatch) -> None:
    """And it takes all the same, as if nothing had begun since."""

    async def let_others_run() -> None:
        await cancel_shielded_checkpoint()
        of_this_thread().running = None

    for module in PARKING:
        patch.setattr(module, "checkpoint_if_cancelled", let_others_run)


def newcomers_barge(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Fifo, "may_pass", lambda self, queue, ticket, priority: True)
    patch.setattr(Fifo, "may_be_passed", True)  # patched afterwards, it is not read off


def the_last_in_queue_is_served_first(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Fifo, "candidates", lambda self, queue: reversed(list(queue)))
    patch.setattr(Fifo, "own_candidates", True)


def closing_forgets_those_in_queue(patch: pytest.MonkeyPatch) -> None:
    def end(self: Arbiter[Any], cause: str) -> list[Request[Any]]:
        self.cause = cause
        return []

    patch.setattr(Arbiter, "end", end)


def a_close_is_ignored(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Primitive, "close", lambda self: None)


def a_closed_primitive_still_grants(patch: pytest.MonkeyPatch) -> None:
    def admissible(self: Arbiter[Any], claim: Any, priority: int = 0) -> bool:
        return not self.queue and self.admits(claim)

    patch.setattr(Arbiter, "admissible", admissible)


def overtaking_does_not_age(patch: pytest.MonkeyPatch) -> None:
    """A request that is admitted at once does not count as an arrival."""
    intact = Arbiter.submit

    def submit(self: Arbiter[Any], *args: Any, **options: Any) -> Request[Any]:
        before = self.next_ticket
        request = intact(self, *args, **options)
        if request.status is GRANTED:
            self.next_ticket = before
        return request

    patch.setattr(Arbiter, "submit", submit)
    patch.setattr(Arbiter, "take", lambda self, claim: self.admit(claim))


def an_ended_request_is_withdrawn(patch: pytest.MonkeyPatch) -> None:
    intact = Arbiter.withdraw

    def withdraw(self: Arbiter[Any], request: Request[Any]) -> list[Request[Any]] | None:
        if request.status is GRANTED:
            request.status = WITHDRAWN
            return []
        return intact(self, request)

    patch.setattr(Arbiter, "withdraw", withdraw)


def an_acquire_that_need_not_wait_ignores_a_cancellation(patch: pytest.MonkeyPatch) -> None:
    for module in PARKING:
        patch.setattr(module, "checkpoint_if_cancelled", cancel_shielded_checkpoint)

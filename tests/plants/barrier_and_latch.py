"""Faults of barriers and latches."""

from __future__ import annotations

from typing import Any

import pytest
from trio.lowlevel import checkpoint

from structsync._core.primitives.barrier import BarrierCore
from structsync._core.primitives.latch import LatchCore
from structsync._core.queue.request import Request
from structsync._runtime import parking_together
from structsync.specs import barrier_faults, latch_faults

from ._reuse import plant


def a_round_is_one_party_short(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(BarrierCore, "full", property(lambda self: len(self.queue) >= self.parties - 1))


def a_round_leaves_one_behind(patch: pytest.MonkeyPatch) -> None:
    """It counts for the next round."""

    def release_round(self: BarrierCore) -> list[Request[Any]]:
        self.places = self.parties - 1
        return self.settle()

    patch.setattr(BarrierCore, "release_round", release_round)


def numbers_are_given_on_arrival(patch: pytest.MonkeyPatch) -> None:
    """As in asyncio: how many wait, which is the same twice after a cancellation."""
    intact = BarrierCore.enqueue

    def enqueue(self: BarrierCore, *args: Any, **options: Any) -> Request[Any]:
        request = intact(self, *args, **options)
        request.claim = len(self.queue) - 1
        return request

    def release_round(self: BarrierCore) -> list[Request[Any]]:
        self.places = self.parties
        return self.settle()

    patch.setattr(BarrierCore, "enqueue", enqueue)
    patch.setattr(BarrierCore, "release_round", release_round)


def a_deserter_only_leaves(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        BarrierCore, "leave_and_break", lambda self, request, cause: self.withdraw(request)
    )


def a_cancelled_party_fills_the_round(patch: pytest.MonkeyPatch) -> None:
    """It comes last and cancelled, the others go on, and it raises."""
    patch.setattr(parking_together, "is_cancelled", lambda: False)
    patch.setattr(parking_together, "cancel_shielded_checkpoint", checkpoint)


def leaving_lets_no_task_in(patch: pytest.MonkeyPatch) -> None:
    plant(patch, BarrierCore, barrier_faults.LeavingLetsNoTaskIn)


def a_party_that_left_is_waited_for(patch: pytest.MonkeyPatch) -> None:
    """In all rounds but this one."""
    intact = BarrierCore.remove_party

    def remove_party(self: BarrierCore, action: Any = None) -> list[Request[Any]]:
        ended = intact(self, action)
        self.parties += 1
        return ended

    patch.setattr(BarrierCore, "remove_party", remove_party)


def the_action_runs_after_the_round_is_let_in(patch: pytest.MonkeyPatch) -> None:
    plant(patch, BarrierCore, barrier_faults.TheActionRunsTooLate)


def a_failed_action_lets_the_others_go_on(patch: pytest.MonkeyPatch) -> None:
    """And is told to the one who came last."""
    plant(patch, BarrierCore, barrier_faults.AFailedActionIsForgotten)


def the_latch_opens_early(patch: pytest.MonkeyPatch) -> None:
    plant(patch, LatchCore, latch_faults.OpensEarly)


def the_last_count_lets_one_in(patch: pytest.MonkeyPatch) -> None:
    intact = LatchCore.release
    patch.setattr(LatchCore, "release", lambda self, claim: intact(self, claim)[:1])


def a_reset_opens_what_is_closed(patch: pytest.MonkeyPatch) -> None:
    plant(patch, BarrierCore, barrier_faults.ResetOpensAClosedBarrier)

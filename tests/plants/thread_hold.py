"""Faults of what threads hold."""

from __future__ import annotations

from typing import Any

import pytest
from trio.lowlevel import Abort

from structsync._core.primitives.errand import ErrandCore
from structsync._runtime.deputy import Deputy
from structsync._runtime.errand import Errand
from structsync.specs import thread_hold_faults

from ._reuse import plant


def an_interrupt_beats_a_grant(patch: pytest.MonkeyPatch) -> None:
    plant(patch, ErrandCore, thread_hold_faults.InterruptBeatsGrant)


def what_was_dropped_is_done(patch: pytest.MonkeyPatch) -> None:
    plant(patch, ErrandCore, thread_hold_faults.DroppedAndDone)


def leaving_can_be_dropped(patch: pytest.MonkeyPatch) -> None:
    """As LeavingIsDropped: what gives back is no errand that must be done."""
    intact = ErrandCore.__init__
    patch.setattr(ErrandCore, "__init__", lambda self, *, must=False: intact(self))


def the_task_that_started_it_goes_away_at_once(patch: pytest.MonkeyPatch) -> None:
    """Whatever the deputy has begun by then, and no task leaves what it enters."""

    def abort(self: Errand, raise_cancel: Any) -> Abort:
        self._interrupt()
        self.host = None
        return Abort.SUCCEEDED

    patch.setattr(Errand, "_abort", abort)


def no_timeout_is_set(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Errand, "do_in", lambda self, scope: setattr(self, "scope", scope))


def the_end_of_the_run_leaves_the_task_that_is_inside(patch: pytest.MonkeyPatch) -> None:
    def end_with_run(self: Deputy) -> None:
        self.run_ends = True
        for scope in self._scopes:
            scope.cancel()

    patch.setattr(Deputy, "end_with_run", end_with_run)

"""Faults of read-write locks."""

from __future__ import annotations

from typing import Any

import pytest

from structsync._core.primitives.rwlock import READ, Access, PhaseFairCore, RWLockCore
from structsync._core.queue.request import Request
from structsync.specs import rwlock_faults

from ._reuse import plant


def readers_enter_beside_a_writer(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(RWLockCore, "admits", lambda self, claim: not self.readers)


def one_reader_that_leaves_lets_a_writer_in(patch: pytest.MonkeyPatch) -> None:
    def admits(self: RWLockCore, claim: Access) -> bool:
        return self.writer is None and (claim.mode is READ or len(self.readers) < 2)

    patch.setattr(RWLockCore, "admits", admits)


def readers_that_wait_stay_where_a_writer_leaves(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(PhaseFairCore, "writing_ended", lambda self: [])


def a_downgrade_lets_another_writer_in(patch: pytest.MonkeyPatch) -> None:
    intact = PhaseFairCore.writing_ended

    def writing_ended(self: PhaseFairCore) -> list[Request[Any]]:
        readers, self.readers = self.readers, {}
        ended = intact(self)
        self.readers |= readers
        return ended

    patch.setattr(PhaseFairCore, "writing_ended", writing_ended)


def one_reader_enters_where_a_writer_leaves(patch: pytest.MonkeyPatch) -> None:
    def writing_ended(self: PhaseFairCore) -> list[Request[Any]]:
        for request in list(self.readers_in_queue.values())[:1]:
            self.grant(request)
            return [request]
        return self.settle()

    patch.setattr(PhaseFairCore, "writing_ended", writing_ended)


def a_reader_that_left_stays_in_the_index(patch: pytest.MonkeyPatch) -> None:
    """It enters once more where a writer leaves."""
    patch.setattr(PhaseFairCore, "left", RWLockCore.left)


def a_downgrade_lets_no_task_in(patch: pytest.MonkeyPatch) -> None:
    plant(patch, RWLockCore, rwlock_faults.DowngradeTellsNoTask)

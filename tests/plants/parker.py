"""Faults of parkers."""

from __future__ import annotations

import pytest

from structsync._core.primitives.parker import ParkerCore
from structsync.specs import parker_faults

from ._reuse import plant


def an_unblock_that_comes_first_is_lost(patch: pytest.MonkeyPatch) -> None:
    def discharge(self: ParkerCore, claim: None) -> None:
        self.unblocks = len(self.queue)

    patch.setattr(ParkerCore, "discharge", discharge)


def an_unblock_is_used_twice(patch: pytest.MonkeyPatch) -> None:
    def admit(self: ParkerCore, claim: None) -> None:
        self.unblocks -= len(self.queue)

    patch.setattr(ParkerCore, "admit", admit)


def two_may_block(patch: pytest.MonkeyPatch) -> None:
    plant(patch, ParkerCore, parker_faults.AnyTaskMayBlock)

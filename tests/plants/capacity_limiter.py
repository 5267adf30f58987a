"""Faults of capacity limiters."""

from __future__ import annotations

import pytest

from structsync._core.primitives.capacity_limiter import CapacityLimiterCore

from .queue import without_settling


def one_token_too_many(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        CapacityLimiterCore, "admits", lambda self, _: len(self.borrowers) <= self.total_tokens
    )


def more_tokens_let_no_task_in(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(CapacityLimiterCore, "resize", without_settling(CapacityLimiterCore.resize))


def a_borrower_may_wait_twice(patch: pytest.MonkeyPatch) -> None:
    """As in trio: both waits are granted, and one token is counted."""
    patch.setattr(CapacityLimiterCore, "refuse_impossible", lambda self, claim: None)
    patch.setattr(
        CapacityLimiterCore, "admits", lambda self, _: len(self.borrowers) < self.total_tokens
    )

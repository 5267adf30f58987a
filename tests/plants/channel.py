"""Faults of the ends of a channel."""

from __future__ import annotations

from typing import Any

import pytest

from structsync._core.primitives.buffer import BufferCore
from structsync._primitives.channel import SendingEnd, _End


def the_last_end_that_closes_says_nothing(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(SendingEnd, "_close_side", lambda self: None)


def a_clone_is_not_counted(patch: pytest.MonkeyPatch) -> None:
    """The first end that is closed ends it for all."""
    intact = _End.clone

    def clone(self: _End[Any]) -> _End[Any]:
        found = intact(self)
        self._side.open_ends -= 1
        return found

    patch.setattr(_End, "clone", clone)


def closing_an_end_tells_every_waiter(patch: pytest.MonkeyPatch) -> None:
    intact = BufferCore.break_waiters

    def break_waiters(self: BufferCore, waiters: Any, cause: Any) -> Any:
        return intact(self, {request.waiter for request in self.waiting()}, cause)

    patch.setattr(BufferCore, "break_waiters", break_waiters)

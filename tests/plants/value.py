"""Faults of values that are waited for."""

from __future__ import annotations

from typing import Any

import pytest

from structsync._core.primitives.value import ValueCore
from structsync._core.queue.request import Request
from structsync._primitives.value import Changes


def one_of_the_waiters_is_granted(patch: pytest.MonkeyPatch) -> None:
    def assign(self: ValueCore, value: Any) -> list[Request[Any]]:
        self.value = value
        for request in self.queue:
            if self.admits(request.claim):
                self.grant(request)
                return [request]
        return []

    patch.setattr(ValueCore, "assign", assign)


def an_assignment_is_seen_by_the_next_one(patch: pytest.MonkeyPatch) -> None:
    def assign(self: ValueCore, value: Any) -> list[Request[Any]]:
        ended = self.settle()
        self.value = value
        return ended

    patch.setattr(ValueCore, "assign", assign)


def what_is_there_now_is_returned(patch: pytest.MonkeyPatch) -> None:
    """As trio-util's, whose waiters look when they run."""

    class Looking:
        __slots__ = ("core", "predicate")
        found = property(lambda self: self.core.value)

        def __init__(self, predicate: Any) -> None:
            self.predicate = predicate

    def admit(self: ValueCore, claim: Any) -> None:
        claim.core = self

    patch.setattr("structsync._primitives.value.Awaited", Looking)
    patch.setattr(ValueCore, "admit", admit)


def an_iterator_skips_to_the_newest(patch: pytest.MonkeyPatch) -> None:
    intact = Changes.__anext__

    async def skip(self: Changes[Any]) -> Any:
        await intact(self)
        self._seen = self._value._newest
        return self._seen.value

    patch.setattr(Changes, "__anext__", skip)


def a_cancelled_step_of_an_iterator_is_over(patch: pytest.MonkeyPatch) -> None:
    intact = Changes.__anext__

    async def step(self: Changes[Any]) -> Any:
        try:
            return await intact(self)
        except BaseException:
            self._seen = self._value._newest
            raise

    patch.setattr(Changes, "__anext__", step)

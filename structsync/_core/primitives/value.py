"""A value that tasks wait on: the decisions of :class:`structsync.Value`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from structsync._core.queue.arbiter import Arbiter
from structsync._core.queue.request import Request
from structsync._core.queue.user_code import UserCodeFailed, refuse_coroutine


class Awaited:
    """What a task waits for, and the value that was it.

    The value is kept here at the grant: when the waiter runs, there may be another one.
    """

    __slots__ = ("found", "predicate")

    predicate: Callable[[Any], object]
    found: Any  # set by the grant

    def __init__(self, predicate: Callable[[Any], object]) -> None:
        self.predicate = predicate

    def __repr__(self) -> str:
        return f"<wait for {self.predicate!r}>"


class ValueCore(Arbiter[Awaited]):
    """A value, and the tasks that wait until it satisfies a predicate; no task stands in another's way."""

    value: Any

    def __init__(self, value: Any) -> None:
        super().__init__(policy="eligible")
        self.value = value

    def admits(self, claim: Awaited) -> bool:
        try:
            answer = claim.predicate(self.value)
            refuse_coroutine(answer, "predicate")
            return bool(answer)
        except BaseException as error:  # noqa: BLE001 - for the waiter alone (I6)
            raise UserCodeFailed(error) from None

    def admit(self, claim: Awaited) -> None:
        claim.found = self.value

    def discharge(self, claim: Awaited) -> None:
        raise NotImplementedError(
            "a task that has seen a value holds nothing that could be released"
        )

    def assign(self, value: Any) -> list[Request[Any]]:
        """Set the value, and grant all requests that have waited for this one."""
        self.value = value
        return self.settle()

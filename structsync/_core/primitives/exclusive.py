"""One owner at a time, and conditions to wait on meanwhile: what a lock and a monitor have in common."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable
from typing import Any, ClassVar, Protocol

from structsync._core.queue.arbiter import Arbiter
from structsync._core.queue.request import ClaimT, Request


class BreaksWaiters(Protocol):
    """A condition, seen from what it belongs to."""

    @abstractmethod
    def break_waiters(self, cause: Hashable) -> list[Request[Any]]: ...


class ExclusiveCore(Arbiter[ClaimT]):
    """An owner, and the conditions that have waiters."""

    owner: Hashable  # None while it is free
    possession: ClassVar[str]  # what its conditions demand, in words

    def __init__(self, *, policy: str = "fifo", ageing: int | None = 100) -> None:
        super().__init__(policy=policy, ageing=ageing)
        self.owner = None
        # The end of the owned one reaches the tasks that wait on its conditions, too.
        self.conditions: dict[BreaksWaiters, None] = {}

    @property
    def is_idle(self) -> bool:
        return self.owner is None and not self.queue and not self.conditions

    def end(self, cause: Hashable) -> list[Request[Any]]:
        ended: list[Request[Any]] = list(super().end(cause))
        for condition in list(self.conditions):
            ended += condition.break_waiters(cause)
        return ended

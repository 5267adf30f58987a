"""Counting permits: the decisions of :class:`structsync.Semaphore`."""

from __future__ import annotations

from collections.abc import Sequence

from structsync._core.queue.arbiter import Arbiter
from structsync._core.queue.request import Request


class SemaphoreCore(Arbiter[int]):
    """Permits and a queue of claims for some of them (I1: value = initial + resizes + released - granted)."""

    value: int  # permits on hand; negative after a shrink below what is out
    max_value: int | None  # None: unbounded, any surplus release is accepted
    largest: int | None  # the largest max_value so far; a claim above it can never be granted

    def __init__(
        self,
        initial_value: int,
        *,
        max_value: int | None = None,
        policy: str = "fifo",
        ageing: int | None = 100,
    ) -> None:
        super().__init__(policy=policy, ageing=ageing)
        self.value = initial_value
        self.max_value = self.largest = max_value

    @property
    def is_idle(self) -> bool:
        # What is out of an unbounded one is not known: its permits may never have been acquired.
        return not self.queue and (self.max_value is None or self.value >= self.max_value)

    def admits(self, claim: int) -> bool:
        return claim <= self.value

    def admit(self, claim: int) -> bool:
        value = self.value = self.value - claim
        return value <= 0

    def discharge(self, claim: int) -> None:
        if self.max_value is not None and self.value + claim > self.max_value:
            raise ValueError("semaphore released too many times")
        self.value += claim

    def refuse_impossible(self, claim: int) -> None:
        if self.largest is not None and claim > self.largest:
            raise ValueError(
                f"cannot acquire {claim} permits from a semaphore that never had more than "
                f"{self.largest}; ask for fewer, or resize() it first"
            )

    def sum_of(self, claims: Sequence[int]) -> int:
        return sum(claims)

    def resize(self, max_value: int) -> list[Request[int]]:
        """Change the number of permits that exist; those that are out stay out."""
        if self.max_value is None or self.largest is None:
            raise ValueError("cannot resize an unbounded semaphore; create it with max_value=...")
        self.value += max_value - self.max_value
        self.max_value = max_value
        self.largest = max(self.largest, max_value)
        return self.settle()

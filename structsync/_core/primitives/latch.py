"""A count that falls to zero: the decisions of :class:`structsync.Latch`."""

from __future__ import annotations

from structsync._core.queue.arbiter import Arbiter


class LatchCore(Arbiter[int]):
    """What is left to count down; the claim is how much may be left when it is granted: 0."""

    count: int

    def __init__(self, count: int) -> None:
        super().__init__()
        self.count = count

    def admits(self, claim: int) -> bool:
        return self.count <= claim

    def admit(self, claim: int) -> None:
        """Waiting takes nothing."""

    def discharge(self, claim: int) -> None:
        if claim > self.count:
            raise ValueError(
                f"cannot count down by {claim} where {self.count} is left; a latch never goes "
                "below zero, and does not start again: make a new one"
            )
        self.count -= claim

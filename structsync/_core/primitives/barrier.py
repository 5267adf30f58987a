"""Parties that wait for each other, round by round: the decisions of :class:`structsync.Barrier`.

A party is in the queue until its round is full. Its number is given when the round is, not when it comes:
counted on arrival it would be given twice once one in between has left (cpython#155233).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable

from structsync._core.queue.arbiter import Arbiter
from structsync._core.queue.request import WITHDRAWN, Request


class BarrierCore(Arbiter[int | None]):
    """A queue that is let in as a whole; the claim is None, and the number once it is granted."""

    parties: int  # how many make a round; fewer when some have left, for good
    places: int  # of the round that is let in now; 0 when quiescent
    broken: bool  # until the next reset

    def __init__(self, parties: int) -> None:
        super().__init__()
        self.parties = parties
        self.places = 0
        self.broken = False

    def admits(self, claim: int | None) -> bool:
        return self.places > 0

    def admit(self, claim: int | None) -> None:
        self.places -= 1

    def discharge(self, claim: int | None) -> None:
        raise NotImplementedError("a barrier holds nothing that could be released")

    def refuse_impossible(self, claim: int | None) -> None:
        if not self.parties:
            raise RuntimeError("all parties of this Barrier have left it; make a new one")

    @property
    def full(self) -> bool:
        """Whether as many are in the queue as a round has; never when quiescent."""
        return len(self.queue) >= self.parties

    def complete_round(
        self, action: Callable[[], Hashable] | None = None
    ) -> list[Request[int | None]]:
        """Run the action while all of the full round are inside, and let it in.

        Args:
          action: returns None, or the cause for which the round is to be broken instead.
        """
        cause = None if action is None else action()
        return self.release_round() if cause is None else self.break_round(cause)

    def remove_party(
        self, action: Callable[[], Hashable] | None = None
    ) -> list[Request[int | None]]:
        """Make it one party fewer, of this round too; complete that if it waits for no other task now."""
        if not self.parties:
            raise RuntimeError("all parties of this Barrier have left it already")
        self.parties -= 1
        return self.complete_round(action) if self.queue and self.full else []

    def release_round(self) -> list[Request[int | None]]:
        """Let the full round in, and number its parties in the order in which they came."""
        self.places = self.parties
        ended = self.settle()
        for number, request in enumerate(ended):
            request.claim = number
        return ended

    def leave_and_break(
        self, request: Request[int | None], cause: Hashable
    ) -> list[Request[int | None]] | None:
        """Withdraw a party and break the round for the others.

        Returns None, and changes nothing, if the request is not pending.
        """
        if request.queue is not self.queue:
            return None
        self.end_with(request, WITHDRAWN)
        return self.break_round(cause)

    def break_round(self, cause: Hashable) -> list[Request[int | None]]:
        """Send away the tasks that wait, and those that come before the next reset."""
        if self.cause is not None:
            return []
        self.broken = True
        return super().end(cause)

    def reset(self, cause: Hashable) -> list[Request[int | None]]:
        """Begin a new round; the tasks that wait are sent away."""
        ended = self.break_round(cause)
        self._mend()
        return ended

    def end(self, cause: Hashable) -> list[Request[int | None]]:
        self._mend()  # closed is for good, and broken is not
        return super().end(cause)

    def _mend(self) -> None:
        if self.broken:
            self.broken = False
            self.cause: Hashable = None

"""A barrier lets its parties in when a round is full, numbers each once, and breaks as a whole.

Whoever waits may be cancelled: it is not counted then, or it breaks the round for the others,
whichever was asked for when the barrier was made. Both may happen here at any moment. A broken
barrier refuses who comes until somebody resets it; a closed one is closed for good.

Nothing is promised to the one who waits but that a full round does not: the others need not come.
"""

from __future__ import annotations

from typing import Any

from structsync import Status
from structsync._core.primitives.barrier import BarrierCore
from structsync.checking import action, invariant, start, step

from .common import FifoSpec

# ==== Bounds ====

PARTIES = 4  # the last, and three who wait for it: one can leave a gap, and two are left to be told
TASKS = ("a", "b", "c", "d", "e", "f")  # more than a round, so that the gap is filled by others


def waiting(spec: BarrierSpec) -> list[str]:
    return spec.in_queue()


class BarrierSpec(FifoSpec):
    """A barrier; whoever passed may come again."""

    newcomers = ((None, 0),)
    core: BarrierCore = start(BarrierCore, PARTIES)
    why: str | None = start(lambda: None)  # by what has happened, why it is out of service

    # What the last action was; forgotten like `ended`.
    came: tuple[str, ...] = start(tuple)
    deserted: tuple[str, ...] = start(tuple)

    def canonical(self, snapshot: Any) -> Any:
        return snapshot._replace(ended=(), came=(), deserted=())

    # ==== Actions ====

    @action(
        who=lambda spec: [who for who in TASKS if who not in spec.in_queue()],
        when=lambda spec, who: spec.core.cause is None,
    )
    def come(self, who: str) -> None:
        self.came = (who,)
        self.asked(self.core.enqueue(None, waiter=who))
        if self.core.full:
            self.note(self.core.release_round())

    @action(who=waiting)
    def withdraw(self, who: str) -> None:
        self.note(self.withdrawn(who))

    @action(who=waiting)
    def leave_and_break(self, who: str) -> None:
        self.deserted, self.why = (who,), "broken"
        request = self.request_of(who)
        self.note([request, *(self.core.leave_and_break(request, "broken") or ())])

    @action
    def abort(self) -> None:
        self.why = self.why or "broken"
        self.note(self.core.break_round("broken"))

    @action
    def reset(self) -> None:
        self.why = "closed" if self.why == "closed" else None
        self.note(self.core.reset("reset"))

    @action(when=lambda spec: spec.core.cause != "closed")
    def close(self) -> None:
        self.why = "closed"
        self.note(self.core.end("closed"))

    # ==== Invariants ====

    @invariant
    def a_full_round_does_not_wait(self) -> bool:
        """Fewer are in the queue than make a round."""
        return len(self.in_queue()) < PARTIES

    @invariant
    def broken_is_not_closed(self) -> bool:
        """It says that it is broken exactly while a reset would help."""
        return self.core.broken == (self.core.cause == "broken")

    @invariant
    def a_reset_puts_it_into_service(self) -> bool:
        """A reset sends away who waits, and leaves no mark that keeps others out."""
        return self.core.cause != "reset"

    @invariant
    def it_is_in_service_until_it_is_broken_or_closed(self) -> bool:
        """It breaks with a round, a reset mends it, and a close counts whatever it was before (C1)."""
        return self.core.cause == self.why

    # ==== Step properties ====

    @step
    def closed_stays_closed(self, before: Any) -> bool:
        """Once closed, no reset opens it; once broken, only a reset or a close changes that (C1)."""
        was, now = before.core.cause, self.core.cause
        return was is None or now == was or (was == "broken" and now in (None, "closed"))

    @step
    def a_round_is_let_in_as_a_whole(self, before: Any) -> bool:
        """The last one of a round lets all of it in, and nobody is let in otherwise (B2)."""
        round_ = [*before.in_queue(), *self.came]
        is_full = bool(self.came) and len(round_) == PARTIES
        return sorted(self.granted()) == (sorted(round_) if is_full else [])

    @step
    def each_party_has_a_number_of_its_own(self, before: Any) -> bool:
        """The parties of a round are numbered from 0, in the order in which they came (B1)."""
        numbers = [one.claim for one in self.ended if one.waiter in self.granted()]
        return numbers == [*range(len(numbers))]

    @step
    def a_deserter_takes_the_round_along(self, before: Any) -> bool:
        """Who deserts is withdrawn, and everybody else of the round is told that it is broken."""
        broken = [one.waiter for one in self.ended if one.status is Status.BROKEN]
        withdrawn = [one.waiter for one in self.ended if one.status is Status.WITHDRAWN]
        if self.deserted:
            others = [who for who in before.in_queue() if who not in self.deserted]
            return withdrawn == [*self.deserted] and broken == others and not self.in_queue()
        return not broken or not self.in_queue()

    @step
    def who_has_ended_cannot_desert(self, before: Any) -> bool:
        """A party whose round is over takes no later round along (I4)."""
        now = self.core.snapshot()
        return all(
            self.core.leave_and_break(one, "too late") is None and self.core.snapshot() == now
            for one in self.ended
        )

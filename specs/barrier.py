"""A barrier lets its parties in when a round is full, numbers each once, and breaks as a whole.

Whoever waits may be cancelled: it is not counted then, or it breaks the round for the others,
whichever was asked for when the barrier was made. Both may happen here at any moment. A broken
barrier refuses who comes until somebody resets it; a closed one is closed for good.

Nothing is promised to the one who waits but that a full round does not: the others need not come.
"""

from __future__ import annotations

from typing import Any

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
    deserted: bool = start(bool)  # whether the last action was that; forgotten like `ended`
    shut: bool = start(bool)  # whether it was a close

    def canonical(self, snapshot: Any) -> Any:
        return snapshot._replace(ended=(), deserted=False, shut=False)

    # ==== Actions ====

    @action(
        who=lambda spec: [who for who in TASKS if who not in spec.in_queue()],
        when=lambda spec, who: spec.core.cause is None,
    )
    def come(self, who: str) -> None:
        self.asked(self.core.enqueue(None, waiter=who))
        if self.core.full:
            self.note(self.core.release_round())

    @action(who=waiting)
    def withdraw(self, who: str) -> None:
        self.note(self.withdrawn(who))

    @action(who=waiting)
    def leave_and_break(self, who: str) -> None:
        request = self.request_of(who)
        self.deserted = True
        self.note([request, *(self.core.leave_and_break(request, "broken") or ())])

    @action
    def abort(self) -> None:
        self.note(self.core.break_round("broken"))

    @action
    def reset(self) -> None:
        self.note(self.core.reset("reset"))

    @action(when=lambda spec: spec.core.cause != "closed")
    def close(self) -> None:
        self.shut = True
        self.note(self.core.end("closed"))

    # ==== Invariants ====

    @invariant
    def a_full_round_does_not_wait(self) -> bool:
        """Fewer are in the queue than make a round."""
        return len(self.core.queue) < PARTIES

    @invariant
    def broken_is_not_closed(self) -> bool:
        """It says that it is broken exactly while a reset would help."""
        return self.core.broken == (self.core.cause == "broken")

    @invariant
    def a_reset_puts_it_into_service(self) -> bool:
        """A reset sends away who waits, and leaves no mark that keeps others out."""
        return self.core.cause != "reset"

    # ==== Step properties ====

    @step
    def closed_stays_closed(self, before: Any) -> bool:
        """Once closed, no reset opens it; once broken, only a reset or a close changes that (C1)."""
        was, now = before.core.cause, self.core.cause
        return was is None or now == was or (was == "broken" and now in (None, "closed"))

    @step
    def a_round_is_let_in_as_a_whole(self, before: Any) -> bool:
        """As many as make a round are let in, or nobody (B2)."""
        return len(self.granted()) in (0, PARTIES)

    @step
    def each_party_has_a_number_of_its_own(self, before: Any) -> bool:
        """The parties of a round are numbered from 0, in the order in which they came (B1)."""
        numbers = [one.claim for one in self.ended if one.waiter in self.granted()]
        return numbers == [*range(len(numbers))]

    @step
    def a_deserter_breaks_the_round(self, before: Any) -> bool:
        """Whoever takes the round along leaves a broken barrier behind."""
        return self.core.broken or not self.deserted

    @step
    def nobody_deserts_twice(self, before: Any) -> bool:
        """Of a request that has ended nothing is broken any more, and the answer says so (I4)."""
        situation = self.core.snapshot()
        return all(
            self.core.leave_and_break(one, "again") is None and self.core.snapshot() == situation
            for one in self.ended
        )

    @step
    def a_close_is_for_good(self, before: Any) -> bool:
        """It is closed by a close also if it was broken: no reset will open it (C8)."""
        return not self.shut or self.core.cause == "closed"

    @step
    def a_deserter_takes_the_round_along(self, before: Any) -> bool:
        """Where somebody is told that the round is broken, nobody of it waits on."""
        broken = any(one.status == "broken" for one in self.ended)
        return not broken or not self.in_queue()

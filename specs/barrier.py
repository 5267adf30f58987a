"""A barrier lets its parties in when a round is full, numbers each once, and breaks as a whole.

Whoever waits may be cancelled: it is not counted then, or it breaks the round for the others,
whichever was asked for when the barrier was made. Both may happen here at any moment. A broken
barrier refuses who comes until somebody resets it; a closed one is closed for good.

A party may leave for good: the others of this round and of later ones do not wait for it. Once a round, while
all are inside, an action runs; if it fails, nobody of the round goes on.

What is promised to the one who waits needs others who come and stay. Those who come and give up again, in turn, can
keep a round from ever being full. So from some moment on, nobody gives up (`everybody_stays`), and people come (a *fair*
action: it is enough that somebody comes, not that each does).
"""

from __future__ import annotations

from operator import methodcaller
from typing import Any

from structsync import Status
from structsync._core.primitives.barrier import BarrierCore
from structsync.checking import action, invariant, invariants, leads_to, start, step

from .common import FifoSpec

# ==== Bounds ====

PARTIES = 4  # the last, and three who wait for it: one can leave a gap, and two are left to be told
TASKS = ("a", "b", "c", "d", "e", "f")  # more than a round, so that the gap is filled by others


def absent(spec: BarrierSpec) -> list[str]:
    return [who for who in TASKS if who not in spec.in_queue()]


def waiting(spec: BarrierSpec) -> list[str]:
    return spec.in_queue()


class BarrierSpec(FifoSpec):
    """A barrier; whoever passed may come again."""

    forgets = ("came", "left", "deserted", "acted", "fails")
    newcomers = ((None, 0),)
    core: BarrierCore = start(BarrierCore, PARTIES)
    parties: int = start(lambda: PARTIES)  # that have not left
    why: str | None = start(lambda: None)  # by what has happened, why it is out of service
    patient: bool = start(bool)  # nobody gives up any more

    # What the last action was; forgotten like `ended`.
    came: tuple[str, ...] = start(tuple)
    left: bool = start(bool)
    deserted: tuple[str, ...] = start(tuple)
    acted: tuple[tuple[str, ...], ...] = start(
        tuple
    )  # who was inside, each time that the action ran
    fails: bool = start(bool)  # whether it would fail

    def act(self) -> str | None:
        """Run the action of a round: say why it fails, or that it does not."""
        self.acted = (*self.acted, tuple(self.in_queue()))
        if self.fails:
            self.why = "broken"
        return self.why

    # ==== Actions ====

    @action(when=lambda spec: not spec.patient)
    def everybody_stays(self) -> None:
        self.patient = True

    @action(
        who=absent,
        fails=(False, True),
        fair=True,
        fair_together=True,
        when=lambda spec, who, fails: spec.core.cause is None and spec.parties > 0,
    )
    def come(self, who: str, fails: bool) -> None:
        self.came, self.fails = (who,), fails
        self.asked(self.core.enqueue(None, waiter=who))
        if self.core.full:
            self.note(self.core.complete_round(self.act))

    @action(fails=(False, True), when=lambda spec, fails: spec.parties > 0)
    def leave(self, fails: bool) -> None:
        self.left, self.fails = True, fails
        self.parties -= 1
        self.note(self.core.remove_party(self.act))

    @action(who=waiting, when=lambda spec, who: not spec.patient)
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
        """Fewer are in the queue than make a round: those who have left are not waited for."""
        return not self.in_queue() or len(self.in_queue()) < self.parties

    @invariant
    def who_has_left_is_not_counted(self) -> bool:
        """A party leaves for good; when the last has left, nobody can come any more."""
        nobody_comes = self.parties > 0 or invariants.refuses(
            self.core, methodcaller("enqueue", None)
        )
        return self.core.parties == self.parties and nobody_comes

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
        """Who comes last, or leaves the others alone, lets all of it in, and nobody else does (B2)."""
        round_ = self.round_completed(before)
        return self.granted() == ([] if self.fails else round_)

    @step
    def the_action_runs_once_a_round_while_all_are_inside(self, before: Any) -> bool:
        """It runs when the round is complete, and sees all of it; and at no other time."""
        round_ = self.round_completed(before)
        return self.acted == ((tuple(round_),) if round_ else ())

    @step
    def a_round_whose_action_fails_goes_nowhere(self, before: Any) -> bool:
        """All of it, who completed it too, are told that it is broken."""
        broken = [one.waiter for one in self.ended if one.status is Status.BROKEN]
        round_ = self.round_completed(before)
        return not (round_ and self.fails) or (broken == round_ and self.core.cause == "broken")

    def round_completed(self, before: Any) -> list[str]:
        """Return the round that the last action completed, in the order in which they came."""
        round_ = [*before.in_queue(), *self.came]
        return round_ if (self.came or self.left) and len(round_) == self.parties else []

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

    # ==== Temporal properties ====

    @leads_to(who=TASKS)
    def who_stays_passes_if_others_come_and_stay(self, who: str) -> tuple[bool, bool]:
        """Once nobody gives up any more, whoever waits passes eventually, or is told."""
        waits = self.patient and who in self.in_queue()
        return waits, not waits

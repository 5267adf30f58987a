"""A barrier lets its parties in when a round is full, numbers each once, and breaks as a whole.

A *round* is as many tasks as the barrier has parties; the state is the core, which has the tasks of the round that
wait, how many parties there are, and why it is broken or closed, if it is. A task comes, and waits until the round is
full. A task that waits may be cancelled: it withdraws, and is not counted, or it *deserts*, and breaks the round for
the others, as was asked for when the barrier was made. Both may happen here at any moment. A broken barrier refuses
newcomers until it is reset; a closed one is closed for good.

A party may leave for good: this round and later ones do not wait for it. Once a round, while all of its tasks
are inside, an action runs; if it fails, the round is broken.

What is promised to a task that waits needs others that come and stay. Tasks that come and withdraw again, in turn, can
keep a round from ever being full. So from some moment on no task withdraws (`all_parties_stay`), and tasks come (a
*fair* action: it is enough that some task comes, not that each does).
"""

from __future__ import annotations

from typing import Any

from structsync import Status
from structsync._core.primitives.barrier import BarrierCore
from structsync.checking import action, implies, invariant, leads_to, start, step

from .common import FifoSpec

# ==== Bounds ====

# The last of a round, and three that wait for it: one can withdraw or desert, and two are left to be told.
PARTIES = 4
# More than a round, so that others come for one that withdraws.
TASKS = ("a", "b", "c", "d", "e", "f")


def absent(spec: BarrierSpec) -> list[str]:
    return [who for who in TASKS if who not in spec.in_queue()]


def waiting(spec: BarrierSpec) -> list[str]:
    return spec.in_queue()


class BarrierSpec(FifoSpec):
    """A barrier; a task that was let in may come again."""

    forgets = ("came", "left", "deserted", "acted", "fails")
    newcomers = ((None, 0),)
    core: BarrierCore = start(BarrierCore, PARTIES)
    parties: int = start(lambda: PARTIES)  # that have not left
    why: str | None = start(lambda: None)  # by what has happened: "broken", "closed", or neither
    patient: bool = start(bool)  # no task withdraws any more

    # What happened in the last step; forgotten like `ended`.
    came: tuple[str, ...] = start(tuple)  # the task that came
    left: bool = start(bool)  # whether a party left
    deserted: tuple[str, ...] = start(tuple)  # the task that deserted
    # The tasks that were inside, each time that the action of a round ran.
    acted: tuple[tuple[str, ...], ...] = start(tuple)
    fails: bool = start(bool)  # whether that action fails, if it runs

    # ==== Words that actions and properties use ====

    def act(self) -> str | None:
        """Run the action of a round: return None, or why it fails."""
        self.acted = (*self.acted, tuple(self.in_queue()))
        if self.fails:
            self.why = "broken"
        return self.why

    def completed_round(self, before: Any) -> list[str]:
        """Return the tasks of the round that the last step completed, in order of arrival; none if it did not."""
        tasks = [*before.in_queue(), *self.came]
        return tasks if (self.came or self.left) and len(tasks) == self.parties else []

    def ended_as(self, status: Status) -> list[str]:
        """Return the tasks whose requests the last step ended in this way, in the order of their ends."""
        return [request.waiter for request in self.ended if request.status is status]

    # ==== Actions ====

    @action(when=lambda spec: not spec.patient)
    def all_parties_stay(self) -> None:
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
        self.submitted(self.core.enqueue(None, waiter=who))
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
        """No full round waits: if tasks wait, they are fewer than the parties that have not left."""
        waiting = len(self.in_queue())
        return waiting == 0 or waiting < self.parties

    @invariant
    def a_party_that_left_is_not_counted(self) -> bool:
        """The barrier counts the parties that have not left; where all have left it refuses each newcomer."""
        if self.core.parties != self.parties:
            return False
        return self.parties > 0 or self.refuses("enqueue", None)

    @invariant
    def broken_is_not_closed(self) -> bool:
        """The mark `broken`, which a reset clears, is set exactly while it is broken and not closed."""
        return self.core.broken == (self.core.cause == "broken")

    @invariant
    def a_reset_makes_it_usable(self) -> bool:
        """The cause that a reset tells the tasks that waited does not stay, so others may come."""
        return self.core.cause != "reset"

    @invariant
    def it_is_usable_until_it_is_broken_or_closed(self) -> bool:
        """It is broken since a round broke and until a reset, closed since a close, and else usable (C1)."""
        return self.core.cause == self.why

    # ==== Step properties ====

    @step
    def closed_stays_closed(self, before: Any) -> bool:
        """Once closed it stays closed; once broken it stays so until a reset mends it or it is closed (C1)."""
        was, now = before.core.cause, self.core.cause
        if was == "broken":
            return now in ("broken", "closed", None)
        return was is None or bool(now == was)

    @step
    def a_round_is_let_in_as_a_whole(self, before: Any) -> bool:
        """A step lets in the round that it completes, all of it, unless its action fails; else no task (B2)."""
        expected = [] if self.fails else self.completed_round(before)
        return self.granted() == expected

    @step
    def the_action_runs_once_a_round_while_all_are_inside(self, before: Any) -> bool:
        """The action runs once when a round is complete, with all of its tasks inside, and at no other time."""
        completed = self.completed_round(before)
        expected = [tuple(completed)] if completed else []
        return [*self.acted] == expected

    @step
    def a_round_whose_action_fails_goes_nowhere(self, before: Any) -> bool:
        """Where the action of a round fails, each of its tasks is told that it is broken, the last one too."""
        completed = self.completed_round(before)
        return implies(
            self.fails and completed != [],
            self.ended_as(Status.BROKEN) == completed and self.core.cause == "broken",
        )

    @step
    def each_party_has_a_number_of_its_own(self, before: Any) -> bool:
        """The tasks that are let in are numbered from 0, in the order of their arrival (B1)."""
        numbers = [request.claim for request in self.ended if request.status is Status.GRANTED]
        return numbers == [*range(len(numbers))]

    @step
    def a_deserter_takes_the_round_along(self, before: Any) -> bool:
        """A task that deserts is withdrawn, and all others are told; no task of a broken round waits on."""
        broken = self.ended_as(Status.BROKEN)
        if self.deserted:
            others = [who for who in before.in_queue() if who not in self.deserted]
            if self.ended_as(Status.WITHDRAWN) != [*self.deserted] or broken != others:
                return False
        round_breaks = bool(self.deserted or broken)
        return implies(round_breaks, not self.in_queue())

    @step
    def an_ended_request_cannot_desert(self, before: Any) -> bool:
        """A task whose request has ended cannot desert: the attempt changes nothing (I4)."""
        now = self.core.snapshot()
        return all(
            self.core.leave_and_break(request, "too late") is None and self.core.snapshot() == now
            for request in self.ended
        )

    # ==== Temporal properties ====

    @leads_to(who=TASKS)
    def a_party_that_stays_passes_if_others_come_and_stay(self, who: str) -> tuple[bool, bool]:
        """Once no task withdraws any more and tasks come, each that waits is let in eventually, or is ended."""
        waits = self.patient and who in self.in_queue()
        return waits, not waits

"""A monitor has one task inside, and the next is always the oldest whose guard holds.

The state is the core, with its queue and a box of items that it guards (`_box.py`), and which task was let in and has
not left. Each task has one call, of an entry of the monitor. It enters, may withdraw while it waits, and leaves; the
box may also be changed from outside while no task is inside. Guards look at the box and perhaps at the call (how many
items a task wants). One may be removed and set again while calls wait, and an entry may be taken out. A
guard that raises ends the call that it was evaluated for, and no other. The monitor may be closed.

A task that is not permitted is passed over, so a call may be passed forever (that of a task that wants two items, while
others take one at a time). A call that needs no permission is not. And a task that is permitted *again and again*, at
moments when the monitor is free, gets in: tasks that leave, and changes from outside, leave the box half full again
and again, so that one may put and one may take. That is *strong* fairness: while others are inside neither can happen,
so neither stays possible. That tasks leave is *fair*.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from structsync._core.monitors.entry import EntryCore, Invocation
from structsync._core.queue.request import Request
from structsync.checking import action, implies, invariant, leads_to, start, step

from ._box import CALLS, ROOM, BoxCore, Defect
from .common import QueueSpec

# ==== Bounds ====

# The calls are in `_box.py`: two of an entry whose guard looks at the box alone, so that its queue
# has a first and a second; one whose guard may raise; two of an entry whose guard looks at the call,
# which differ; and one that needs no permission.

# How many items a task adds to the box when it leaves.
EFFECTS = {"puts": 1, "puts too": 1, "risks it": 0, "takes one": -1, "takes two": -2, "looks": 0}

HALF_FULL = 1  # one may put, and one may take


def usable(spec: MonitorSpec) -> bool:
    return spec.core.cause is None


def idle(spec: MonitorSpec) -> list[str]:
    busy = {*spec.inside, *spec.in_queue()}
    return [who for who in CALLS if who not in busy and spec.entry_of(who).cause is None]


def waiting(spec: MonitorSpec) -> list[str]:
    return spec.in_queue()


def is_free(spec: MonitorSpec) -> bool:
    return not spec.inside


class MonitorSpec(QueueSpec):
    """A monitor with a box, and which task was let in and has not left."""

    symmetric = ("puts", "puts too")
    core: BoxCore = start(BoxCore)
    inside: tuple[str, ...] = start(tuple)

    # ==== Words that actions use ====

    def call(self, who: str) -> Invocation:
        return self.core.calls[who]

    def entry_of(self, who: str) -> EntryCore:
        return self.call(who).entry

    @property
    def newcomers(self) -> Sequence[tuple[Any, int]]:  # type: ignore[override]  # made for this core
        return [(self.call(who), 0) for who in ("puts", "takes one")]

    def permits(self, who: str) -> bool:
        """Return whether the guard of a task's call holds in this state."""
        try:
            return bool(self.entry_of(who).permits(self.call(who)))
        except Defect:
            return False

    def got(self, request: Request[Any]) -> None:
        self.inside += (request.waiter,)

    # ==== Actions ====

    @action(who=idle, when=lambda spec, who: usable(spec))
    def enter(self, who: str) -> None:
        try:
            self.submitted(self.core.submit(self.call(who), waiter=who))
        except Defect:
            self.note([])  # it is told at once, and was never in the queue

    @action(who=waiting)
    def withdraw(self, who: str) -> None:
        self.note(self.withdrawn(who))

    @action(who=inside, fair=True)
    def leave(self, who: str) -> None:
        self.inside = tuple([one for one in self.inside if one != who])
        self.core.items = min(max(self.core.items + EFFECTS[who], 0), ROOM)
        self.note(self.core.release(self.call(who)))

    @action(who=inside)
    def leave_it_half_full(self, who: str) -> None:
        self.inside = tuple([one for one in self.inside if one != who])
        self.core.items = HALF_FULL
        self.note(self.core.release(self.call(who)))

    @action(items=range(ROOM + 1), when=lambda spec, items: is_free(spec))
    def change_from_outside(self, items: int) -> None:
        self.core.items = items
        self.note(self.core.settle())

    @action(when=lambda spec: spec.core.entries["put"].guard is not None)
    def unconstrain(self) -> None:
        self.note(self.core.constrain(self.core.entries["put"], None))

    @action(when=lambda spec: spec.core.entries["put"].guard is None)
    def constrain(self) -> None:
        self.note(self.core.constrain(self.core.entries["put"], self.core.may_put))

    @action(when=lambda spec: spec.core.entries["take"].cause is None)
    def take_out(self) -> None:
        self.note(self.core.remove(self.core.entries["take"], "taken out"))

    @action(when=usable)
    def close(self) -> None:
        self.note(self.core.end("closed"))

    # ==== Invariants ====

    @invariant
    def one_inside_at_a_time(self) -> bool:
        """At most one task was let in and has not left, and the monitor knows which."""
        owner = self.inside[0] if self.inside else None
        return len(self.inside) <= 1 and bool(self.core.owner == owner)

    @invariant
    def no_call_waits_where_a_guard_raises(self) -> bool:
        """No call waits whose guard would raise now, while the monitor is free to evaluate it."""
        guard_raises = self.core.items == ROOM
        return implies(is_free(self) and guard_raises, "risks it" not in self.in_queue())

    @invariant
    def no_call_waits_for_what_was_taken_out(self) -> bool:
        """No call waits for an entry that was taken out, and each new one is refused without a trace."""
        taken_out = [who for who in CALLS if self.entry_of(who).cause is not None]
        return all(
            who not in self.in_queue() and self.refuses("enqueue", self.call(who))
            for who in taken_out
        )

    @invariant
    def a_task_inside_cannot_enter(self) -> bool:
        """A second call of the task inside, which would wait for itself, is refused and leaves no trace."""
        return all(self.refuses("enqueue", self.call(who)) for who in self.inside)

    @invariant
    def only_the_task_inside_leaves(self) -> bool:
        """A task in the queue cannot leave the monitor, and the attempt leaves no trace."""
        head = self.in_queue()[:1]  # one is enough
        return all(self.refuses("release", self.call(who)) for who in head)

    # ==== Step properties ====

    @step
    def guards_hold_at_the_grant(self, before: Any) -> bool:
        """A task that is let in is permitted by its guard at that moment."""
        return all(self.permits(who) for who in self.granted())

    @step
    def no_permitted_call_is_passed(self, before: Any) -> bool:
        """No task that is permitted waits on while one that came later is let in (I2)."""
        for who in self.granted():
            passed = [one for one in before.ahead_of(who) if one in self.in_queue()]
            if any(self.permits(one) for one in passed):
                return False
        return True

    @step
    def an_error_ends_its_own_call_only(self, before: Any) -> bool:
        """The error of a guard ends the call that it was evaluated for, and no other (I6)."""
        ended_by_error = [
            request.waiter
            for request in self.ended
            if isinstance(getattr(request, "cause", None), Defect)
        ]
        return all(who == "risks it" for who in ended_by_error)

    @step
    def the_queues_of_the_entries_are_the_queue(self, before: Any) -> bool:
        """The queues of the entries have the tasks of the whole queue, in its order, and none is kept empty.

        A step property, because restoring a state computes this anew.
        """
        expected: dict[Any, list[str]] = {}
        for who in self.in_queue():
            expected.setdefault(self.entry_of(who), []).append(who)
        queue = self.core.queue
        found = {entry: [one.waiter for one in lane] for entry, lane in queue.by_entry.items()}
        return found == expected and len(queue) == sum(map(len, found.values()))

    # ==== Temporal properties ====

    @leads_to(
        who=("puts", "puts too", "takes one"),
        assuming={"leave_it_half_full": "strong together", "change_from_outside": "strong"},
    )
    def a_call_permitted_again_and_again_is_served(self, who: str) -> tuple[bool, bool]:
        """If the box is half full again and again, each task that puts or takes one gets in, withdraws, or is ended."""
        waits = who in self.in_queue()
        return waits, not waits

    @leads_to
    def an_unguarded_call_is_served(self) -> tuple[bool, bool]:
        """If those inside leave, a task that needs no permission gets in eventually, withdraws, or is ended."""
        waits = "looks" in self.in_queue()
        return waits, not waits

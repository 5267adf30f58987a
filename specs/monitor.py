"""A monitor has one task inside, and the next is always the oldest whose guard holds.

Guards look at the state (here: how many items are in a box) and perhaps at the call (how many items
somebody wants). They may be set, replaced and removed while calls wait, and an entry may be taken out
of service. A guard that raises ends the call that it was asked about, and touches no other.

Whoever is not permitted is passed over, so a call may be passed forever (who wants two items, while
others take one at a time). Whoever needs no permission is not. And whoever is permitted *again and again*, at moments when
the monitor is free, gets in: those who leave, and those who change the box from outside, leave it half full again and
again, so that one may put and one may take. That is *strong* fairness: while others are inside neither can happen, so
neither stays possible.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import methodcaller
from typing import Any

from structsync._core.monitors.entry import EntryCore, Invocation
from structsync._core.queue.request import Request
from structsync.checking import action, invariant, invariants, leads_to, start, step

from ._box import CALLS, ROOM, BoxCore, Defect
from .common import QueueSpec

# ==== Bounds ====

# The calls are in `_box.py`: two of an entry whose guard looks at the state alone, so that its queue
# has a first and a second; one whose guard may raise; two of an entry whose guard looks at the call,
# who differ; and one who needs no permission.

# What happens to the box when the call of that task ends.
EFFECTS = {"puts": 1, "puts too": 1, "risks it": 0, "takes one": -1, "takes two": -2, "looks": 0}

HALF_FULL = 1  # one may put, and one may take


def in_service(spec: MonitorSpec) -> bool:
    return spec.core.cause is None


def idle(spec: MonitorSpec) -> list[str]:
    busy = {*spec.inside, *spec.in_queue()}
    return [who for who in CALLS if who not in busy and spec.entry_of(who).cause is None]


def waiting(spec: MonitorSpec) -> list[str]:
    return spec.in_queue()


def is_free(spec: MonitorSpec) -> bool:
    return not spec.inside


class MonitorSpec(QueueSpec):
    """A monitor round a box, and who was let in and has not left."""

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
        """Ask the guard of somebody's call in this state."""
        try:
            return bool(self.entry_of(who).permits(self.call(who)))
        except Defect:
            return False

    def got(self, request: Request[Any]) -> None:
        self.inside += (request.waiter,)

    # ==== Actions ====

    @action(who=idle, when=lambda spec, who: in_service(spec))
    def enter(self, who: str) -> None:
        try:
            self.asked(self.core.submit(self.call(who), waiter=who))
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
    def take_out_of_service(self) -> None:
        self.note(self.core.remove(self.core.entries["take"], "taken out"))

    @action(when=in_service)
    def close(self) -> None:
        self.note(self.core.end("closed"))

    # ==== Invariants ====

    @invariant
    def one_inside_at_a_time(self) -> bool:
        """At most one was let in and has not left, and the monitor knows who."""
        return len(self.inside) <= 1 and self.core.owner == (self.inside or (None,))[0]

    @invariant
    def nobody_waits_where_a_guard_raises(self) -> bool:
        """Whoever's guard raises is told as soon as it is asked."""
        asked = is_free(self) and self.core.items == ROOM
        return not asked or "risks it" not in self.in_queue()

    @invariant
    def nobody_waits_for_what_was_taken_out(self) -> bool:
        """Taking an entry out of service reaches all who wait for it, and newcomers are refused."""
        gone = [who for who in CALLS if self.entry_of(who).cause is not None]
        return not any(who in self.in_queue() for who in gone) and all(
            invariants.refuses(self.core, methodcaller("enqueue", self.call(who))) for who in gone
        )

    @invariant
    def whoever_is_inside_cannot_enter(self) -> bool:
        """A second call of the task inside is refused and leaves no trace: it would wait for itself."""
        return all(
            invariants.refuses(self.core, methodcaller("enqueue", self.call(who)))
            for who in self.inside
        )

    @invariant
    def only_who_is_inside_leaves(self) -> bool:
        """Whoever is not inside cannot leave, and the attempt leaves no trace."""
        return all(
            invariants.refuses(self.core, methodcaller("release", self.call(who)))
            for who in self.in_queue()[:1]
        )

    # ==== Step properties ====

    @step
    def guards_hold_at_the_grant(self, before: Any) -> bool:
        """Whoever was let in is permitted by the state at that moment."""
        return all(self.permits(who) for who in self.granted())

    @step
    def nobody_permitted_is_passed(self, before: Any) -> bool:
        """Whoever is older than the one that was let in, and still waits, is not permitted (I2)."""
        queue = before.in_queue()
        return not any(
            self.permits(one)
            for who in self.granted()
            for one in (queue[: queue.index(who)] if who in queue else queue)
            if one in self.in_queue()
        )

    @step
    def an_error_ends_its_own_call_only(self, before: Any) -> bool:
        """The error of a guard is told to whom it was asked about (I6)."""
        told = [one.waiter for one in self.ended if isinstance(getattr(one, "cause", None), Defect)]
        return all(who == "risks it" for who in told)

    @step
    def the_queues_of_the_entries_are_the_queue(self, before: Any) -> bool:
        """The lanes have exactly those in the queue, each in order, and none of them is empty.

        Of each step, because a state that is restored knows it anyway.
        """
        expected: dict[Any, list[str]] = {}
        for who in self.in_queue():
            expected.setdefault(self.entry_of(who), []).append(who)
        queue = self.core.queue
        lanes = {entry: [one.waiter for one in lane] for entry, lane in queue.by_entry.items()}
        return lanes == expected and len(queue) == sum(map(len, lanes.values()))

    # ==== Temporal properties ====

    @leads_to(
        who=("puts", "puts too", "takes one"),
        assuming={"leave_it_half_full": "strong together", "change_from_outside": "strong"},
    )
    def who_is_permitted_again_and_again_is_served(self, who: str) -> tuple[bool, bool]:
        """If the box is left half full again and again, who puts or takes one gets in, or is told."""
        waits = who in self.in_queue()
        return waits, not waits

    @leads_to
    def who_needs_no_permission_is_served(self) -> tuple[bool, bool]:
        """If those inside leave, whoever needs no permission gets in eventually, or gives up, or is told."""
        waits = "looks" in self.in_queue()
        return waits, not waits

"""An item of a buffer in hand is used up or comes back where it was; it keeps its room meanwhile.

Some get items for good, others work on theirs: who works on an item may fail, and then it is there again,
before all that were put after it. What is complete may still get an item back.

The naive model is the list of what was put and is neither got nor used up, in that order, with who has it
in hand; made from nothing but what the core reports.
"""

from __future__ import annotations

from typing import Any

from structsync._core.primitives.buffer import BufferCore
from structsync._core.primitives.sides import Batch, Get, Lend, One
from structsync._core.queue.request import Request
from structsync.checking import action, invariant, invariants, start

from .two_sides import TwoSidesSpec, waiters_are_served

# ==== Bounds ====

ROOM = 2  # one in hand and one in the buffer, and two in hand
FAILURES = 1  # who fails forever is never through; several that come back are for tests/core


class Work(Lend):
    """A claim of one who works on items; equal to itself after a restart, too."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Work) and self.borrower == other.borrower

    def __hash__(self) -> int:
        return hash(self.borrower)

    def __repr__(self) -> str:
        return f"Work({self.borrower!r})"


# The items of two tasks can be told apart; a batch looks at how much room there is.
PUTS = {"a": ("a",), "b": ("b",)}
GETS: dict[str, Get] = {
    "x": One(),
    "batch": Batch(2),
    "v": Work("v"),
    "w": Work("w"),
}
WORKERS = ("v", "w")
CLAIMS = ((PUTS["a"], 0), (GETS["x"], 0), (Work("new"), 0))


def idle(spec: LentItemsSpec) -> list[str]:
    busy = {*spec.in_queue(), *spec.in_hand()}
    return [who for who in (*PUTS, *GETS) if who not in busy]


class LentItemsSpec(TwoSidesSpec):
    """A buffer whose oldest item is got next."""

    puts = PUTS
    gets = GETS
    newcomers = CLAIMS
    core: BufferCore = start(BufferCore, ROOM)
    items: tuple[tuple[str, str | None], ...] = start(tuple)  # what is there, and in whose hand
    failures: int = start(lambda: 0)

    def got(self, request: Request[Any]) -> None:
        who = request.waiter
        if who in PUTS:
            self.items += ((PUTS[who][0], None),)
            return
        found = self.found_by(request)
        self.handed += found
        for _ in found:
            place = self.next_place()
            self.due += (self.items[place][0],)
            self.replace(place, who if who in WORKERS else None)

    def found_by(self, request: Request[Any]) -> tuple[str, ...]:
        if request.waiter in WORKERS:
            return (self.core.item_of(request.claim),)
        return tuple(request.claim)

    def next_place(self) -> int:
        """Return where the item stands that is to come out next."""
        return next(place for place, (_, who) in enumerate(self.items) if who is None)

    def replace(self, place: int, who: str | None) -> None:
        """Say in whose hand an item is; None: nobody has it any more, nor does the buffer."""
        item, rest = self.items[place][0], self.items[place + 1 :]
        self.items = (*self.items[:place], *(() if who is None else ((item, who),)), *rest)

    def in_hand(self) -> list[str]:
        return [who for _, who in self.items if who is not None]

    def there(self) -> tuple[str, ...]:
        """Return what is in the buffer, as it is to come out."""
        return tuple(item for item, who in self.items if who is None)

    # ==== Actions ====

    @action(who=idle, when=lambda spec, who: spec.core.cause is None)
    def ask(self, who: str) -> None:
        core = self.core
        if core.completed is not None and (who in PUTS or not self.items):
            return  # refused, see the_end_is_told_when_nothing_can_come_back
        self.note(core.ask(PUTS.get(who) or GETS[who], who)[1])

    @action(who=lambda spec: spec.in_hand(), fair=True)
    def use_up(self, who: str) -> None:
        self.replace([one for _, one in self.items].index(who), None)
        self.note(self.core.release(GETS[who]))

    @action(who=lambda spec: spec.in_hand() if spec.failures < FAILURES else [])
    def fail(self, who: str) -> None:
        self.failures += 1
        place = [one for _, one in self.items].index(who)
        if self.core.cause is not None:
            self.replace(place, None)
        else:
            self.items = (
                *self.items[:place],
                (self.items[place][0], None),
                *self.items[place + 1 :],
            )
        self.note(self.core.put_back(GETS[who]))

    @action(when=lambda spec: spec.there(), fair=True)
    def take_out(self) -> None:
        """Who collects is satisfied with what there is; else somebody gets."""
        if self.core.collecting is not None:
            self.note(self.core.end_window(self.core.collecting))
        else:
            self.note(self.core.ask(GETS["x"], "x")[1])

    @action(
        when=lambda spec: (
            spec.core.cause is None and spec.core.completed is None and not spec.items
        ),
        fair=True,
    )
    def put_in(self) -> None:
        self.note(self.core.ask(PUTS["a"], "a")[1])

    @action(when=lambda spec: spec.core.cause is None)
    def close(self) -> None:
        self.items = tuple((item, who) for item, who in self.items if who is not None)
        self.note(self.core.end("closed"))

    # ==== Invariants ====

    @invariant
    def no_item_is_lost_or_doubled(self) -> bool:
        """What is in the buffer comes out in its order, and each has in hand what it was handed (I1)."""
        found = self.core.items.copy()
        out = tuple(found.take() for _ in range(len(found)))
        lent = {who: self.core.item_of(GETS[who]) for who in self.in_hand()}
        return (
            out == self.out()
            and len(self.core.lent) == len(lent)
            and all((item, who) in self.items for who, item in lent.items())
        )

    def out(self) -> tuple[str, ...]:
        return self.there()

    @invariant
    def an_item_in_hand_keeps_its_room(self) -> bool:
        """Whoever puts waits while there would be no room for what may come back."""
        return len(self.core.items) + len(self.core.lent) <= ROOM

    @invariant
    def the_end_is_told_when_nothing_can_come_back(self) -> bool:
        """Who gets is sent away from what is complete when nothing is left and nothing in hand."""
        if self.core.completed is None or self.core.cause is not None:
            return True
        is_told = invariants.refuses(self.core, lambda core: core.ask(One()))
        return is_told == (not self.items) and not (is_told and self.core.queue)

    # ==== Temporal properties ====

    who_waits_is_served = waiters_are_served((*PUTS, *GETS))


class LentFromAStackSpec(LentItemsSpec):
    """A buffer whose youngest item is got next."""

    core: BufferCore = start(BufferCore, ROOM, policy="lifo")

    def next_place(self) -> int:
        return max(place for place, (_, who) in enumerate(self.items) if who is None)

    def out(self) -> tuple[str, ...]:
        return self.there()[::-1]

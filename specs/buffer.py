"""A buffer hands each item to exactly one who gets it, in its order, and loses no wakeup on either side.

To what every buffer promises (`two_sides.py`) this adds puts and gets of several items in one step, and *batches*: who
wants a batch stays at the head of those who get while a window is open, and takes what has come by its end. The naive
model is the list of what was put and not yet got, made from nothing but what the core reports.

What is promised to those who wait needs help from the others (*fair* actions): whoever puts and whoever
gets, or the end of a window.
"""

from __future__ import annotations

from typing import Any

from structsync import Status
from structsync._core.primitives.buffer import BufferCore
from structsync._core.primitives.sides import Batch, Get, One
from structsync._core.queue.request import Request
from structsync.checking import action, invariant, invariants, start, step

from .two_sides import TwoSidesSpec, waiters_are_served

# ==== Bounds ====

ROOM = (
    2  # empty, full, and one in between, where a batch of two collects and two at once do not fit
)

# Two of each, so that one is behind another one; the items of two tasks can be told apart.
PUTS = {"a": ("a",), "b": ("b",), "both": ("c", "d")}
GETS: dict[str, Get] = {"x": One(), "y": Get(2), "batch": Batch(2)}
CLAIMS = ((PUTS["a"], 0), (PUTS["both"], 0), (GETS["x"], 0), (GETS["batch"], 0))


def idle(spec: BufferSpec) -> list[str]:
    return [who for who in (*PUTS, *GETS) if who not in spec.in_queue()]


def got_by(request: Request[Any]) -> tuple[str, ...]:
    """Return what a granted request to get was handed."""
    return (request.claim,) if GETS[request.waiter].single else tuple(request.claim)


class BufferSpec(TwoSidesSpec):
    """A buffer whose oldest item is got next."""

    puts = PUTS
    gets = GETS
    newcomers = CLAIMS
    core: BufferCore = start(BufferCore, ROOM)
    kept: tuple[str, ...] = start(tuple)  # what was put and not yet got, by what the core reported

    def got(self, request: Request[Any]) -> None:
        if request.waiter in PUTS:
            self.kept += PUTS[request.waiter]
            return
        items = got_by(request)
        self.handed += items
        self.due += self.next_of(len(items))
        self.kept = self.without(self.next_of(len(items)))

    def next_of(self, number: int) -> tuple[str, ...]:
        """Return the items that are to come out next."""
        return self.kept[:number]

    def without(self, items: tuple[str, ...]) -> tuple[str, ...]:
        """Return what is kept when these are out."""
        return self.kept[len(items) :]

    # ==== Actions ====

    @action(who=idle, when=lambda spec, who: spec.core.cause is None)
    def ask(self, who: str) -> None:
        if self.core.completed is not None and (who in PUTS or not self.kept):
            return  # refused, see what_is_complete_takes_nothing
        self.note(self.core.ask(PUTS.get(who) or GETS[who], who)[1])

    @action(when=lambda spec: spec.kept, fair=True)
    def take_out(self) -> None:
        """Who collects is satisfied with what there is; else somebody gets."""
        if self.core.collecting is not None:
            self.note(self.core.end_window(self.core.collecting))
        else:
            self.ask("x")

    @action(when=lambda spec: spec.core.cause is None and not spec.kept, fair=True)
    def put_in(self) -> None:
        self.ask("a")

    @action(when=lambda spec: spec.core.cause is None)
    def close(self) -> None:
        self.kept = ()
        self.note(self.core.end("closed"))

    # ==== Invariants ====

    @invariant
    def no_item_is_lost_or_doubled(self) -> bool:
        """What is in it is what was put and not yet got, in the order in which it comes out (I1)."""
        found = self.core.items.restored(self.core.items.snapshot())
        return tuple(found.take() for _ in range(len(found))) == self.next_of(len(self.kept))

    @invariant
    def it_never_holds_more_than_it_has_room_for(self) -> bool:
        """A put waits while there is no room for all of its items."""
        return len(self.core.items) <= ROOM

    @invariant
    def more_than_fits_is_refused(self) -> bool:
        """What can never be put blocks nobody (I7)."""
        return invariants.refuses(self.core, lambda core: core.ask(("c",) * (ROOM + 1)))

    @invariant
    def what_is_complete_takes_nothing(self) -> bool:
        """After complete() a put is refused, and a get once it is empty; nobody waits for either."""
        if self.core.completed is None:
            return True
        puts = not self.waiting_to(PUTS) and invariants.refuses(
            self.core, lambda core: core.ask(PUTS["a"])
        )
        if self.core.items:
            return puts
        gets = invariants.refuses(self.core, lambda core: core.ask(GETS["x"]))
        return puts and gets and not self.core.queue

    @invariant
    def a_window_is_open_while_a_batch_collects(self) -> bool:
        """It is open exactly if the next to get is a batch and its first item is there."""
        head = self.core.queue.gets.head
        collects = bool(head is not None and self.core.items and head.claim.collects)
        return (self.core.collecting is head) if collects else (self.core.collecting is None)

    @invariant
    def the_sides_wait_for_each_other_never(self) -> bool:
        """Where a task waits to get and somebody to put, a batch collects and its window will end."""
        both = self.waiting_to(PUTS) and self.waiting_to(GETS)
        return not both or self.core.collecting is not None

    # ==== Step properties ====

    @step
    def nobody_is_handed_nothing(self, before: Any) -> bool:
        """Whoever is granted a get has an item at least, and no more than it wants."""
        gets = [one for one in self.ended if one.waiter in GETS and one.status is Status.GRANTED]
        return all(1 <= len(got_by(one)) <= GETS[one.waiter].most for one in gets)

    # ==== Temporal properties ====

    who_waits_is_served = waiters_are_served((*PUTS, *GETS))


class StackSpec(BufferSpec):
    """A buffer whose youngest item is got next."""

    core: BufferCore = start(BufferCore, ROOM, policy="lifo")

    def next_of(self, number: int) -> tuple[str, ...]:
        return self.kept[::-1][:number]

    def without(self, items: tuple[str, ...]) -> tuple[str, ...]:
        return self.kept[: len(self.kept) - len(items)]

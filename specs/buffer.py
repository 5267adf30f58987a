"""A buffer hands each item to exactly one task that gets, in order, and loses no wakeup on either side.

To what every buffer promises (`two_sides.py`) this adds puts and gets of several items in one step, and *batches*: a
task that wants a batch stays at the head of those that get while a window is open, and takes what has come by its
end. The naive model is the list of the items that were put and not yet got, made from what the core reports alone.

A task that is not in the queue may put or get; the buffer may be closed. What is promised to tasks that wait needs help
from the others (*fair* actions): some task puts when there are no items, and where there are, some task gets or the
window ends.
"""

from __future__ import annotations

from typing import Any

from structsync import Status
from structsync._core.primitives.buffer import BufferCore
from structsync._core.primitives.sides import Batch, Get, One
from structsync._core.queue.request import Request
from structsync.checking import action, implies, invariant, start, step

from .two_sides import TwoSidesSpec, waiters_are_served

# ==== Bounds ====

# Empty, full, and one item in between, where a batch of two collects and a put of two does not fit.
ROOM = 2

# More than one task on each side, so that one is behind another; the items of two tasks can be told apart.
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
    kept: tuple[str, ...] = start(tuple)  # the items put and not yet got, by what the core reported

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
        """Return what is kept when these, the next, have come out."""
        return self.kept[len(items) :]

    # ==== Actions ====

    @action(who=idle, when=lambda spec, who: spec.core.cause is None)
    def ask(self, who: str) -> None:
        if self.core.completed is not None and (who in PUTS or not self.kept):
            return  # refused, see what_is_complete_takes_nothing
        self.note(self.core.ask(PUTS.get(who) or GETS[who], who)[1])

    @action(when=lambda spec: spec.kept, fair=True)
    def take_out(self) -> None:
        """If a batch collects, its window ends, and it takes what there is; else a task gets."""
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
        """The items that would come out are those that were put and not yet got, in order (I1)."""
        copy = self.core.items.copy()
        would_come_out = tuple(copy.take() for _ in range(len(copy)))
        return would_come_out == self.next_of(len(self.kept))

    @invariant
    def it_never_holds_more_than_it_has_room_for(self) -> bool:
        """There are never more items in it than it has room for: a put of more waits."""
        return len(self.core.items) <= ROOM

    @invariant
    def more_than_fits_is_refused(self) -> bool:
        """A put of more items than it ever has room for is refused, and leaves no trace (I7)."""
        return self.refuses("ask", ("c",) * (ROOM + 1))

    @invariant
    def what_is_complete_takes_nothing(self) -> bool:
        """Once it is complete no task waits to put, and puts are refused; once it is empty too, so it is with gets."""
        if self.core.completed is None:
            return True
        puts_have_ended = not self.waiting_to(PUTS) and self.refuses("ask", PUTS["a"])
        if self.core.items:
            return puts_have_ended
        gets_have_ended = not self.waiting_to(GETS) and self.refuses("ask", GETS["x"])
        return puts_have_ended and gets_have_ended

    @invariant
    def a_window_is_open_while_a_batch_collects(self) -> bool:
        """A window is open exactly if the next to get wants a batch and there are items: its own."""
        head = self.core.queue.gets.head
        collects = head is not None and head.claim.collects and len(self.core.items) > 0
        expected = head if collects else None
        return self.core.collecting is expected

    @invariant
    def the_sides_wait_for_each_other_never(self) -> bool:
        """Tasks wait on both sides only while a batch collects, whose window will end."""
        tasks_wait_on_both_sides = bool(self.waiting_to(PUTS) and self.waiting_to(GETS))
        return implies(tasks_wait_on_both_sides, self.core.collecting is not None)

    # ==== Step properties ====

    @step
    def no_task_is_handed_nothing(self, before: Any) -> bool:
        """A task that is granted a get is handed at least one item, and no more than it wants."""
        granted = [request for request in self.ended if request.status is Status.GRANTED]
        gets = [request for request in granted if request.waiter in GETS]
        return all(1 <= len(got_by(request)) <= GETS[request.waiter].most for request in gets)

    # ==== Temporal properties ====

    every_waiter_is_served = waiters_are_served((*PUTS, *GETS))


class StackSpec(BufferSpec):
    """A buffer whose youngest item is got next."""

    core: BufferCore = start(BufferCore, ROOM, policy="lifo")

    def next_of(self, number: int) -> tuple[str, ...]:
        return self.kept[::-1][:number]

    def without(self, items: tuple[str, ...]) -> tuple[str, ...]:
        return self.kept[: len(self.kept) - len(items)]

"""An item of a buffer in hand is used up or comes back where it was; it keeps its room meanwhile.

Some tasks get items for good, others, the *workers*, have an item in hand while they work on it. A worker uses its
item up, or fails; then the item is in the buffer again, before all that were put after it. An item may come back to a
buffer that is complete, too.

The naive model is the list of the items that were put and are neither got nor used up, in the order of the puts, and
which worker has each in hand; made from what the core reports alone. What is promised to tasks that wait needs the
others to put, to get, and to use up (*fair* actions).
"""

from __future__ import annotations

from typing import Any

from structsync._core.primitives.buffer import BufferCore
from structsync._core.primitives.sides import Batch, Get, Lend, One
from structsync._core.queue.request import Request
from structsync.checking import action, invariant, start

from .two_sides import TwoSidesSpec, waiters_are_served

# ==== Bounds ====

ROOM = 2  # one item in hand and one in the buffer, or two in hand
FAILURES = (
    1  # a worker that failed again and again would never be done; more failures are for tests/core
)


class Work(Lend):
    """The claim of a worker; all claims of one worker are equal, so that states can be compared."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Work) and self.borrower == other.borrower

    def __hash__(self) -> int:
        return hash(self.borrower)

    def __repr__(self) -> str:
        return f"Work({self.borrower!r})"


# The items of two tasks can be told apart. A get for good, two workers, and a batch: it stops collecting when there is
# no room for more, and items in hand keep theirs.
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
    # Each item, and which worker has it in hand; None: it is in the buffer.
    items: tuple[tuple[str, str | None], ...] = start(tuple)
    failures: int = start(lambda: 0)

    # ==== Words that actions and properties use ====

    def got(self, request: Request[Any]) -> None:
        who = request.waiter
        if who in PUTS:
            self.items += ((PUTS[who][0], None),)
            return
        got = self.got_by(request)
        self.handed += got
        for _ in got:
            at = self.next_out()
            self.due += (self.items[at][0],)
            if who in WORKERS:
                self.lend(at, who)
            else:
                self.forget(at)

    def got_by(self, request: Request[Any]) -> tuple[str, ...]:
        """Return what a granted request to get was handed."""
        if request.waiter in WORKERS:
            return (self.core.item_of(request.claim),)
        return tuple(request.claim)

    def next_out(self) -> int:
        """Return at which number of the list the item is that comes out next."""
        return next(at for at, (_, who) in enumerate(self.items) if who is None)

    def lend(self, at: int, who: str | None) -> None:
        """Record which worker has the item in hand; None: the item is in the buffer again."""
        item, _ = self.items[at]
        self.items = (*self.items[:at], (item, who), *self.items[at + 1 :])

    def forget(self, at: int) -> None:
        """Record that the item was got for good, or is used up, or was dropped by a closed buffer."""
        self.items = (*self.items[:at], *self.items[at + 1 :])

    def in_hand(self) -> list[str]:
        """Return which workers have an item in hand."""
        return [who for _, who in self.items if who is not None]

    def in_hand_of(self, who: str) -> int:
        """Return at which number of the list the item is that this worker has in hand."""
        return [worker for _, worker in self.items].index(who)

    def in_buffer(self) -> tuple[str, ...]:
        """Return the items that are in the buffer, in the order in which they were put."""
        return tuple(item for item, who in self.items if who is None)

    def next_out_first(self) -> tuple[str, ...]:
        """Return the items that are in the buffer, in the order in which they come out."""
        return self.in_buffer()

    # ==== Actions ====

    @action(who=idle, when=lambda spec, who: spec.core.cause is None)
    def ask(self, who: str) -> None:
        core = self.core
        if core.completed is not None and (who in PUTS or not self.items):
            return  # refused, see the_end_comes_when_nothing_can_come_back
        self.note(core.ask(PUTS.get(who) or GETS[who], who)[1])

    @action(who=lambda spec: spec.in_hand(), fair=True)
    def use_up(self, who: str) -> None:
        self.forget(self.in_hand_of(who))
        self.note(self.core.release(GETS[who]))

    @action(who=lambda spec: spec.in_hand() if spec.failures < FAILURES else [])
    def fail(self, who: str) -> None:
        self.failures += 1
        if self.core.cause is not None:
            self.forget(self.in_hand_of(who))
        else:
            self.lend(self.in_hand_of(who), None)
        self.note(self.core.put_back(GETS[who]))

    @action(when=lambda spec: spec.in_buffer(), fair=True)
    def take_out(self) -> None:
        """If a batch collects, its window ends, and it takes what there is; else a task gets."""
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
        """The items in the buffer would come out in order, and each worker has what it was handed (I1)."""
        copy = self.core.items.copy()
        would_come_out = tuple(copy.take() for _ in range(len(copy)))
        if would_come_out != self.next_out_first():
            return False
        workers = self.in_hand()
        return len(self.core.lent) == len(workers) and all(
            (self.core.item_of(GETS[who]), who) in self.items for who in workers
        )

    @invariant
    def an_item_in_hand_keeps_its_room(self) -> bool:
        """Items in the buffer and items in hand are together no more than there is room for."""
        return len(self.core.items) + len(self.core.lent) <= ROOM

    @invariant
    def the_end_comes_when_nothing_can_come_back(self) -> bool:
        """A complete buffer refuses a get exactly if no item is left or in hand; then no task waits."""
        if self.core.completed is None or self.core.cause is not None:
            return True
        if self.refuses("ask", One()):
            return not self.items and not self.core.queue
        return len(self.items) > 0

    # ==== Temporal properties ====

    every_waiter_is_served = waiters_are_served((*PUTS, *GETS))


class LentFromAStackSpec(LentItemsSpec):
    """A buffer whose youngest item is got next."""

    core: BufferCore = start(BufferCore, ROOM, policy="lifo")

    def next_out(self) -> int:
        return max(at for at, (_, who) in enumerate(self.items) if who is None)

    def next_out_first(self) -> tuple[str, ...]:
        return self.in_buffer()[::-1]

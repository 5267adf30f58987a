"""Items between the tasks that put and those that get: the decisions of :class:`structsync.Buffer`.

Two lanes of one queue: a claim to put waits for room, a claim to get for items. A grant on one side may
make the other side grantable, so :meth:`BufferCore.settle` goes from one to the other until neither
head is admitted. No task passes another on the same side; the sides do not stand in each other's way.

The item is handed over in the step of the grant: it leaves the buffer, and the request has it. So there
is no moment in which an item belongs to no task, and a cancellation comes before that step or after it
(asyncio's and anyio's queues lost items between the two: P13, P16).

A batch waits in its place until the items that it wants are there, or its window is over, or nothing more
will be put. Meanwhile they stay in the buffer. Items in hand, which may come back, are for
:mod:`.lent_items`.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable
from typing import TYPE_CHECKING, Any, ClassVar, Final

from structsync._core.queue.arbiter import NOT_ADMITTED, EndedForGood
from structsync._core.queue.request import BROKEN, GRANTED, Request

from .items import make_items
from .lent_items import LendingArbiter
from .sides import OnBothSides, Sides

Ended = list[Request[Any]]

#: Instead of what is handed out, because that may be anything: the claim is not admitted.
BLOCKED: Final = object()

#: Of what takes no more items; what comes back into it makes none either.
NO_ROOM: Final = -math.inf


class BufferCore(LendingArbiter):
    """Items, and the tasks that wait to put more in or to get some; the claim is a tuple or a Get."""

    grants_make_room: ClassVar[bool] = True
    completed: tuple[Hashable, Hashable] | None  # what puts are told, and what gets are
    if TYPE_CHECKING:  # as of the bases
        next_ticket: int
        room: float

    def __init__(self, max_items: float, *, policy: str = "fifo") -> None:
        super().__init__()
        self.policy: OnBothSides = OnBothSides()  # pyright: ignore[reportIncompatibleVariableOverride]  # for good
        self.queue: Sides = self.policy.new_queue()  # pyright: ignore[reportIncompatibleVariableOverride]  # for good
        self.items: Any = make_items(policy)
        self.max_items = max_items
        self.completed = None
        self.start_lending()
        # The batch whose window is open; it is at the head of its lane until it ends.
        self.collecting: Request[Any] | None = None
        self.window_over: bool = False  # while that batch is granted what there is

    # The three functions. What decides is one function, which takes in the same step if it is told to: a
    # call for the one and a call for the other would cost a hundredth of an exchange.

    def admits(self, claim: Any, ahead: Request[Any] | None = None) -> bool:
        """Return whether the state has room for the claim now, and no request is ahead of it. Pure.

        Args:
          ahead: the head of the lane, for a newcomer; None for the head itself.
        """
        return self.exchange(claim, ahead, False) is not BLOCKED

    def exchange(self, claim: Any, ahead: Request[Any] | None, takes: bool) -> Any:
        """Return what :meth:`admit` hands out, or BLOCKED if the claim is not admitted.

        Args:
          ahead: as in :meth:`admits`.
          takes: whether to carry it out; if not, this is pure, and returns BLOCKED or None.
        """
        if ahead is not None:
            return BLOCKED
        items: Any = self.items  # none, once it is closed
        if type(claim) is tuple:
            several = len(claim)
            if len(items) + several > self.room:
                return BLOCKED
            if items.compares:
                items.can_put(claim)
            if takes:
                if several == 1:
                    items.put(claim[0])
                else:
                    items.extend(claim)
            return None
        if not items or (claim.collects and self._collects(claim)):
            return BLOCKED
        if not takes:
            return None
        return items.take() if claim.single else self.admit(claim)

    def _collects(self, claim: Any) -> bool:
        """Return whether a batch, for which there are items, still waits for more."""
        if self.window_over or self.completed is not None:
            return False
        return bool(len(self.items) < min(claim.most, self.room))

    def admit(self, claim: Any) -> Any:
        """Put items in, or take some out; return those. Called only when :meth:`admits` holds."""
        items = self.items
        if type(claim) is tuple:
            items.extend(claim)
            return None
        if claim.single:
            return items.take()
        if claim.lends:
            return self.lend(claim)
        return [items.take() for _ in range(min(claim.most, len(items)))]

    def refuse_impossible(self, claim: Any) -> None:
        if type(claim) is not tuple:
            if self.completed is not None and not self.items and not self.lent:
                raise EndedForGood(self.completed[1])
            return
        if self.completed is not None:
            raise EndedForGood(self.completed[0])
        if len(claim) > self.max_items:
            raise ValueError(
                f"cannot put {len(claim)} items at once into a buffer for {self.max_items}; "
                "put fewer at a time"
            )

    # Transitions.

    def admissible(self, claim: Any, priority: int = 0) -> bool:
        return self.admits(claim, self.queue.lane(claim).head)

    def ask(self, claim: Any, waiter: Any = None) -> tuple[Request[Any], Ended]:
        """Submit a claim; return its request, and all that ended by it, the request too if it did.

        Raises:
          EndedForGood, Exception: as :meth:`submit`.
        """
        request = self.submit(claim, waiter=waiter)
        return request, [request, *self.settle()] if request.status is GRANTED else []

    def entered(self, request: Request[Any]) -> None:
        if self.items and self.queue.gets.head is request:
            self._open_window(request)

    def left(self, request: Request[Any]) -> None:
        if request is self.collecting:
            self.collecting, self.window_over = None, False

    def submit(self, claim: Any, priority: int = 0, waiter: Any = None) -> Request[Any]:
        try:
            handed = self.exchange(claim, self.queue.lane(claim).head, True)
        except BaseException as error:  # noqa: BLE001 - ours is raised again by guard_error
            raise self.guard_error(error) from None
        if handed is BLOCKED:
            return self.enqueue(claim, priority, waiter)
        request = self.request_type(claim, self.next_ticket, waiter)
        self.next_ticket += 1
        self.grant(request, handed)
        return request

    def grant(self, request: Request[Any], handed: Any = NOT_ADMITTED) -> Any:
        handed = super().grant(request, handed)
        if type(request.claim) is not tuple:
            request.claim = handed  # its owner takes it from here
        return handed

    def settle(self, candidates: object = None) -> Ended:
        """Grant whatever can be granted now, on both sides in turn, gets first."""
        ended: Ended = []
        gets, puts = self.queue.gets, self.queue.puts
        lane = gets
        while True:
            head = lane.head
            if head is not None:
                group = head.group
                try:
                    # A group takes from all its queues at once, if it consents.
                    handed = self.exchange(head.claim, None, group is None)
                    if group is not None and handed is not BLOCKED and not group.consents(head):
                        handed = BLOCKED
                except BaseException as error:  # noqa: BLE001 - ours is raised again by guard_error
                    ended.append(self.end_with(head, BROKEN, self.guard_error(error)))
                    lane = gets
                    continue
                if handed is not BLOCKED:
                    ended.append(head)
                    if group is not None:
                        group.grant(head)
                    else:
                        self.grant(head, handed)
                    lane = gets
                    continue
            if lane is puts:
                break
            lane = puts
        head = gets.head
        if head is not None:
            if self.items:
                self._open_window(head)
            elif self.completed is not None and not self.lent:
                cause = self.completed[1]
                ended += [self.end_with(request, BROKEN, cause) for request in [*gets]]
        return ended

    def _open_window(self, head: Request[Any]) -> None:
        if head.claim.collects and self.collecting is not head:
            self.collecting = head
            head.claim.opened()

    def end_window(self, request: Request[Any]) -> Ended:
        """Grant a batch what there is; nothing if it has ended, or its window has not begun."""
        if request is not self.collecting:
            return []
        self.window_over = True
        return self.settle()

    def complete(self, for_puts: Hashable, for_gets: Hashable) -> Ended:
        """Take no more items: end the puts that wait, and let the gets have what is there.

        A get once it is empty is told ``for_gets``. Idempotent.
        """
        if self.completed is not None or self.cause is not None:
            return []
        self.completed = (for_puts, for_gets)
        self.room = NO_ROOM
        ended = [self.end_with(request, BROKEN, for_puts) for request in [*self.queue.puts]]
        return [*ended, *self.settle()]

    def break_waiters(self, waiters: Collection[Any], cause: Hashable) -> Ended:
        """End the requests of some waiters, because the end of the buffer that they use is closed."""
        if not waiters:
            return []  # without a look at the queue: a thousand clones are closed beside a thousand waiters
        found = [request for request in self.queue if request.waiter in waiters]
        ended = [self.end_with(request, BROKEN, cause) for request in found]
        return [*ended, *self.settle()] if ended else []

    def end(self, cause: Hashable) -> Ended:
        self.items.clear()  # no task can get them any more
        self.room = NO_ROOM
        self.collecting = None
        return super().end(cause)

    # Views.

    def next_ones(self) -> Ended:
        return [lane.head for lane in (self.queue.gets, self.queue.puts) if lane.head is not None]

    def is_next(self, request: Request[Any]) -> bool:
        return self.queue.lane(request.claim).head is request and self.admits(request.claim)

    def snapshot(self) -> Hashable:
        return (super().snapshot(), self.snapshot_of_items(), self.collecting is not None)

    def restore(self, snapshot: Any) -> None:
        rest, items, collecting = snapshot
        super().restore(rest)
        self.restore_items(items, make_items(self.items.name))
        self.collecting = self.queue.gets.head if collecting else None

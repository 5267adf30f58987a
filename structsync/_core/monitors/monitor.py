"""One invocation at a time, the oldest whose guard holds: the decisions of :class:`structsync.Monitor`.

*May it be granted now?* is :meth:`MonitorCore.admits`: the monitor is free, and the entry permits it.
The arbiter evaluates that of the :meth:`MonitorCore.candidates`, and grants the first that is
admitted: no other task is, once it is inside. An error of a guard ends the request that it was evaluated
for and no other (I6).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any, ClassVar

from structsync._core.primitives.exclusive import ExclusiveCore
from structsync._core.queue.arbiter import EndedForGood
from structsync._core.queue.request import BROKEN, Queue, Request

from .entry import Call, EntryCore, EntryRules, Guard, Invocation
from .lanes import Lanes

Ended = list[Request[Any]]


class MonitorCore(ExclusiveCore[Invocation]):
    """The task inside, and those that want to be."""

    owner: Hashable  # the task inside
    request_type: ClassVar[type[Request[Any]]] = Call
    possession: ClassVar[str] = "be inside the monitor"

    def __init__(self) -> None:
        super().__init__(policy="eligible")
        self.queue: Lanes = Lanes()  # pyright: ignore[reportIncompatibleVariableOverride]  # for good
        # Those that signalled in the discipline of Hoare: they go before all in the queue.
        self.urgent: Queue[Any] = Queue()
        # Those that were inside and have to get in again, after a wait on a condition.
        self.reentry: EntryCore = EntryCore("wait")
        # What synchronizers state of its entries: the end of the monitor concerns their partners.
        self.rules: dict[EntryRules, None] = {}

    @property
    def is_idle(self) -> bool:
        # A call under rules may let in those that wait at other monitors, and they are of one run.
        return super().is_idle and not self.urgent and not self.rules

    def admits(self, claim: Invocation) -> bool:
        return self.owner is None and claim.entry.permits(claim)

    def admit(self, claim: Invocation) -> None:
        self.owner = claim.task

    def discharge(self, claim: Invocation) -> None:
        if self.owner != claim.task:
            raise RuntimeError(f"{claim.task!r} is not inside this monitor")
        self.owner = None

    def refuse_impossible(self, claim: Invocation) -> None:
        if claim.entry.cause is not None:
            raise EndedForGood(claim.entry.cause)
        if claim.entry.rules is not None:
            claim.entry.rules.refuse()
        if self.owner == claim.task:
            raise RuntimeError(
                f"{claim.task!r} is inside this monitor already, and a monitor is not reentrant: "
                f"call the function itself, {claim.entry.name}.__wrapped__"
            )

    def admissible(self, claim: Invocation, priority: int = 0) -> bool:
        entry = claim.entry
        if self.owner is not None or self.cause is not None or entry.cause is not None:
            return False
        if entry in self.queue.by_entry and not entry.reads_request:
            return False  # quiescent, so what holds up the others of it holds up a newcomer
        claim.ticket = self.next_ticket
        return self.admits(claim)

    def constrain(self, entry: EntryCore, guard: Guard | None) -> Ended:
        """Set or replace (or remove, if None) the guard of an entry."""
        entry.guard = guard
        return self.settle()

    def remove(self, entry: EntryCore, cause: Hashable) -> Ended:
        """Close an entry for good: break the calls that wait for it, refuse later ones."""
        if entry.cause is None:
            entry.cause = cause
        return self.break_waiters_of(entry, cause)

    def break_waiters_of(self, entry: EntryCore, cause: Hashable) -> Ended:
        """Break the calls that wait for an entry."""
        return [self.end_with(request, BROKEN, cause) for request in self.queue.of(entry)]

    def arrive(self, claim: Invocation, waiter: Any = None) -> tuple[Request[Invocation], Ended]:
        """Put a call into the queue, and grant it at once if that is fair and the rules say so.

        For an entry that synchronizers concern: its triggers run as a part of the grant.

        Raises:
          EndedForGood: as :meth:`enqueue`.
        """
        request = self.enqueue(claim, waiter=waiter)
        entry = claim.entry
        # When quiescent, only the newcomer can be grantable, and not where the older of its entry are not.
        if request.ahead is not None and not entry.reads_request:
            return request, []
        ended = self.settle((request,)) if self.owner is None else []
        return request, [*ended, *self.settle()] if ended else []

    def hand_over(self, signaller: Request[Any], waiter: Request[Any]) -> None:
        """Let the waiter in, in place of the task inside, which is the first to get in again."""
        self.discharge(signaller.claim)
        self.urgent.append(signaller)
        self.grant(waiter)

    # Which call is next.

    def join(self, request: Request[Invocation], priority: int = 0) -> None:
        super().join(request, priority)
        request.claim.ticket = request.ticket

    def leave(self, request: Request[Invocation]) -> bool:
        if request.queue is self.urgent:
            self.urgent.remove(request)
            return True
        return super().leave(request)

    def candidates(self) -> Iterator[Request[Invocation]]:
        """Yield those that may be next while no task is inside: those that signalled, then the lanes' heads."""
        while self.owner is None and self.urgent.head is not None:
            yield self.urgent.head
        for request in self.queue.candidates():
            if self.owner is not None:
                return
            yield request

    def release(self, claim: Invocation) -> Ended:
        self.discharge(claim)
        return self.settle() if self.queue.length or self.urgent.length else []

    # Views.

    def waiting(self) -> Ended:
        return [*self.urgent, *super().waiting()]

    def count_waiting(self) -> int:
        return len(self.urgent) + len(self.queue)

    def snapshot(self) -> Hashable:
        urgent = tuple((request.claim, request.waiter) for request in self.urgent)
        return (super().snapshot(), urgent)

    def restore(self, snapshot: Any) -> None:
        rest, urgent = snapshot
        super().restore(rest)
        self.urgent.clear()
        for claim, waiter in urgent:
            self.urgent.append(Request(claim, -1, waiter))

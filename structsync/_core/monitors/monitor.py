"""One invocation at a time, the oldest whose guard holds: the decisions of :class:`structsync.Monitor`.

Who waits stands in the queue, in order of arrival, and ``queues`` is an index into it by entry. A guard
that depends on the state alone answers for everybody who waits for its entry, so of such an entry only
the oldest is looked at: ten thousand callers of one entry cost a call of another entry one question.

Two questions have one home each. *May it be granted now?* is :meth:`MonitorCore.admits`: the monitor is
free, and the entry permits it. *It is granted* is :meth:`MonitorCore.admit`. Both are asked, one right
after the other, in one place for those who wait (``_end``) and one for those who need not (the
shell's acquire, between which and ``take`` nobody runs).

An error of a guard ends the request that was looked at and no other (I6).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Iterable
from heapq import merge
from itertools import islice
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar

from structsync._core.queue.arbiter import Arbiter, EndedForGood
from structsync._core.queue.request import GRANTED, Request

from .entry import Call, EntryCore, Guard, Invocation

if TYPE_CHECKING:
    from structsync._core.primitives.condition import ConditionCore

    from .synchronizer import Rules

Ended = list[Request[Any]]


class MonitorCore(Arbiter[Invocation]):
    """Who is inside, and those who want to be."""

    owner: Hashable  # the task inside; None while the monitor is free
    request_type: ClassVar[type[Request[Any]]] = Call
    possession: ClassVar[str] = "be inside the monitor"  # what its conditions demand

    def __init__(self) -> None:
        super().__init__(policy="eligible")
        self.owner = None
        self.queues: dict[EntryCore, OrderedDict[int, Request[Invocation]]] = {}
        # Those who signalled in the discipline of Hoare: they go before everybody in the queue.
        self.urgent: Ended = []
        # Those who were inside and have to get in again, after a wait on a condition.
        self.reentry: EntryCore = EntryCore("wait")
        # The conditions that have waiters: the end of the monitor reaches those too.
        self.conditions: dict[ConditionCore, None] = {}
        # What synchronizers say of its entries, for the same reason.
        self.rules: dict[Rules, None] = {}

    @property
    def at_rest(self) -> bool:
        # A call under rules may let in those who wait at other monitors, and they are of one run.
        busy = self.queue or self.urgent or self.conditions or self.rules
        return self.owner is None and not busy

    def admits(self, claim: Invocation) -> bool:
        return self.owner is None and claim.entry.permits(claim)

    def admit(self, claim: Invocation) -> None:
        self.owner = claim.task

    def give_back(self, claim: Invocation) -> None:
        if self.owner != claim.task:
            raise RuntimeError(f"{claim.task!r} is not inside this monitor")
        self.owner = None

    def refuse(self, claim: Invocation) -> None:
        super().refuse(claim)
        if claim.entry.cause is not None:
            raise EndedForGood(claim.entry.cause)
        if claim.entry.rules is not None:
            claim.entry.rules.refuse()

    def refuse_impossible(self, claim: Invocation) -> None:
        if self.owner == claim.task:
            raise RuntimeError(
                f"{claim.task!r} is inside this monitor already, and a monitor is not reentrant: "
                f"call the function itself, {claim.entry.name}.__wrapped__"
            )

    def admissible(self, claim: Invocation, priority: int = 0) -> bool:
        entry = claim.entry
        if self.owner is not None or self.cause is not None or entry.cause is not None:
            return False
        if entry in self.queues and not entry.reads_request:
            return False  # at rest, what holds up the others of this entry holds up a newcomer
        claim.ticket = self.next_ticket
        return self.admits(claim)

    def constrain(self, entry: EntryCore, guard: Guard | None) -> Ended:
        """Set or replace (or remove, if None) the guard of an entry."""
        entry.guard = guard
        return self.settle()

    def remove(self, entry: EntryCore, cause: Hashable) -> Ended:
        """Take an entry out of service for good: break those who wait for it, refuse later calls."""
        if entry.cause is None:
            entry.cause = cause
        return self.break_waiters_of(entry, cause)

    def break_waiters_of(self, entry: EntryCore, cause: Hashable) -> Ended:
        """Break those who wait for an entry."""
        ended = list(self.queues.get(entry, {}).values())
        for request in ended:
            self._break(request, cause)
        return ended

    def arrive(self, claim: Invocation, waiter: Any = None) -> tuple[Request[Invocation], Ended]:
        """Put a call into the queue, and grant it at once if that is fair and the rules say so.

        For an entry that synchronizers concern: its triggers run as a part of the grant.

        Raises:
          OutOfService: as :meth:`enqueue`.
        """
        request = self.enqueue(claim, waiter=waiter)
        # At rest only the newcomer can be grantable, and not where the older of its entry are not.
        older = len(self.queues[claim.entry]) > 1 and not claim.entry.reads_request
        if self.owner is not None or older or not self._end(request):
            return request, []
        return request, [request, *self.settle()]

    def hand_over(self, signaller: Request[Any], waiter: Request[Any]) -> None:
        """Let the waiter in, in place of the one inside, who is the first to get in again."""
        self.give_back(signaller.claim)
        self.urgent.append(signaller)
        self.admit(waiter.claim)
        waiter.status = GRANTED

    # The queue and its index.

    def join(self, request: Request[Invocation], priority: int = 0) -> None:
        super().join(request, priority)
        request.claim.ticket = request.ticket
        self._index(request)

    def leave(self, request: Request[Invocation]) -> bool:
        if not super().leave(request):
            return False
        entry = request.claim.entry
        queue = self.queues[entry]
        del queue[request.ticket]
        if not queue:
            del self.queues[entry]
        return True

    def replace(self, request: Request[Invocation], successor: Request[Invocation]) -> None:
        super().replace(request, successor)
        self._index(successor)  # in the same place: both wait to get in again

    def _index(self, request: Request[Invocation]) -> None:
        self.queues.setdefault(request.claim.entry, OrderedDict())[request.ticket] = request

    # Who is next.

    def candidates(self) -> Iterable[Request[Invocation]]:
        """Return those who may be next, the oldest first, and each entry's oldest only if that is enough."""
        fronts = [
            queue.values() if entry.reads_request else islice(queue.values(), 1)
            for entry, queue in self.queues.items()
        ]
        return fronts[0] if len(fronts) == 1 else merge(*fronts, key=attrgetter("ticket"))

    def settle(self) -> Ended:
        ended: Ended = []
        while self.owner is None and self._end_next(ended):
            pass
        return ended

    def _end_next(self, ended: Ended) -> bool:
        """Grant the one who is next, or break whose guard raises before that; say if there was one."""
        if self.urgent:
            request = self.urgent.pop(0)
            self.admit(request.claim)
            request.status = GRANTED
            ended.append(request)
            return True
        for request in self.candidates():
            if self._end(request):
                ended.append(request)
                return True
        return False

    def _end(self, request: Request[Invocation]) -> bool:
        """Grant a request if it can be granted now, or break it if its guard raises; say if it ended."""
        claim = request.claim
        try:
            if not self.admits(claim):
                return False
        except BaseException as error:  # noqa: BLE001 - a guard's error ends its own request only (I6)
            self._break(request, error)
            return True
        rules = claim.entry.rules
        if rules is not None:
            return rules.start(request)
        self.admit(claim)
        self.leave(request)
        request.status = GRANTED
        return True

    def release(self, claim: Invocation) -> Ended:
        self.give_back(claim)
        return self.settle() if self.queues or self.urgent else []

    def end(self, cause: Hashable) -> Ended:
        ended = super().end(cause)
        self.urgent.clear()
        for condition in list(self.conditions):
            ended += condition.break_waiters(cause)
        return ended

    # Views.

    def waiting(self) -> Ended:
        return [*self.urgent, *super().waiting()]

    def snapshot(self) -> Hashable:
        urgent = tuple((request.claim, request.waiter) for request in self.urgent)
        return (super().snapshot(), urgent)

    def restore(self, snapshot: Any) -> None:
        rest, urgent = snapshot
        super().restore(rest)
        self.urgent[:] = [Request(claim, -1, waiter) for claim, waiter in urgent]
        self.queues.clear()
        for request in self.queue.values():
            self._index(request)

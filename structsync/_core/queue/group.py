"""Claims on several arbiters as one: all of them in one step, or the first that can be had.

A group has one position in each queue. It adds nothing to what a queue decides: the arbiter asks for
the group's consent where it would grant a *member*, and then has the group grant itself. The others
end in the same step (I5): granted with it, or withdrawn.

Where a group has left a queue, those behind it may now fit, and one of them may be of another group,
and so on. That is done with a worklist, not by recursion: see :func:`settle_transitively`. The caller
of a transition calls it before anything else can look.

Why nothing deadlocks: a group holds nothing while it waits. Of the groups that wait for all, the one
whose last position was taken first stands behind none of them, because all positions of a group are
taken in one step; so it waits for those that hold something, and for no other task.

Rejected: taking what is free and waiting for the rest. That holds and waits, which is what it takes
to deadlock; an order of all resources prevents it only where every task keeps to the order.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from .arbiter import Arbiter
from .request import (
    BROKEN,
    GRANTED,
    PENDING,
    WITHDRAWN,
    Concerned,
    Group,
    QueueRef,
    Request,
    ToSettle,
)


class Member(Request[Any]):
    """The claim of a group on one arbiter, and its position in that queue."""

    __slots__ = ("arbiter", "group")

    group: Claims
    arbiter: Arbiter[Any]

    def __init__(self, group: Claims, arbiter: Arbiter[Any], claim: Any) -> None:
        self.group = group  # pyright: ignore[reportIncompatibleVariableOverride]  # for good
        self.arbiter = arbiter
        super().__init__(claim, -1, group.waiter)

    def queues(self) -> Sequence[QueueRef]:
        """Return the queue of this member."""
        return (self,)

    # One task sleeps for all members, and is woken once.

    @property
    def parked(self) -> bool:
        """Whether the waiter of the group sleeps until it ends."""
        return self.group.parked

    @parked.setter
    def parked(self, parked: bool) -> None:  # pyright: ignore[reportIncompatibleVariableOverride]  # as in the base, read and written
        self.group.parked = parked


#: A queue, and all that ended there because of what ended in other queues, in this order.
QueueEnded: TypeAlias = tuple[QueueRef, list[Request[Any]]]


class Claims(Group):
    """One claim on each of several arbiters, different ones; it ends as a whole.

    Args:
      every: whether all are granted, in one step; else the first that can be, alone.
      wanted: arbiters with a claim each, in the order of preference.
    """

    __slots__ = ("every", "members", "parked", "unready", "waiter")

    every: bool
    waiter: Any
    parked: bool
    members: list[Member]
    # Where consent was refused last: the index of a member that was not next. A hint, not a fact.
    unready: int

    def __init__(
        self, every: bool, wanted: Iterable[tuple[Arbiter[Any], Any]], waiter: Any = None
    ) -> None:
        self.every = every
        self.waiter = waiter
        self.parked = False
        self.unready = 0
        self.members = [Member(self, arbiter, claim) for arbiter, claim in wanted]

    def refuse(self) -> None:
        """Raise if one of the claims can no longer, or never, be granted."""
        for member in self.members:
            member.arbiter.refuse(member.claim)

    def admissible(self) -> Sequence[Member]:
        """Return the members that would be granted if the group were submitted now (I2)."""
        free = (one for one in self.members if one.arbiter.admissible(one.claim))
        if not self.every:
            return [*free][:1]
        found = [*free]
        return found if len(found) == len(self.members) else ()

    def take(self, members: Sequence[Member]) -> None:
        """Grant these members, which are admissible now; the others never join a queue."""
        for member in members:
            member.arbiter.next_ticket += 1  # an arrival, as of a claim that stands alone
            member.arbiter.grant(member)
        self._withdraw_pending()

    def join(self) -> None:
        """Take a position at the end of each queue; nothing is admissible now."""
        for member in self.members:
            member.arbiter.join(member)

    def submit(self) -> Sequence[Member]:
        """Take what is admissible now, and return it; else a position in each queue.

        Raises:
          EndedForGood: if one of the arbiters is closed or broken.
          Exception: what ``refuse_impossible`` raises, if a claim can never be granted.
        """
        self.refuse()
        granted = self.admissible()
        if granted:
            self.take(granted)
        else:
            self.join()
        return granted

    # What an arbiter evaluates and reports.

    def consents(self, request: Request[Any]) -> bool:
        """Return whether a member that its arbiter would grant now may be granted.

        The search begins with the member that failed last: as long as that one waits, each of the
        others costs one look, however many they are.
        """
        if not self.every:
            return True
        count, members = len(self.members), self.members
        for index in range(self.unready, self.unready + count):
            member = members[index % count]
            if member is not request and not member.arbiter.is_next(member):
                self.unready = index % count
                return False
        return True

    def grant(self, request: Request[Any]) -> None:
        """Grant all members, or this one alone."""
        for member in self.members:
            if self.every or member is request:
                member.arbiter.grant(member)
        self._withdraw_pending()

    def ended_with(self, request: Request[Any]) -> None:
        """Withdraw the other members: the group ends as a whole."""
        self._withdraw_pending()

    def to_settle(self, request: Request[Any]) -> Sequence[ToSettle]:
        """Return the other members, which have ended with this one."""
        return [(one, [one]) for one in self.members if one is not request]

    @property
    def standing(self) -> Member:
        """Return the member whose status is that of the group."""
        ended = (one for one in self.members if one.status in (GRANTED, BROKEN))
        return next(ended, self.members[0])

    def granted(self) -> list[Member]:
        """Return the members that are granted."""
        return [one for one in self.members if one.status is GRANTED]

    def _withdraw_pending(self) -> None:
        for one in self.members:
            if one.status is PENDING:
                # not by end_with(), which would come back here for each of them
                one.arbiter.leave(one)
                one.status = WITHDRAWN


def settle_transitively(ended: Iterable[Request[Any]]) -> list[QueueEnded]:
    """Settle every queue that these ended requests concern beside their own; and so on.

    Returns what ended in those queues: of each queue in the order in which it did. What waits in the
    worklist already is not put there again: many calls whose triggers concern the same monitors cost one look
    at each of these, not one for each call.
    """
    in_other_queues: list[QueueEnded] = []
    worklist: OrderedDict[Concerned, None] = OrderedDict()
    _follow(ended, worklist, in_other_queues)
    while worklist:
        concerned, _ = worklist.popitem(last=False)
        for queue in concerned.queues():
            further = queue.arbiter.settle()
            _report(queue, further, in_other_queues)
            _follow(further, worklist, in_other_queues)
    return in_other_queues


def _follow(
    ended: Iterable[Request[Any]],
    worklist: OrderedDict[Concerned, None],
    in_other_queues: list[QueueEnded],
) -> None:
    """Report what has ended in other queues with these requests, and put the queues on the worklist.

    Reported now, and not when the queue is settled: until then others may be granted there.
    """
    for request in ended:
        if request.group is not None:
            for concerned, already in request.group.to_settle(request):
                if already:
                    _report(concerned.queues()[0], already, in_other_queues)
                worklist[concerned] = None


def _report(
    queue: QueueRef, ended: Sequence[Request[Any]], in_other_queues: list[QueueEnded]
) -> None:
    if ended:
        if in_other_queues and in_other_queues[-1][0] is queue:
            in_other_queues[-1][1].extend(ended)
        else:
            in_other_queues.append((queue, [*ended]))

"""Claims on several arbiters as one: all of them in one step, or the first that can be had.

A group has one place in each queue. It adds nothing to what a queue decides: the arbiter asks for the
group's consent where it would grant a *member*, and tells the group when a member has ended. The
others then end in the same step (I5): granted with it, or withdrawn.

Where a group has left a queue, those behind it may now fit, and one of them may be of another group,
and so on. That is done with a list of what is left to settle, not by recursion: see
:func:`settle_transitively`. Whoever makes a transition carries it on before anybody else can look.

Why nothing deadlocks: a group holds nothing while it waits. Of the groups that wait for all, the one
whose last place was taken first stands behind none of them, because all places of a group are taken
in one step; so it waits for those who hold something, and for nobody else.

Rejected: taking what is free and waiting for the rest. That holds and waits, which is what it takes
to deadlock; an order of all resources prevents it only where everybody knows the order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from .arbiter import Arbiter, Group, Place, ToSettle
from .request import GRANTED, PENDING, WITHDRAWN, Request


class Member(Request[Any]):
    """The claim of a group on one arbiter, and its place in that line."""

    __slots__ = ("arbiter", "group", "home")

    group: Claims
    arbiter: Arbiter[Any]
    home: Any  # the primitive of the arbiter, opaque here; the shell's mark

    def __init__(self, group: Claims, arbiter: Arbiter[Any], claim: Any) -> None:
        self.group = group  # pyright: ignore[reportIncompatibleVariableOverride]  # for good
        self.arbiter = arbiter
        super().__init__(claim, -1, group.waiter)

    # One task sleeps for all members, and is woken once.

    @property
    def parked(self) -> bool:
        """Whether the waiter of the group sleeps until it ends."""
        return self.group.parked

    @parked.setter
    def parked(self, parked: bool) -> None:  # pyright: ignore[reportIncompatibleVariableOverride]  # as in the base, read and written
        self.group.parked = parked


#: A queue, and all that ended there because of what ended elsewhere, in this order.
Ended: TypeAlias = tuple[Place, list[Request[Any]]]


class Claims(Group):
    """One claim on each of several arbiters, different ones; it ends as a whole.

    Args:
      every: whether all are granted, in one step; else the first that can be, alone.
      wanted: arbiters with a claim each, in the order of preference.
    """

    __slots__ = ("every", "members", "parked", "waiter")

    every: bool
    waiter: Any
    parked: bool
    members: list[Member]

    def __init__(
        self, every: bool, wanted: Iterable[tuple[Arbiter[Any], Any]], waiter: Any = None
    ) -> None:
        self.every = every
        self.waiter = waiter
        self.parked = False
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
        for member in self.members:
            member.status = WITHDRAWN
        for member in members:
            member.arbiter.take(member.claim)
            member.status = GRANTED

    def join(self) -> None:
        """Take a place at the end of each queue; nothing is admissible now."""
        for member in self.members:
            member.arbiter.join(member)

    def submit(self) -> Sequence[Member]:
        """Take what is admissible now, and return it; else a place in each queue.

        Raises:
          OutOfService: if one of the arbiters is closed or broken.
          Exception: what ``refuse_impossible`` raises, if a claim can never be granted.
        """
        self.refuse()
        granted = self.admissible()
        if granted:
            self.take(granted)
        else:
            self.join()
        return granted

    # What an arbiter asks and tells.

    def consents(self, request: Request[Any]) -> bool:
        """Return whether a member that its arbiter would grant now may be granted."""
        return not self.every or all(
            one is request or one.arbiter.is_next(one) for one in self.members
        )

    def ended_with(self, request: Request[Any]) -> None:
        """End the other members with the one that has ended just now."""
        granted = self.every and request.status is GRANTED
        for one in self.members:
            if one is not request and one.status is PENDING:
                one.arbiter.leave(one)
                if granted:
                    one.arbiter.admit(one.claim)
                one.status = GRANTED if granted else WITHDRAWN

    def left(self, request: Request[Any]) -> Sequence[ToSettle]:
        """Return the other members, which have ended with this one."""
        return [(one, [one]) for one in self.members if one is not request]

    def granted(self) -> list[Member]:
        """Return the members that are granted."""
        return [one for one in self.members if one.status is GRANTED]


def settle_transitively(ended: Iterable[Request[Any]]) -> list[Ended]:
    """Settle every queue that these ended requests concern beside their own; and so on.

    Returns what ended in those queues, in the order in which it did.
    """
    elsewhere: list[Ended] = []
    left = _left(ended)
    for place, already in left:  # it grows: what is settled may let in another group
        further = place.arbiter.settle()
        elsewhere.append((place, [*already, *further]))
        left += _left(further)
    return elsewhere


def _left(ended: Iterable[Request[Any]]) -> list[ToSettle]:
    """Return what these requests have left to settle."""
    return [each for one in ended if one.group is not None for each in one.group.left(one)]

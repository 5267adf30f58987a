"""How the hosts of calls stand to them, and the queue of a stand-in (:mod:`.stand_in`), in which that matters.

Of the calls of one entry, those whose hosts stand alike have one answer, unless a rule reads the request. So they have
a lane of their own, in which the oldest is evaluated for all: what a start costs does not grow with those that wait.

Rejected: one lane for each entry, and a set of those that are ready. Of ten thousand that were set aside, each review
would look at all, to find the next that may be asked for.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from enum import Enum
from operator import attrgetter
from typing import Any, TypeAlias, cast

from structsync._core.queue.request import Queue, Request

from .entry import Call, EntryCore
from .lanes import Lanes


class Stage(Enum):
    """How the host of a call that waits stands to it."""

    PROPOSED = "proposed"  # it has passed the call on, and reserves nothing
    ASKED = "asked"  # it is to reserve the object now
    ASIDE = "aside"  # it could not, when it was asked
    READY = "ready"  # it has reserved the object


ASKED = (Stage.ASKED, Stage.READY)

#: A lane of a stand-in; without a stage, once none of its calls is to start any more.
Place: TypeAlias = tuple[EntryCore, Stage | None]


class ProposedCall(Call):
    """A call in a stand-in."""

    __slots__ = ("place",)

    place: Place


class Lane(Queue[Any]):
    """Calls in the order of their tickets, in whichever order they come."""

    __slots__ = ()

    def append(self, request: Request[Any]) -> None:
        """Put a request where its ticket says: almost always near one of the ends, so both are looked at."""
        ticket, front, back = request.ticket, self.head, self.tail
        while front and back and front.ticket < ticket < back.ticket:
            front, back = front.behind, back.ahead
        behind = front if front and ticket < front.ticket else back and back.behind
        if behind is None:
            super().append(request)
            return
        ahead = behind.ahead
        request.ahead, request.behind = ahead, behind
        behind.ahead = request
        if ahead is None:
            self.head = request
        else:
            ahead.behind = request
        self.length += 1


class StageLanes(Lanes):
    """The calls of a stand-in; of each entry, those whose hosts stand alike are in a lane of their own.

    Args:
      stages: how the host of a call stands when it joins, by the task of the call.
      calls: where all calls that wait are noted, those of other stand-ins too.
    """

    __slots__ = ("calls", "stages")

    length: int

    def __init__(self, stages: dict[Hashable, Stage], calls: dict[Hashable, ProposedCall]) -> None:
        super().__init__()
        self.stages: dict[Hashable, Stage] = stages
        self.calls: dict[Hashable, ProposedCall] = calls

    def append(self, request: Request[Any]) -> None:
        call, task = cast(ProposedCall, request), request.claim.task
        self._insert(call, self.stages[task])
        self.calls[task] = call
        self.length += 1

    def remove(self, request: Request[Any]) -> None:
        self._take_out(cast(ProposedCall, request))
        del self.calls[request.claim.task]
        self.length -= 1

    def replace(self, request: Request[Any], successor: Request[Any]) -> None:
        self.remove(request)
        self.append(successor)  # which has its ticket

    def move(self, call: ProposedCall, stage: Stage | None) -> None:
        """Take note that a host stands otherwise; the ticket of its call stays what it was."""
        self._take_out(call)
        self._insert(call, stage)

    def of(self, entry: EntryCore) -> Iterable[Request[Any]]:
        return [one for one in self if one.claim.entry is entry]

    def asked(self) -> list[ProposedCall]:
        """Return those whose hosts were asked, the oldest first: after a review, one at most."""
        asked: list[Any] = [
            one for (_, stage), lane in self.by_entry.items() if stage in ASKED for one in lane
        ]
        return sorted(asked, key=attrgetter("ticket"))

    def _insert(self, call: ProposedCall, stage: Stage | None) -> None:
        place = call.place = (call.claim.entry, stage)
        lane = self.by_entry.get(place)
        if lane is None:
            lane = self.by_entry[place] = Lane()
        lane.append(call)
        call.queue = self

    def _take_out(self, call: ProposedCall) -> None:
        lane = self.by_entry[call.place]
        lane.remove(call)
        if not lane.length:
            del self.by_entry[call.place]

"""What each primitive should do, restated in lists: slow, obvious, and without code of the package.

Every arrival joins the queue; then the next request that fits is served, again and again. There is no
case for "granted at once", none for withdrawal at the head: that is what makes these models obvious.
A transition returns who was ended by it, in order, and how: ``[("a", "granted"), ...]``. One that is
not allowed raises :exc:`Refused` and changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

Ended: TypeAlias = list[tuple[str, str]]


class Refused(Exception):
    """The primitive must refuse this."""


@dataclass
class Entry:
    """One claim in the queue."""

    who: str
    claim: Any
    arrival: int
    priority: int = 0
    condition: str | None = None  # in a lock's queue: whose notification brought it here


class QueueModel:
    """A queue and its policy; subclasses say what fits and what taking it does."""

    def __init__(self, policy: str = "fifo", ageing: int | None = 100) -> None:
        self.policy = policy
        self.ageing = ageing
        self.entries: list[Entry] = []  # in order of arrival
        self.arrivals = 0
        self.closed = False

    def fits(self, claim: Any) -> bool:
        raise NotImplementedError

    def take(self, claim: Any) -> None:
        raise NotImplementedError

    def refuse(self, claim: Any) -> None:
        """Raise Refused if the claim must not join the queue."""

    def standing(self) -> list[Entry]:
        """Those in the queue, the next first."""
        key: Callable[[Entry], tuple[int, int]]
        if self.policy != "priority":
            return list(self.entries)
        if self.ageing is None:
            key = lambda entry: (entry.priority, entry.arrival)  # noqa: E731 - a def each reads worse
        else:
            levels = self.ageing
            key = lambda entry: (entry.arrival + levels * entry.priority, entry.arrival)  # noqa: E731
        return sorted(self.entries, key=key)

    def next_served(self) -> Entry | None:
        for entry in self.standing():
            if self.fits(entry.claim):
                return entry
            if self.policy != "eligible":
                return None
        return None

    def serve(self) -> Ended:
        served: Ended = []
        while entry := self.next_served():
            self.entries.remove(entry)
            self.take(entry.claim)
            served.append((entry.who, "granted"))
        return served

    def join(self, who: str, claim: Any, priority: int = 0) -> Entry:
        entry = Entry(who, claim, self.arrivals, priority)
        self.arrivals += 1
        self.entries.append(entry)
        return entry

    def arrive(self, who: str, claim: Any, priority: int = 0) -> Ended:
        if self.closed:
            raise Refused
        self.refuse(claim)
        self.join(who, claim, priority)
        return self.serve()

    def would_be_served(self, claim: Any, priority: int = 0) -> bool:
        """Whether such an arrival would be served at once; nothing changes."""
        try:
            self.refuse(claim)
        except Refused:
            return False
        entry = Entry("newcomer", claim, self.arrivals, priority)
        self.entries.append(entry)
        served = not self.closed and self.next_served() is entry
        self.entries.remove(entry)
        return served

    def withdraw(self, who: str) -> Ended:
        for entry in self.entries:
            if entry.who == who:
                self.entries.remove(entry)
                return self.serve()
        raise Refused

    def close(self) -> Ended:
        self.closed = True
        broken = [(entry.who, "broken") for entry in self.standing()]
        self.entries = []
        return broken


class SemaphoreModel(QueueModel):
    def __init__(
        self, value: int, max_value: int | None, policy: str = "fifo", ageing: int | None = 100
    ) -> None:
        super().__init__(policy, ageing)
        self.value = value
        self.max_value = self.largest = max_value

    def fits(self, claim: int) -> bool:
        return claim <= self.value

    def take(self, claim: int) -> None:
        self.value -= claim

    def refuse(self, claim: int) -> None:
        if self.largest is not None and claim > self.largest:
            raise Refused

    def release(self, permits: int) -> Ended:
        if self.max_value is not None and self.value + permits > self.max_value:
            raise Refused
        self.value += permits
        return self.serve()

    def resize(self, max_value: int) -> Ended:
        if self.max_value is None or self.largest is None:
            raise Refused
        self.value += max_value - self.max_value
        self.max_value = max_value
        self.largest = max(self.largest, max_value)
        return self.serve()


class LimiterModel(QueueModel):
    """The claim is the borrower, and ``who`` too."""

    def __init__(self, total: float, policy: str = "fifo", ageing: int | None = 100) -> None:
        super().__init__(policy, ageing)
        self.total = total
        self.borrowers: list[str] = []

    def fits(self, claim: str) -> bool:
        return len(self.borrowers) < self.total

    def take(self, claim: str) -> None:
        self.borrowers.append(claim)

    def refuse(self, claim: str) -> None:
        if claim in self.borrowers or claim in [entry.claim for entry in self.entries]:
            raise Refused

    def release(self, claim: str) -> Ended:
        if claim not in self.borrowers:
            raise Refused
        self.borrowers.remove(claim)
        return self.serve()

    def resize(self, total: float) -> Ended:
        self.total = total
        return self.serve()


class WaitQueueModel(QueueModel):
    def fits(self, claim: None) -> bool:
        return False

    def wake(self, count: int | None) -> Ended:
        woken = self.entries[:count]
        self.entries = [entry for entry in self.entries if entry not in woken]
        return [(entry.who, "granted") for entry in woken]


class ParkerModel(QueueModel):
    def __init__(self) -> None:
        super().__init__()
        self.unblocks = 0

    def fits(self, claim: None) -> bool:
        return self.unblocks > 0

    def take(self, claim: None) -> None:
        self.unblocks -= 1

    def refuse(self, claim: None) -> None:
        if self.entries:
            raise Refused

    def unblock(self) -> Ended:
        self.unblocks += 1
        return self.serve()

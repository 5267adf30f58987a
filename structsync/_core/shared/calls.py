"""Which calls a host has seen: each runs at most once, however often its messages come.

A caller has *slots*, each with a number that grows from one call in it to the next. A new number says that what
became of the call before it is known to the caller. So a host keeps one answer for each slot, whatever happens,
and tells a message that comes twice, or late, from a new one.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

#: How many calls of one caller may be under way at one host.
SLOTS = 256


class Ticket(NamedTuple):
    """Which call: of which caller, in which of its slots, under which number."""

    caller: str
    slot: int
    number: int


class Seen(Enum):
    """What a host knows of a call when a message about it comes."""

    NEW = "new"  # nothing, until now
    RUNNING = "running"  # it has not ended
    ANSWERED = "answered"  # it has, and the caller may not know
    STALE = "stale"  # the caller knew more when it used the slot again


class Slot:
    """The last call in it."""

    __slots__ = ("answer", "number")

    number: int
    answer: bytes | None  # None: it runs

    def __init__(self, number: int) -> None:
        self.number = number
        self.answer = None


class CallTable:
    """The calls of one host."""

    callers: dict[str, dict[int, Slot]]
    running: int

    def __init__(self) -> None:
        self.callers = {}
        self.running = 0

    def arrive(self, ticket: Ticket) -> Seen:
        """Take note of a message; what is new is running from now on, and its answer is owed."""
        slots = self.callers.setdefault(ticket.caller, {})
        slot = slots.get(ticket.slot)
        if slot is not None:
            if ticket.number < slot.number:
                return Seen.STALE
            if ticket.number == slot.number:
                return Seen.RUNNING if slot.answer is None else Seen.ANSWERED
            if slot.answer is None:
                return Seen.STALE  # nobody uses a slot again before it has an answer
        slots[ticket.slot] = Slot(ticket.number)
        self.running += 1
        return Seen.NEW

    def answer_to(self, ticket: Ticket) -> bytes:
        """Return the answer to a call that has been answered."""
        answer = self.callers[ticket.caller][ticket.slot].answer
        assert answer is not None, "this call is running"
        return answer

    def finish(self, ticket: Ticket, answer: bytes) -> bool:
        """Keep the answer to a call that runs; return whether the caller is still there to get it."""
        slot = self.callers.get(ticket.caller, {}).get(ticket.slot)
        if slot is None or slot.number != ticket.number or slot.answer is not None:
            return False
        slot.answer = answer
        self.running -= 1
        return True

    def forget(self, caller: str) -> list[Ticket]:
        """Forget a caller that is gone; return its calls that run."""
        slots = self.callers.pop(caller, {})
        gone = [Ticket(caller, n, slot.number) for n, slot in slots.items() if slot.answer is None]
        self.running -= len(gone)
        return gone

"""A call between two processes: what its host and its caller know of it, and what each message changes.

A caller has *slots*, each with a number that grows from one call in it to the next. A new number means that what
became of the call before it is known to the caller. So a host keeps one answer for each slot, whatever happens,
and tells a message that comes twice, or late, from a new one.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple, TypeAlias

#: How many calls of one caller may be under way at one host.
SLOTS = 256


class Ticket(NamedTuple):
    """Which call: of which caller, in which of its slots, under which number."""

    caller: str
    slot: int
    number: int


class Verdict(Enum):
    """What has become of a call that has neither returned nor raised."""

    NOT_TAKEN = "not taken"  # it was not begun, and never will be
    CANCELLED = "cancelled"  # because its caller wanted that
    STOPPED = "stopped"  # it was begun, and cancelled because its host stopped


#: What has become of a call, as its host keeps it; bytes, if the method has returned or raised.
Result: TypeAlias = bytes | Verdict

# ==== The host ====


class Slot:
    """The last call in it."""

    __slots__ = ("is_cancelled", "number", "result")

    number: int
    result: Result | None  # None: it runs
    is_cancelled: bool  # by its caller

    def __init__(self, number: int, result: Result | None = None) -> None:
        self.number = number
        self.result = result
        self.is_cancelled = False


class CallTable:
    """The calls of a name in one session: each runs at most once, however often its messages come.

    A session may host a name more than once; the table stays, because messages may come late.
    """

    callers: dict[str, dict[int, Slot]]
    abandoned: set[Ticket]  # that run, and whose callers are gone
    running: int
    limit: int  # of calls that run
    is_open: bool

    def __init__(self) -> None:
        self.callers = {}
        self.abandoned = set()
        self.running = self.limit = 0
        self.is_open = False

    def open(self, limit: int) -> None:
        """Take calls from now on, until ``is_open`` is False."""
        self.limit = limit
        self.is_open = True

    def take(self, ticket: Ticket, *, is_hosted: bool = True) -> bool:
        """Return whether a call that has come is to run now; else its answer says what has become of it."""
        if self.is_open and is_hosted and self.running < self.limit and self._is_new(ticket):
            self._note(ticket, None)
            self.running += 1
            return True
        self.ask(ticket)
        return False

    def cancel(self, ticket: Ticket) -> bool:
        """Return whether a call runs that its caller wants no more; it ends when the method has."""
        if self._is_new(ticket):
            self._note(ticket, Verdict.CANCELLED)
        slot = self._slot_of(ticket)
        if slot is None or slot.result is not None:
            return False
        slot.is_cancelled = True
        return True

    def ask(self, ticket: Ticket) -> None:
        """See to it that there is an answer: what has not come by now is never taken."""
        if self._is_new(ticket):
            self._note(ticket, Verdict.NOT_TAKEN)

    def answer_to(self, ticket: Ticket) -> Result | None:
        """Return what has become of a call; None while it runs."""
        if ticket in self.abandoned:
            return None
        slot = self._slot_of(ticket)
        # Of a call before the last one in its slot the caller knows more. A caller that asks all the same,
        # because of what was sent in its name, would wait forever.
        return Verdict.STOPPED if slot is None else slot.result

    def end(self, ticket: Ticket, result: bytes | None, *, is_begun: bool = True) -> Result | None:
        """Keep what has become of a call that ran, and return it; None if its caller is gone.

        Args:
          result: None, if it was cancelled.
          is_begun: whether the method was called.
        """
        self.running -= 1
        if ticket in self.abandoned:
            self.abandoned.remove(ticket)
            return None
        slot = self._slot_of(ticket)
        assert slot is not None, "this call does not run"
        assert slot.result is None, "this call has ended"
        if result is not None:
            slot.result = result
        elif slot.is_cancelled:
            slot.result = Verdict.CANCELLED
        else:
            slot.result = Verdict.STOPPED if is_begun else Verdict.NOT_TAKEN
        return slot.result

    def forget(self, caller: str) -> list[Ticket]:
        """Forget a caller that is gone; return its calls that run, until they end."""
        slots = self.callers.pop(caller, {})
        run = [Ticket(caller, n, slot.number) for n, slot in slots.items() if slot.result is None]
        self.abandoned.update(run)
        return run

    def _slot_of(self, ticket: Ticket) -> Slot | None:
        """Return what is known of a call, if it is the last one in its slot."""
        slot = self.callers.get(ticket.caller, {}).get(ticket.slot)
        return slot if slot is not None and slot.number == ticket.number else None

    def _is_new(self, ticket: Ticket) -> bool:
        if ticket in self.abandoned:
            return False
        slot = self.callers.get(ticket.caller, {}).get(ticket.slot)
        # No caller uses a slot again before the call in it has an answer.
        return slot is None or (slot.number < ticket.number and slot.result is not None)

    def _note(self, ticket: Ticket, result: Result | None) -> None:
        slots = self.callers.setdefault(ticket.caller, {})
        slots[ticket.slot] = Slot(ticket.number, result)


# ==== The caller ====


class End(Enum):
    """What a caller does when it knows what has become of what it sent."""

    ANSWERED = "answered"  # it has returned or raised
    CANCELLED = "cancelled"  # it did not come to its end, because the caller was cancelled
    AGAIN = "again"  # it was not taken: it is sent again, under another number
    UNKNOWN = "unknown"  # it cannot be known


class Attempt:
    """What was sent to one host, once; the first that is known of it counts."""

    token: int  # of the host
    slot: int
    number: int
    is_cancelled: bool
    ended: End | None

    def __init__(self, token: int, slot: int, number: int) -> None:
        self.token = token
        self.slot = slot
        self.number = number
        self.is_cancelled = False
        self.ended = None

    def hear(self, token: int, number: int, said: Verdict | None) -> bool:
        """Take an answer; return whether this is the end.

        Args:
          said: None, if the method has returned or raised.
        """
        if self.ended is not None or (token, number) != (self.token, self.number):
            return False
        if said is None:
            self.ended = End.ANSWERED
        elif said is Verdict.NOT_TAKEN:
            self.ended = End.AGAIN
        elif said is Verdict.CANCELLED and self.is_cancelled:
            self.ended = End.CANCELLED
        else:
            self.ended = End.UNKNOWN
        return True

    def lose(self, token: int | None = None) -> bool:
        """Give it up if it was sent to that host, whichever it was if none is named; return whether this is the end."""
        if self.ended is not None or token not in (None, self.token):
            return False
        self.ended = End.UNKNOWN
        return True

    def was_not_sent(self) -> bool:
        """Take note that the host certainly has not got it; return whether this is the end."""
        if self.ended is not None:
            return False
        self.ended = End.AGAIN
        return True

"""A request: what is wanted, its position in the queue, and how it ended."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from .arbiter import Group

ClaimT = TypeVar("ClaimT")


class Status(StrEnum):
    """How a request stands: ``pending``, then exactly one of the three others."""

    PENDING = "pending"
    GRANTED = "granted"
    WITHDRAWN = "withdrawn"
    BROKEN = "broken"


# Module constants, because looking a member up in an enum class costs as much as a transition.
PENDING, GRANTED, WITHDRAWN, BROKEN = Status


class Request(Generic[ClaimT]):
    """One claim in the queue of one arbiter.

    Only the arbiter writes ``ticket`` and ``status`` (I4: a request ends exactly once).
    """

    __slots__ = ("cause", "claim", "parked", "status", "ticket", "waiter")

    claim: ClaimT
    ticket: int  # position in the queue; a number that only grows
    status: Status
    waiter: Any  # whose request it is, opaque here
    parked: bool  # whether the waiter sleeps until the request ends; the shell's mark
    cause: object  # why it ended; set only once it is broken
    # Those it is granted with; of the class, so that a request that stands alone pays nothing.
    group: Group | None = None

    def __init__(self, claim: ClaimT, ticket: int, waiter: Any = None) -> None:
        self.claim = claim
        self.ticket = ticket
        self.waiter = waiter
        self.parked = False
        self.status = PENDING

    def __repr__(self) -> str:
        return f"<{self.status} request {self.ticket} for {self.claim!r}>"

"""What goes between the host of an object and the process that rules over it."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple, Protocol

import msgspec

from .interface import Method


class Origin(NamedTuple):
    """Which host proposes a call: its session, the name of its object, and the token under which it has that."""

    session: str
    name: str
    token: int


class Ruling(Enum):
    """What becomes of an object that was reserved for a call."""

    STARTED = "started"  # the call has started, with all that start with it
    LET_GO = "let go"  # it does not start now, and stays proposed
    UNKNOWN = "unknown"  # it is not proposed here


class Rules(Protocol):
    """What hosts call. A call that waits is not one that is under way: a caller may have a few hundred of those."""

    async def listen(self, origin: Origin, ruler: int) -> tuple[int, list[int]]:
        """Wait until objects are to be reserved, and return for which calls.

        Args:
          ruler: the token of the ruler that the host has listened to before; another one answers at once.
        """
        ...

    async def propose(
        self, origin: Origin, number: int, method: str, arguments: dict[str, msgspec.Raw]
    ) -> int:
        """Let a call wait, and return the token of the ruler."""
        ...

    async def set_aside(self, origin: Origin, number: int) -> None:
        """Take note that the object is occupied, and will be offered."""
        ...

    async def reserve(self, origin: Origin, number: int) -> Ruling:
        """Take note that the object is reserved, and return what becomes of that."""
        ...

    async def withdraw(self, origin: Origin, number: int) -> None:
        """Take a call back."""
        ...


METHODS = {
    one.__name__: Method(one.__name__, one, is_awaited=True)
    for one in (Rules.listen, Rules.propose, Rules.set_aside, Rules.reserve, Rules.withdraw)
}

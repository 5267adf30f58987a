"""What a session needs of an engine: ordered logs, and which sessions are alive.

An engine decides nothing about grants. It appends what it is given, in the order in which it comes, and
puts ``join`` before the first operation of a session in a log and ``end`` behind its last one, in the same
step in which it looks whether the session is alive.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol

import trio

from structsync._core.shared.history import History

#: Called with a message that was sent to this session.
Received = Callable[[bytes], object]

#: In bytes: the longest message.
LONGEST = 1 << 20


class Tail(NamedTuple):
    """The entries of a log after a position.

    Attributes:
      start: the position of the first entry; the positions of a log begin at 0.
      entries: all entries since.
      snapshot: the state at ``start``, where the entries before it are gone.
      stamps: of the entries, where the engine gives them numbers that grow, also when it has lost its log;
          left out, their positions are taken.
      before: the stamp of the entry before ``start``, where there is a snapshot.
    """

    start: int
    entries: Sequence[bytes]
    snapshot: bytes | None = None
    stamps: Sequence[int] = ()
    before: int = 0


class Hinted(Protocol):
    """Called with the name of a log in which something has happened to this session."""

    def __call__(self, log: str, news: Tail | None = None) -> bool:
        """Return whether the news were taken; else the log is read.

        Args:
          log: its name.
          news: the last entry of the session in it and all that follow, where the hint brought that.
        """
        ...


class Renewal(NamedTuple):
    """What a session learns when it renews its lease.

    Attributes:
      ends: of the logs in which it takes part, their ends, so that it notices a hint that was lost.
      earliest: in how many seconds the next lease of another session ends, if it is not renewed.
    """

    ends: Mapping[str, int]
    earliest: float = math.inf


#: Called with the entries of a log that were asked for; with None if they are to be asked for again.
Appended = Callable[[Tail | None], object]


class Engine(Protocol):
    """One connection to an engine: that of one session.

    Each method but :meth:`hint` and :meth:`listen` raises :exc:`SessionEnded` once the session is over, and
    may raise :exc:`DeliveryFailed`: then it may have been carried out, or may be later.
    """

    recheck: float
    """After how many seconds a session asks again whether it has missed a hint."""

    forgets: bool
    """Whether it may lose a log, so that each session keeps what it has read."""

    async def open(self, ttl: float) -> str:
        """Begin a session, and return its identity, which no other session ever has."""
        ...

    async def listen(
        self, hinted: Hinted, received: Received, task_status: trio.TaskStatus[None]
    ) -> None:
        """Call ``hinted`` whenever another session sends a hint, and ``received`` with each message, forever."""
        ...

    async def append(self, log: str, operations: Sequence[bytes], after: int) -> Tail:
        """Append operations to a log in one step, and return all entries from a position on."""
        ...

    tells: bool
    """Whether :meth:`append_soon` can hint others in the same step."""

    def append_soon(
        self,
        log: str,
        operations: Sequence[bytes],
        after: int,
        done: Appended,
        told: Mapping[str, Tail],
    ) -> bool:
        """Begin to do the same without a task, and return whether it has begun.

        Then ``done`` is called, at once or later: with the entries; or with None, if that has failed, or may have,
        and is to be done by :meth:`append`, which says why. It raises nothing.

        Where it ``tells``, and there is one operation, these sessions are hinted as soon as it is done; each with what
        is given here, to which what has been appended since is added.
        """
        ...

    def linger(self) -> None:
        """Have what was begun done at once, if that takes no longer than to go on with other tasks."""
        ...

    async def renew(
        self, read: Mapping[str, int], history_of: Callable[[str], History | None]
    ) -> Renewal:
        """Move the end of the lease to ttl seconds from now; bring back what the engine has lost.

        Args:
          read: up to which position the session has read each log.
          history_of: called with the name of such a log; it returns what the session has read of it.
        """
        ...

    def hint(self, sessions: Mapping[str, Tail | None], log: str) -> None:
        """Tell other sessions that something has happened to them. It may be lost.

        Args:
          sessions: with each what it needs not read, if that is told: its own last entry, and all that follow.
          log: in which it has happened.
        """
        ...

    async def send(self, session: str, message: bytes) -> bool:
        """Send a message to another session, or to this one; those of one sender come in order, or are lost.

        Returns:
          False, if it will certainly not arrive.

        Raises:
          DeliveryFailed: if that is unknown.
        """
        ...

    async def drain(self, session: str) -> None:
        """Return when nothing more can come from a session that is over."""
        ...

    async def compact(self, log: str, position: int, snapshot: bytes) -> None:
        """Offer the state at a position in place of all entries before it, if that is the end of the log.

        The engine puts ``digest`` there, so that all replicas compare. It drops the entries only when every
        session in the log has read as far: what has become of a request is in the entries, not in the state.
        """
        ...

    async def close(self) -> None:
        """End the session: what it holds is released. Raises nothing; a lease ends by itself, too."""
        ...

"""What a session has read of a log: enough to bring the log back, where its engine has lost it.

All sessions read the same entries in the same order, so of two histories one continues the other. The one that
goes furthest has all that any session was ever told; what is in none of them was told to no session that is
left, and the session that asked for it asks again.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple, TypeAlias

#: Of a log, each with its stamp.
Entries: TypeAlias = Sequence[tuple[int, bytes]]


class Mark(NamedTuple):
    """A place in a log.

    Attributes:
      position: of the next entry.
      stamp: of the entry before; 0 where there is none.
      state: what all entries before have come to; None where there are none.
    """

    position: int = 0
    stamp: int = 0
    state: bytes | None = None


class History:
    """The entries of a log that some session may still need.

    Attributes:
      sessions: that have joined and not ended, by what was read.
      base: what came before the entries.
      entries: each with its stamp.
      mark: where the replicas compared last; what is before it is needed until they compare again, because
          only then is it known that all of them had read so far.
    """

    sessions: Collection[str]
    base: Mark
    entries: list[tuple[int, bytes]]
    mark: Mark | None

    def __init__(self, sessions: Collection[str], base: Mark) -> None:
        self.sessions = sessions
        self.base = base
        self.entries = []
        self.mark = None

    @property
    def position(self) -> int:
        """Of the next entry."""
        return self.base.position + len(self.entries)

    @property
    def stamp(self) -> int:
        """Of the last entry."""
        return self.entries[-1][0] if self.entries else self.base.stamp

    def since(self, position: int) -> Entries | None:
        """Return the entries from a position on; None if the first of them is not kept."""
        index = position - self.base.position
        return None if index < 0 else self.entries[index:]

    def continued_by(self, start: int, entries: Entries) -> Entries:
        """Return those of the entries that follow on what was read; none, if the last one read is not among them.

        What another session tells may come late, and then begin too early or too late, or be of a log that its engine
        has lost. Positions begin anew in such a log, but no stamp comes twice.

        Args:
          start: the position of the first entry.
          entries: what another session says is in the log.
        """
        known = self.position - start
        if not 0 < known < len(entries) or entries[known - 1][0] != self.stamp:
            return ()
        return entries[known:]

    def compared(self, state: bytes) -> None:
        """Note that the replicas compare here, and forget what came before the place where they did so before."""
        if self.mark is not None:
            del self.entries[: self.mark.position - self.base.position]
            self.base = self.mark
        self.mark = Mark(self.position, self.stamp, state)

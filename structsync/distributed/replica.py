"""One process's copy of a log: the shared core, and how far it has read."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from structsync._core.shared.core import SharedCore
from structsync._core.shared.history import Entries, History, Mark
from structsync._core.shared.operations import Operation, Outcome, Verb
from structsync._core.shared.plain import decode, digest
from structsync._core.shared.preview import preview

from .engine import Tail
from .errors import ReplicasDiffer

DIGEST, RELEASE = Verb.DIGEST, Verb.RELEASE


class Replica:
    """The state of a log after the entries that were read.

    Attributes:
      core: the state.
      history: what was read, where the engine may lose it.
      position: of the next entry to read.
      since: how many entries there are behind the last snapshot of the log, as far as that is known.
      latest: the position of the last entry of each session, of those that were read.
    """

    core: SharedCore
    history: History | None
    position: int
    since: int
    latest: dict[str, int]

    def __init__(self, *, keeps: bool = False) -> None:
        self.core = SharedCore()
        self.history = History(self.core.sessions, Mark()) if keeps else None
        self.position = self.since = 0
        self.latest = {}

    def advance(
        self, tail: Tail, known: Mapping[bytes, Operation], at_most: int | None = None
    ) -> list[tuple[Operation, list[Outcome]]]:
        """Apply the entries that are new, and return each of them with what it has ended.

        Args:
          tail: what was read.
          known: entries that need not be decoded.
          at_most: how many of them are applied; None: all.

        Raises:
          ReplicasDiffer: if another replica has come to another state, by the same entries.
        """
        if tail.snapshot is not None and self.position < tail.start:
            self.core.restore(decode(tail.snapshot))
            self.position, self.since = tail.start, 0
            self.latest.clear()
            if self.history is not None:
                base = Mark(tail.start, tail.before, tail.snapshot)
                self.history = History(self.core.sessions, base)
        applied = []
        begin = self.position - tail.start
        apply, decode_entry = self.core.apply, Operation.decode
        for index in range(len(tail.entries))[begin:][:at_most]:
            data = tail.entries[index]
            entry = known.get(data) or decode_entry(data)
            if entry.verb is DIGEST:
                self._compare(entry)
            self.latest[entry.session] = self.position
            self.position += 1
            self.since += 1
            stamp = tail.stamps[index] if tail.stamps else self.position
            if self.history is not None:
                self.history.entries.append((stamp, data))
            applied.append((entry, apply(entry, stamp)))
        return applied

    def news_for(self, session: str, at_most: int) -> Tail | None:
        """Return the last entry of a session, and all that follow; None if they are not kept, or are more."""
        start = self.latest.get(session)
        if self.history is None or start is None:
            return None
        kept = self.history.since(start)
        return None if kept is None or len(kept) > at_most else tail_of(start, kept)

    def continued_by(self, news: Tail) -> Tail | None:
        """Return what of the news follows on what was read; None if they do not continue that."""
        if self.history is None:
            return None
        entries = [*zip(news.stamps, news.entries, strict=True)]
        fresh = self.history.continued_by(news.start, entries)
        return tail_of(self.position, fresh) if fresh else None

    def foreseen(self, operations: Collection[Operation], at_most: int) -> dict[str, Tail]:
        """Return the news for each session that a release would let in, by what was read; {} for other operations."""
        if len(operations) != 1 or len(self.core.places) < 2:  # but for what is released
            return {}
        (operation,) = operations
        if operation.verb is not RELEASE:
            return {}
        us, number = operation.session, operation.details[0]
        others = {session for session, _ in preview(self.core, (us, number)) or ()} - {us}
        news = {session: self.news_for(session, at_most) for session in others}
        return {session: tail for session, tail in news.items() if tail is not None}

    def _compare(self, entry: Operation) -> None:
        self.since = 0
        (theirs,) = entry.details
        state = self.core.encode()
        ours = digest(state)
        if theirs != ours:
            raise ReplicasDiffer(
                f"at position {self.position} this process is in the state {ours}, and the one that "
                f"compacted the log in {theirs}; run one version of structsync everywhere"
            )
        self.latest = {one: at for one, at in self.latest.items() if one in self.core.sessions}
        if self.history is not None:
            self.history.compared(state)


def tail_of(start: int, entries: Entries) -> Tail:
    return Tail(start, [data for _, data in entries], None, [stamp for stamp, _ in entries])

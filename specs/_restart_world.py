"""The world of the specification of restarts: an engine that may lose its log, and sessions that have read it.

What a session knows is what ships: its replica, its history, and the encoder between them. The engine is what the
script on a server does, in a few lines: it orders, it knows which sessions are alive, and it decides nothing about
grants.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

from structsync._core.shared.core import SharedCore
from structsync._core.shared.history import History, Mark
from structsync._core.shared.operations import Key, Operation, Verb, Want
from structsync._core.shared.plain import digest
from structsync.distributed.engine import Tail
from structsync.distributed.replica import Replica

LOCK = Want("lock", "lock")

Entries: TypeAlias = list[tuple[int, bytes]]


class Engine:
    """One log, which sessions take part in it, and whether the grace period runs."""

    def __init__(self) -> None:
        self.base = Mark()
        self.entries: Entries = []
        self.offer: Mark | None = None
        self.read: dict[str, int] = {}  # of each session that takes part, how far it has read
        self.clock = 0
        self.grace = False

    @property
    def position(self) -> int:
        return self.base.position + len(self.entries)

    @property
    def stamp(self) -> int:
        return self.entries[-1][0] if self.entries else self.base.stamp

    def write(self, operation: Operation) -> None:
        self.clock += 1
        self.entries.append((self.clock, operation.encode()))

    def has_lost(self, history: History) -> bool:
        """Return whether the log is not all that a session has read, and more."""
        behind = history.position - self.base.position
        if history.position == 0:
            return False
        if not 0 <= behind <= len(self.entries):
            return True
        stamp = self.entries[behind - 1][0] if behind else self.base.stamp
        return stamp != history.stamp

    def bring_back(self, history: History) -> None:
        """Take what a session has read, if that goes further than what there is."""
        if history.stamp <= self.stamp:
            return
        self.read = {
            one: max(history.base.position, self.read.get(one, 0)) for one in history.sessions
        }
        self.base, self.entries, self.offer = history.base, [*history.entries], None
        if history.mark is not None and history.mark.position > history.base.position:
            self.offer = history.mark

    def has_read(self, session: str, position: int) -> None:
        self.read[session] = max(position, self.read[session])
        if self.offer is not None and min(self.read.values()) >= self.offer.position:
            del self.entries[: self.offer.position - self.base.position]
            self.base, self.offer = self.offer, None

    def tail(self, position: int) -> Tail:
        start = max(position, self.base.position)
        entries = self.entries[start - self.base.position :]
        snapshot, before = (None, 0) if position >= start else (self.base.state, self.base.stamp)
        return Tail(
            start, [data for _, data in entries], snapshot, [one for one, _ in entries], before
        )

    def compact(self, position: int, state: bytes) -> None:
        if self.offer is None and position == self.position:
            self.offer = Mark(position, self.stamp, state)
            self.write(Operation(Verb.DIGEST, "", 0, (digest(state),)))

    def snapshot(self) -> tuple[Any, ...]:
        read = tuple(sorted(self.read.items()))
        return (self.base, tuple(self.entries), self.offer, read, self.clock, self.grace)

    def restore(self, snapshot: tuple[Any, ...]) -> None:
        self.base, entries, self.offer, read, self.clock, self.grace = snapshot
        self.entries, self.read = [*entries], dict(read)


@dataclass
class Client:
    """A session: what it has read, and what it has asked for."""

    replica: Replica
    outbox: tuple[Operation, ...] = ()  # not seen in the log yet
    number: int = 0
    wants: Key | None = None  # the request that it has made and not released
    is_alive: bool = True
    has_come: bool = False  # since the engine has lost something
    unread: bool = False  # it has not read the log since
    news: Tail | None = (
        None  # what another session has told it last; it may come at any time, or never
    )

    @property
    def history(self) -> History:
        assert self.replica.history is not None, "it keeps one"
        return self.replica.history


def replica_of(
    core: type[SharedCore],
    history: type[History],
    base: Mark,
    entries: Sequence[tuple[int, bytes]],
) -> Replica:
    """Return what a session knows that has read this; it follows from that alone."""
    replica = Replica(keeps=True)
    replica.core = core()
    replica.history = history(replica.core.sessions, Mark())
    if base.position:
        replica.advance(Tail(base.position, (), base.state, (), base.stamp), {})
    data, stamps = [its for _, its in entries], [stamp for stamp, _ in entries]
    replica.advance(Tail(base.position, data, None, stamps), {})
    return replica


#: The same for all states in which a session has read the same. Not to be changed.
known_replica: Callable[..., Replica] = cache(replica_of)


class World:
    """An engine and its sessions."""

    history_type: type[History] = History
    core_type: type[SharedCore] = SharedCore
    engine_type: type[Engine] = Engine

    def __init__(self, names: Sequence[str], joined: Sequence[str]) -> None:
        self.engine = self.engine_type()
        self.clients: Mapping[str, Client] = {name: self.client() for name in names}
        self.told = 0  # the largest token that any session has been told
        self.refused = ""  # the session that came in the last step and was sent away
        self.fresh: list[int] = []  # those that the last step has told, in this order
        self.acquire(joined[0])  # it holds from the start
        for name in joined:
            self.read(name)

    def acquire(self, name: str) -> None:
        one = self.clients[name]
        one.wants = (name, one.number)
        self.ask(name, Verb.ACQUIRE, (LOCK,))

    def release(self, name: str) -> None:
        one = self.clients[name]
        assert one.wants is not None, "it holds"
        number, one.wants = one.wants[1], None
        self.ask(name, Verb.RELEASE, number)

    def client(self) -> Client:
        return Client(replica_of(self.core_type, self.history_type, Mark(), ()))

    # ==== What sessions do ====

    def ask(self, name: str, verb: Verb, *details: Any) -> None:
        """Have an operation put into the log; its answer is not read yet, and may be lost."""
        one = self.clients[name]
        one.outbox += (Operation(verb, name, one.number, details),)
        one.number += 1
        self.append(name)

    def append(self, name: str) -> None:
        one, engine = self.clients[name], self.engine
        if name not in engine.read:
            engine.read[name] = 0
            engine.write(Operation(Verb.JOIN, name))
        engine.has_read(name, one.replica.position)
        written = {data for _, data in engine.entries}
        for operation in one.outbox:
            if operation.encode() not in written:  # else it would count once, but be there twice
                engine.write(operation)

    def read(self, name: str) -> None:
        """Send again what is not in the log, and read the log to its end."""
        self.append(name)
        one = self.clients[name]
        one.unread = False
        self.apply(name, self.engine.tail(one.replica.position))

    def apply(self, name: str, tail: Tail) -> None:
        one = self.clients[name]
        one.replica = replica_of(
            self.core_type, self.history_type, one.history.base, one.history.entries
        )
        applied = one.replica.advance(tail, {})
        confirmed = one.replica.core.sessions.get(name, -1)
        one.outbox = tuple([each for each in one.outbox if each.number > confirmed])
        for _, outcomes in applied:
            self.fresh += [each.token for each in outcomes if each.token and each.key[0] == name]
        self.told = max([self.told, *self.fresh])

    def tell(self, name: str, other: str) -> None:
        """Send another session what it need not read, as far as this one knows."""
        news = self.clients[name].replica.news_for(other, len(self.engine.entries))
        self.clients[other].news = news

    def knows_of(self, name: str, other: str) -> bool:
        return other in self.clients[name].replica.latest

    def hear(self, name: str) -> None:
        """Have news arrive, which may come again."""
        one = self.clients[name]
        news = (
            None if one.news is None or self.must_read(one) else one.replica.continued_by(one.news)
        )
        if news is not None:
            self.apply(name, news)

    def must_read(self, one: Client) -> bool:
        """Return whether what a session hears is of no use before it has read the log."""
        return one.unread

    def compact(self, name: str) -> None:
        replica = self.clients[name].replica
        self.engine.compact(replica.position, replica.core.encode())

    def die(self, name: str) -> None:
        one = self.client()
        one.is_alive = False
        self.clients = {**self.clients, name: one}

    # ==== What happens to the engine ====

    def lose(self, kept: int) -> None:
        """All but so many entries are gone, and it is known that something may be."""
        engine = self.engine
        base, entries, read = engine.base, engine.entries, engine.read
        self.engine = self.engine_type()
        # It is later than all that is remembered anywhere; how much later makes no difference.
        known = [one.history.stamp for one in self.clients.values()]
        self.engine.clock, self.engine.grace = max(*known, self.told, engine.stamp), True
        if kept > base.position:
            self.engine.base, self.engine.entries = base, entries[: kept - base.position]
            taking_part = self._client_of(base, self.engine.entries).replica.core.sessions
            self.engine.read = {one: min(read.get(one, 0), kept) for one in taking_part}
        for one in self.clients.values():
            one.has_come = False

    def come(self, name: str) -> None:
        """A session renews its lease in the grace period, and brings back what the log has lost."""
        one = self.clients[name]
        if self.engine.has_lost(one.history):
            self.engine.bring_back(one.history)
        if self.engine.has_lost(one.history):
            self.refused = name
            self.die(name)
        else:
            one.has_come = one.unread = True

    def end_grace(self) -> None:
        """A client that has not come has lost its lease, by its own clock too; the engine buries those it knows of."""
        self.engine.grace = False
        for name, one in self.clients.items():
            if not one.has_come and one.is_alive:
                self.die(name)
        for name in sorted(self.engine.read):
            if not self.clients[name].is_alive:
                self.bury(name)

    def bury(self, name: str) -> None:
        del self.engine.read[name]
        self.engine.write(Operation(Verb.END, name))

    # ==== Views ====

    def token(self, name: str) -> int:
        """Return the token under which a session believes to hold the lock; 0 if it does not."""
        one = self.clients[name]
        place = None if one.wants is None else one.replica.core.places.get(one.wants)
        return 0 if place is None else place.token

    # ==== Snapshots ====

    def snapshot(self) -> tuple[Any, ...]:
        clients = [
            (name, one.history.base, tuple(one.history.entries), one.outbox, one.number, one.wants, one.is_alive, one.has_come, one.unread, frozen(one.news))
            for name, one in self.clients.items()
        ]  # fmt: skip
        return (self.engine.snapshot(), tuple(clients), self.told)

    def restore(self, snapshot: tuple[Any, ...]) -> None:
        engine, clients, self.told = snapshot
        self.fresh, self.refused = [], ""
        self.engine = self.engine_type()
        self.engine.restore(engine)
        self.clients = {name: self._client_of(*its) for name, *its in clients}

    def _client_of(self, base: Mark, entries: Sequence[tuple[int, bytes]], *rest: Any) -> Client:
        """Return a session that has read this; what it knows follows from it."""
        known = known_replica(self.core_type, self.history_type, base, tuple(entries))
        return Client(known, *rest)


def frozen(news: Tail | None) -> Tail | None:
    """Return the same, as a part of a state."""
    if news is None:
        return None
    return news._replace(entries=tuple(news.entries), stamps=tuple(news.stamps))

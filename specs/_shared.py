"""The state of the specifications of shared primitives: a replica, and what the clients believe.

The replica goes through the encoder that ships, from each state to the next. Two situations that differ
in nothing but numbers are one state: the operations of a session are renumbered by their clients, and
tokens are counted by their order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from structsync._core.primitives.rwlock import Access
from structsync._core.shared.core import SharedCore
from structsync._core.shared.operations import Key, Operation, Outcome, Verb, Want
from structsync._core.shared.plain import decode, encode
from structsync._core.shared.preview import preview


class Replica:
    """One replica of a log, and which request and which token each of its clients has."""

    shared: type[SharedCore] = SharedCore
    encode: Any = staticmethod(encode)
    preview: Any = staticmethod(preview)

    def __init__(self, people: Mapping[str, str]) -> None:
        self.people = people  # which client is in which session
        self.core = self.shared()
        self.keys: dict[str, Key] = {}  # whose request is which
        self.tokens: dict[str, int] = {}  # of each client that was told that it holds
        self.highest = 0  # the largest token that any client was ever told
        # What the last entry did; forgotten before the next.
        self.outcomes: list[Outcome] = []
        self.granted: list[tuple[str, int]] = []  # to which client, and with which token
        self.repeat_changed_nothing = True
        self.foreseen: Sequence[str] | None = None  # which clients the preview of a release lets in

    # ==== Entries ====

    def deliver(self, verb: Verb, session: str, *details: Any) -> Key:
        """Append an entry and apply it; and apply it again, as if its answer had been lost."""
        number = self.core.sessions.get(session, -1) + 1
        entry = Operation.decode(Operation(verb, session, number, details).encode())
        self.outcomes += self.core.apply(entry, self.highest + 1)
        if verb not in (Verb.JOIN, Verb.END):
            after = self.core.encode()
            self.repeat_changed_nothing = (
                not self.core.apply(entry, self.highest + 1) and self.core.encode() == after
            )
        return (session, number)

    def ask(self, who: str, wants: Iterable[Want]) -> None:
        self._ask(who, Verb.ACQUIRE, tuple(wants))

    def wait(self, who: str, condition: str) -> None:
        """Release the lock that a task holds until the condition is notified."""
        number = self.keys[who][1]
        del self.tokens[who]
        self._ask(f"{who} waits", Verb.WAIT, condition, number)

    def notify(self, who: str, condition: str, count: int | None) -> None:
        session, number = self.keys[who]
        self.deliver(Verb.NOTIFY, session, condition, number, count)

    def withdraw(self, who: str) -> None:
        session, number = self.keys[who]
        self.deliver(Verb.WITHDRAW, session, number)
        self.hear()

    def release(self, who: str) -> None:
        """Release all that a task holds; note before which clients the preview says that this lets in."""
        session, number = self.keys.pop(who)
        del self.tokens[who]
        seen = self.preview(self.core, (session, number))
        self.foreseen = None if seen is None else [self.client_of(key) for key in seen]
        self.deliver(Verb.RELEASE, session, number)
        self.hear()

    def end(self, session: str) -> None:
        """A session dies, and all its requests with it."""
        self.deliver(Verb.END, session)
        for who, (its, _) in [*self.keys.items()]:
            if its == session:
                del self.keys[who]
                self.tokens.pop(who, None)
        self.hear()

    def _ask(self, who: str, verb: Verb, *details: Any) -> None:
        session = self.people[who.removesuffix(" waits")]
        # known before the outcome is
        self.keys[who] = (session, self.core.sessions.get(session, -1) + 1)
        self.deliver(verb, session, *details)
        self.hear()

    def hear(self) -> None:
        """Tell the clients what has become of their requests."""
        for one in self.outcomes:
            who = self.client_of(one.key)
            if not who:
                continue
            if one.token:
                self.granted.append((who, one.token))
                self.highest = max(self.highest, one.token)
            holder = who.removesuffix(" waits")
            if one.key not in self.core.places:
                del self.keys[who]
            if one.token and holder in self.keys:
                self.tokens[holder] = one.token

    # ==== Views ====

    def client_of(self, key: Key) -> str:
        """Return whose request this is; nothing, if there is no such request."""
        return next((who for who, its in self.keys.items() if its == tuple(key)), "")

    def queue(self, name: str) -> list[str]:
        """Return which clients wait for what has this name, in the order of arrival."""
        found = self.core.named.get(name)
        return [] if found is None else [self.client_of(one.waiter) for one in found.core.queue]

    # ==== Snapshots ====

    @property
    def _last(self) -> int:
        """What each session has counted up to in a snapshot: each client has at most two requests."""
        return 2 * len(self.people)

    def snapshot(self) -> tuple[Any, ...]:
        """Return the state, with requests numbered by their clients, and tokens by their order."""
        tokens = sorted({*self.tokens.values(), self.highest})
        ranks = {token: rank for rank, token in enumerate(tokens, 1)}
        names = [*self.people, *[f"{who} waits" for who in self.people]]
        renamed = {key: (key[0], names.index(who)) for who, key in self.keys.items()}
        version, _, sessions, named, places = decode(self.encode(self.core.snapshot()))
        order = [renamed.get(key, key) for key, *_ in places]
        places = [
            (key, wants, ranks.get(token, 0), hold, raises)
            for key, wants, token, hold, raises in places
        ]
        snapshot = (
            version,
            max([one[2] for one in places], default=0),
            tuple(sorted((session, self._last) for session, _ in sessions)),
            # a condition after its lock
            _renamed(
                tuple(sorted(named, key=lambda one: (one[1] == "condition", one[0]))), renamed
            ),
            tuple([_renamed(one, renamed) for _, one in sorted(zip(order, places, strict=True))]),
        )
        keys = tuple(sorted((who, renamed[key]) for who, key in self.keys.items()))
        told = tuple(sorted((who, ranks[token]) for who, token in self.tokens.items()))
        return (snapshot, keys, told, ranks[self.highest])

    def restore(self, snapshot: tuple[Any, ...]) -> None:
        its, keys, told, self.highest = snapshot
        self.core = self.shared()
        self.core.restore(its)
        self.keys, self.tokens = dict(keys), dict(told)
        self.outcomes, self.granted, self.repeat_changed_nothing, self.foreseen = [], [], True, None


def _renamed(value: Any, renamed: Mapping[Key, Key]) -> Any:
    """Return a value in which each key of a request is another one."""
    if isinstance(value, Access):
        return Access(value.mode, _renamed(value.claimant, renamed))
    if isinstance(value, frozenset):
        return frozenset([_renamed(one, renamed) for one in value])
    if isinstance(value, tuple):
        return renamed.get(value) or tuple([_renamed(one, renamed) for one in value])
    return value

"""What a replica knows: sessions, cores by name, and which session waits for or holds what.

A snapshot is plain values, so that a process that comes later can begin with it; see :mod:`.plain`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, cast

from structsync._core.primitives.condition import ConditionCore
from structsync._core.primitives.lock import LockCore
from structsync._core.queue.arbiter import Arbiter
from structsync._core.queue.group import Claims
from structsync._core.queue.request import Request

from .kinds import CONDITION, KINDS
from .operations import Key, Want
from .plain import encode

#: Of what an entry means. Processes that disagree about it must not share a log.
VERSION = 1


class Named(NamedTuple):
    """A core that is shared, and what it was made with; of a condition the name of its lock."""

    kind: str
    size: Any
    core: Arbiter[Any]


class Place:
    """A member's request: it waits, or holds, or both are over for now (a lock during a wait)."""

    __slots__ = ("hold", "key", "raises", "requests", "token", "wants")

    key: Key
    wants: tuple[Want, ...]
    requests: Sequence[Request[Any]]  # in the queues; empty once it waits no more
    token: int  # of what it holds; 0 while it holds nothing
    hold: Key | None  # of a wait on a condition: whose lock is given up meanwhile
    raises: bool  # a wait that was withdrawn: it still has to own the lock

    def __init__(self, key: Key, wants: Iterable[Want], hold: Key | None = None) -> None:
        self.key = key
        self.wants = tuple(wants)
        self.requests = ()
        self.token = 0
        self.hold = hold
        self.raises = False


class SharedState:
    """The state of one log after some entry of it."""

    sessions: dict[str, int]  # that have joined, with the number of the last operation of each
    named: dict[str, Named]
    places: dict[Key, Place]
    token: int  # of the last grant
    used: dict[str, None]  # the names that the entry at hand is about
    spare: Named | None  # the core that was dropped last, as good as a new one

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forget everything."""
        self.sessions = {}
        self.named = {}
        self.places = {}
        self.token = 0
        self.used = {}
        self.spare = None

    # ==== Cores by name ====

    def core_of(self, want: Want) -> Any:
        """Return the core that is wanted; it is made if the name is not in use.

        Raises:
          ValueError: if the name is in use for something else.
        """
        found = self.named.get(want.name)
        if found is not None and found.kind == want.kind and found.size == want.size:
            self.used[want.name] = None
            return found.core
        kind = KINDS.get(want.kind)
        if kind is None:
            raise ValueError(f"there is no shared primitive of the kind {want.kind!r}")
        return self._core(want.name, want.kind, want.size, kind.make)

    def condition_of(self, name: str, lock: str) -> ConditionCore:
        """Return a condition on the lock of that name, which a member owns.

        Raises:
          ValueError: if the name is in use for something else.
        """
        core = self.named[lock].core
        made = self._core(name, CONDITION, lock, lambda _: ConditionCore(cast("LockCore", core)))
        return cast("ConditionCore", made)

    def find(self, name: str, kind: str, size: Any) -> Named | None:
        """Return what stands for the name; None if it is not in use.

        Raises:
          ValueError: if the name is in use for something else.
        """
        found = self.named.get(name)
        if found is not None and (found.kind != kind or found.size != size):
            raise ValueError(
                f"{name!r} is in use as {_in_words(found.kind, found.size)}, and cannot be "
                f"{_in_words(kind, size)}; use one definition in all processes"
            )
        return found

    def _core(self, name: str, kind: str, size: Any, make: Callable[[Any], Arbiter[Any]]) -> Any:
        self.used[name] = None
        found = self.find(name, kind, size)
        if found is None:
            spare, self.spare = self.spare, None
            if spare is None or not _is_such(spare, kind, size):
                spare = Named(kind, size, make(size))
            found = self.named[name] = spare
        return found.core

    def forget_unused(self) -> None:
        """Drop the cores of the last entry that are as new; all cores, where no member is left to use them."""
        if not self.sessions:
            self.named.clear()
        for name in self.used:
            one = self.named.get(name)
            if one is not None and not one.core.queue.length and _is_new(*one):
                self._drop(name)
        self.used.clear()

    def _drop(self, name: str) -> None:
        """Keep the core for the next name: a lock that one session takes again and again is made once."""
        one = self.named.pop(name)
        if one.kind in KINDS and KINDS[one.kind].holds:
            self.spare = one

    # ==== Snapshots ====

    def snapshot(self) -> tuple[Any, ...]:
        """Return everything that decides the future, as plain values."""
        return (
            VERSION,
            self.token,
            tuple(self.sessions.items()),
            tuple([(name, *one[:2], one.core.snapshot()) for name, one in self.named.items()]),
            tuple(
                [
                    (one.key, one.wants, one.token, one.hold, one.raises)
                    for one in self.places.values()
                ]
            ),
        )

    def encode(self) -> bytes:
        """Return the snapshot as bytes."""
        return encode(self.snapshot())

    def restore(self, snapshot: Any) -> None:
        """Return to a situation that :meth:`snapshot` described.

        Raises:
          ValueError: if it is of another version.
        """
        version, token, sessions, named, places = snapshot
        if version != VERSION:
            raise ValueError(
                f"this log is written in version {version}, and this structsync speaks {VERSION}; "
                "use one version in all processes"
            )
        self.clear()
        self.token = token
        self.sessions = dict(sessions)
        for name, kind, size, its in named:
            if kind == CONDITION:
                core: Arbiter[Any] = self.condition_of(name, size)
            else:
                core = self.core_of(Want(name, kind, size))
            core.restore(its)
        for key, wants, its_token, hold, raises in places:
            place = self.places[key] = Place(key, [Want(*want) for want in wants], hold)
            place.token, place.raises = its_token, raises
        self.used.clear()
        self._link()

    def _link(self) -> None:
        """Find the requests of each place in the queues; those of a group are made one again."""
        found: dict[Key, dict[str, Request[Any]]] = {}
        for name, one in self.named.items():
            for request in one.core.queue:
                found.setdefault(request.waiter, {})[name] = request
        for key, by_name in found.items():
            place = self.places[key]
            if len(by_name) == 1:
                place.requests = [*by_name.values()]
                continue
            alone = [(self.named[want.name].core, by_name[want.name]) for want in place.wants]
            group = Claims(True, [(core, request.claim) for core, request in alone], key)
            for member, (core, request) in zip(group.members, alone, strict=True):
                core.replace(request, member)
            place.requests = group.members


def _is_such(one: Named, kind: str, size: Any) -> bool:
    """Return whether it was made with just this: a size that only equals another one may be refused."""
    return one.kind == kind and type(one.size) is type(size) and one.size == size


def _is_new(kind: str, size: Any, core: Arbiter[Any]) -> bool:
    if kind == CONDITION:
        return not core.queue
    return KINDS[kind].is_new(core, size)


def _in_words(kind: str, size: Any) -> str:
    return f"a {kind}" if size is None else f"a {kind} of {size!r}"

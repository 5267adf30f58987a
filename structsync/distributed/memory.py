"""``memory://``: the log in this process, for tests, and for programs that will have more processes later.

The sessions of one run of trio with the same URL and namespace share a log. With :class:`Deliveries` a
test makes requests, answers and hints fail, so that the protocol can be explored without a server.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Literal, TypeAlias, TypeVar, final

import trio
from trio.lowlevel import RunVar, checkpoint

from structsync._core.shared.operations import Operation, Verb
from structsync._core.shared.plain import digest

from .engine import Appended, Hinted, Received, Renewal, Tail
from .errors import DeliveryFailed, SessionEnded

T = TypeVar("T")
What: TypeAlias = Literal["request", "answer", "hint", "message"]
Fate: TypeAlias = Literal["in time", "lost", "twice", "late"]


@final
class Deliveries:
    """Decides what happens to messages between sessions and the memory engine; for tests.

    Args:
      fate: called with ``"request"``, ``"answer"``, ``"hint"`` or ``"message"``, sent between callers and
          hosts; it returns ``"in time"``, ``"lost"``, ``"twice"``, or ``"late"``: a request or message that
          is carried out after its sender has given up, just before the next request of any session.
    """

    fate: Callable[[What], Fate]

    def __init__(self, fate: Callable[[What], Fate] = lambda what: "in time") -> None:
        self.fate = fate
        self._hubs: list[Hub] = []

    def kill(self, session: str) -> None:
        """End the lease of a session now, as if its process had died; it learns of that with its next request.

        Args:
          session: its :attr:`Session.identity`.
        """
        for hub in self._hubs:
            hub.end(session)


class Log:
    """Entries in their order, and the state before the first of them."""

    start: int
    snapshot: bytes | None
    entries: list[bytes]
    offered: tuple[int, bytes] | None  # until all sessions have read so far
    read: dict[str, int]  # of each session in it

    def __init__(self) -> None:
        self.start = 0
        self.snapshot = self.offered = None
        self.entries = []
        self.read = {}

    @property
    def end(self) -> int:
        return self.start + len(self.entries)

    def after(self, position: int) -> Tail:
        if position < self.start:
            return Tail(self.start, [*self.entries], self.snapshot)
        return Tail(position, self.entries[position - self.start :])

    def has_read(self, session: str, position: int) -> None:
        """Take note of how far a session has read; drop what no session needs."""
        self.read[session] = max(position, self.read[session])
        if self.offered is not None and min(self.read.values()) >= self.offered[0]:
            start, self.snapshot = self.offered
            del self.entries[: start - self.start]
            self.start, self.offered = start, None

    def offer(self, position: int, snapshot: bytes) -> None:
        """Take a state in place of the entries before it, if it is the last one and the only one."""
        if self.end == position and self.offered is None:
            self.offered = (position, snapshot)
            self.entries.append(Operation(Verb.DIGEST, "", 0, (digest(snapshot),)).encode())


class Member:
    """A session, as the hub sees it."""

    ttl: float
    ends: float  # when its lease does
    logs: dict[str, None]  # that it has joined
    hinted: Hinted | None
    received: Received | None

    def __init__(self, ttl: float, ends: float) -> None:
        self.ttl = ttl
        self.ends = ends
        self.logs = {}
        self.hinted = self.received = None


class Hub:
    """The logs and sessions of one URL and namespace."""

    logs: dict[str, Log]
    members: dict[str, Member]
    opened: int
    late: list[Callable[[], object]]

    def __init__(self) -> None:
        self.logs = {}
        self.members = {}
        self.opened = 0
        self.late = []

    def open(self, ttl: float) -> str:
        self._end_those_that_are_over()
        for other in self.members.values():
            if other.ttl != ttl:
                raise ValueError(
                    f"this namespace is in use with ttl={other.ttl:g}, not {ttl:g}; all its sessions need one ttl"
                )
        self.opened += 1
        session = f"session {self.opened}"
        self.members[session] = Member(ttl, trio.current_time() + ttl)
        return session

    def member(self, session: str) -> Member:
        """Return a session that is alive, after those are ended whose leases are over."""
        self._end_those_that_are_over()
        if session not in self.members:
            raise SessionEnded
        return self.members[session]

    def _end_those_that_are_over(self) -> None:
        now = trio.current_time()
        for one in [name for name, its in self.members.items() if its.ends <= now]:
            self.end(one)

    def append(self, session: str, name: str, operations: Sequence[bytes], after: int) -> Tail:
        member = self.member(session)
        log = self.logs.setdefault(name, Log())
        if name not in member.logs:
            member.logs[name] = None
            log.read[session] = log.end
            log.entries.append(Operation(Verb.JOIN, session).encode())
        log.has_read(session, after)
        log.entries += operations
        return log.after(after)

    def end(self, session: str) -> None:
        """End a session; every session that may be let in by that is told to look."""
        member = self.members.pop(session, None)
        for name in () if member is None else member.logs:
            del self.logs[name].read[session]
            self.logs[name].entries.append(Operation(Verb.END, session).encode())
            for other in self.members.values():
                if name in other.logs and other.hinted is not None:
                    other.hinted(name)

    def renew(self, session: str, read: Mapping[str, int]) -> Renewal:
        member = self.member(session)
        for name, position in read.items():
            if name in member.logs:  # else it was asked before the session had joined
                self.logs[name].has_read(session, position)
        now = trio.current_time()
        member.ends = now + member.ttl
        others = [one.ends - now for one in self.members.values() if one is not member]
        ends = {name: self.logs[name].end for name in member.logs}
        return Renewal(ends, min(others, default=math.inf))

    def carry_out_late(self) -> None:
        """Carry out the requests whose senders have given them up."""
        while self.late:
            with contextlib.suppress(SessionEnded):
                self.late.pop(0)()

    def compact(self, session: str, name: str, position: int, snapshot: bytes) -> None:
        self.member(session)
        self.logs[name].offer(position, snapshot)


_hubs: RunVar[dict[tuple[str, str], Hub]] = RunVar("structsync.distributed.memory")


def hub_of(url: str, namespace: str) -> Hub:
    """Return what the sessions with this URL and namespace share in this run."""
    hubs = _hubs.get({})
    _hubs.set(hubs)
    return hubs.setdefault((url, namespace), Hub())


class MemoryEngine:
    """One session of a hub."""

    hub: Hub
    deliveries: Deliveries | None
    recheck: float
    forgets = False
    tells = False
    session: str

    def __init__(self, hub: Hub, deliveries: Deliveries | None) -> None:
        self.hub = hub
        self.deliveries = deliveries
        # Without a test that loses them, hints arrive.
        self.recheck = math.inf if deliveries is None else 1.0
        if deliveries is not None:
            deliveries._hubs.append(hub)

    async def open(self, ttl: float) -> str:
        await checkpoint()
        self.session = self.hub.open(ttl)
        return self.session

    async def listen(
        self, hinted: Hinted, received: Received, task_status: trio.TaskStatus[None]
    ) -> None:
        member = self.hub.members[self.session]
        member.hinted, member.received = hinted, received
        task_status.started()
        try:
            await trio.sleep_forever()
        finally:  # the session can start no task for a message any more, and its sender must not fail by that
            member.hinted = member.received = None

    async def append(self, log: str, operations: Sequence[bytes], after: int) -> Tail:
        return await self._deliver(lambda: self.hub.append(self.session, log, operations, after))

    def append_soon(
        self,
        log: str,
        operations: Sequence[bytes],
        after: int,
        done: Appended,
        told: Mapping[str, Tail],
    ) -> bool:
        return False

    def linger(self) -> None:
        """Nothing is begun without a task."""

    async def renew(self, read: Mapping[str, int], history_of: Callable[[str], object]) -> Renewal:
        return await self._deliver(lambda: self.hub.renew(self.session, read))

    async def _deliver(self, carry_out: Callable[[], T]) -> T:
        await checkpoint()
        self.hub.carry_out_late()
        fate = self._fate("request")
        if fate == "late":
            self.hub.late.append(carry_out)
        if fate in ("late", "lost"):
            raise DeliveryFailed
        if fate == "twice":
            carry_out()
        answer = carry_out()
        if self._fate("answer") == "lost":
            raise DeliveryFailed
        await checkpoint()
        return answer

    def _fate(self, what: What) -> Fate:
        return "in time" if self.deliveries is None else self.deliveries.fate(what)

    def hint(self, sessions: Collection[str], log: str) -> None:
        for session in sessions:
            member = self.hub.members.get(session)
            lost = self._fate("hint") == "lost"
            if member is not None and member.hinted is not None and not lost:
                member.hinted(log)

    async def send(self, session: str, message: bytes) -> bool:
        await checkpoint()
        fate = self._fate("message")
        member = self.hub.members.get(session)
        if member is None or member.received is None:
            return False
        deliver = partial(member.received, message)
        if fate == "late":
            self.hub.late.append(deliver)
        for _ in range({"in time": 1, "twice": 2}.get(fate, 0)):
            deliver()
        return True

    async def drain(self, session: str) -> None:
        await checkpoint()

    async def compact(self, log: str, position: int, snapshot: bytes) -> None:
        await checkpoint()
        self.hub.compact(self.session, log, position, snapshot)

    async def close(self) -> None:
        await checkpoint()
        self.hub.end(self.session)

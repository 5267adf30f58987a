"""Where messages go to: the hosts and callers of one session."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager, suppress

import trio

from structsync import Synchronizer
from structsync._core.shared.calls import SLOTS, CallTable
from structsync._core.shared.kinds import HOST
from structsync._core.shared.operations import Want
from structsync.distributed.blocks import Block
from structsync.distributed.client import LogClient
from structsync.distributed.errors import DeliveryFailed
from structsync.distributed.membership import Grant, Membership
from structsync.distributed.synchronizer import SharedSynchronizer

from .caller import Caller
from .failures import Errors
from .hosting import SENDING, Hosting
from .interface import Method
from .messages import Answer, Ask, Call, Cancel, Gone, Message, NotTaken, ToHost, decode, encode
from .remembered import Remembered
from .ruled import Ruled
from .ruler import Ruler
from .rulings import METHODS, Origin

#: How many calls of hosts may run at their ruler: each object has one that listens, and seldom another one.
CONCURRENT = 10_000
#: How many objects of one session may be under one synchronizer. Each has a call there that listens, and at times one
#: that waits while its object is reserved; if those took all slots, what they wait for could not be sent.
RULED = SLOTS // 2 - 8


class Exchange:
    """What a session hosts and calls."""

    callers: dict[str, Caller]
    hosts: dict[str, Hosting]
    remembered: dict[str, Remembered]  # by log: those of them that have ended
    ruled: dict[Ruled, str]  # what is hosted, with the name of its ruler

    def __init__(self, session: Membership) -> None:
        self._session = session
        self.callers = {}
        self.hosts = {}
        self.remembered = {}
        self.ruled = {}
        session._received = self.received
        interval = min(session._ttl / 3, session._engine.recheck)
        if interval < math.inf:
            session._nursery.start_soon(self._keep_asking, interval, name="structsync calls")

    async def _keep_asking(self, interval: float) -> None:
        while True:
            await trio.sleep(interval)
            for caller in [*self.callers.values()]:
                await caller.ask()

    def received(self, data: bytes) -> None:
        """Take a message, which any process may have sent."""
        message = decode(data)
        if isinstance(message, Call | Cancel | Ask):
            host = self.hosts.get(message.host)
            if host is not None:
                host.handle(message)
            else:
                self._session._nursery.start_soon(self._refuse, message)
        elif message is not None and message.host in self.callers:
            caller = self.callers[message.host]
            if isinstance(message, Answer):
                caller.answered(message)
            else:
                caller.gone(message.token)

    async def _refuse(self, message: ToHost) -> None:
        """Answer a caller that means a host that never was here."""
        answer: Message = Gone(message.host, message.token)
        if isinstance(message, Call):
            answer = NotTaken(message.host, message.token, message.slot, message.number)
        with trio.move_on_after(SENDING), suppress(DeliveryFailed):
            await self._session._engine.send(message.caller, encode(answer))

    # ==== Hosts ====

    @asynccontextmanager
    async def host(
        self,
        name: str,
        target: object,
        methods: Mapping[str, Method],
        errors: Errors,
        concurrent: int,
        ruled_by: str | None = None,
        ruled: Collection[str] = (),
    ) -> AsyncIterator[Grant]:
        """Wait for the name, and serve the object under it; the ruled methods only as another process permits."""
        session = self._session
        async with Block(session, [Want(name, HOST)]) as grant:
            # What became of calls is remembered: a message to an earlier host may still come.
            earlier = self.hosts.get(name)
            table = CallTable() if earlier is None else earlier.table
            asks = None
            if ruled_by is not None:
                origin = Origin(session.identity, name, grant.token)
                asks = self._ask(
                    ruled_by, Ruled(session, self.caller(ruled_by), origin, ruled, errors)
                )
                session._nursery.start_soon(asks.listen, name=f"structsync rules over {name!r}")
            host = Hosting(session, grant, target, methods, errors, concurrent, table, asks)
            with trio.CancelScope(shield=True):
                await session._nursery.start(host.serve)
            remembered = self._remembered(grant._client)
            remembered.remove(name)
            self.hosts[name] = host
            host.open()
            self._tell(grant)
            try:
                yield grant
                await host.drain()
            finally:
                with trio.CancelScope(shield=True):
                    await host.stop()
                host.end()
                remembered.add(host)
                if asks is not None:
                    asks.scope.cancel()
                    del self.ruled[asks]
        self._tell(grant)

    @asynccontextmanager
    async def synchronizer(self, name: str, errors: Errors) -> AsyncIterator[SharedSynchronizer]:
        """Wait for the name, and rule under it."""
        ruler = Ruler()
        async with (
            self.host(name, ruler, METHODS, errors, CONCURRENT) as grant,
            Synchronizer(name=name) as rules,
        ):
            with trio.CancelScope(shield=True):
                await self._session._nursery.start(ruler.serve, grant)
            try:
                yield SharedSynchronizer(name, grant, rules, ruler.stand_in)
            finally:
                ruler.close()  # before the rules end: without them all calls would start

    def _remembered(self, client: LogClient) -> Remembered:
        if client.name not in self.remembered:
            self.remembered[client.name] = Remembered(client, self.hosts)
        return self.remembered[client.name]

    def _ask(self, ruled_by: str, asks: Ruled) -> Ruled:
        if [*self.ruled.values()].count(ruled_by) >= RULED:
            raise RuntimeError(
                f"{RULED} objects of this session are ruled over by {ruled_by!r} already, and it can have no more; "
                "host others in another session"
            )
        self.ruled[asks] = ruled_by
        return asks

    def _tell(self, grant: Grant) -> None:
        """Have all members of this log look up the host of the name."""
        client, session = grant._client, self._session
        others = client.replica.core.sessions.keys() - {session.identity}
        session._engine.hint(dict.fromkeys(others), client.name)

    # ==== Callers ====

    def caller(self, name: str) -> Caller:
        """Return what this session calls under a name."""
        if name not in self.callers:
            self.callers[name] = Caller(self._session, name)
        return self.callers[name]

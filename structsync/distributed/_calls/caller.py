"""The side that calls: which session hosts a name, what was sent there, and what has become of it."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import Any, NamedTuple

import outcome
import trio
from trio.lowlevel import checkpoint_if_cancelled, enable_ki_protection

import structsync
from structsync._core.shared.calls import SLOTS, Attempt, End
from structsync._core.shared.kinds import HOST
from structsync._runtime.outcomes import Pending
from structsync.distributed.client import BACKOFF, LONGEST_BACKOFF, LogClient
from structsync.distributed.engine import LONGEST
from structsync.distributed.errors import CallOutcomeUnknown, DeliveryFailed, LeaseLost
from structsync.distributed.membership import Membership

from .messages import VERDICTS, Answer, Ask, Call, Cancel, encode


class Host(NamedTuple):
    """The host of a name: the session, and the token of its grant."""

    session: str
    token: int


def host_of(client: LogClient, name: str) -> Host | None:
    """Return the host of a name now, as far as we have read.

    Raises:
      ValueError: if the name is in use for something else.
    """
    core = client.replica.core
    found = core.named.get(name)
    if found is None:
        return None
    if found.kind != HOST:
        raise ValueError(f"{name!r} is in use as a {found.kind}, and cannot be called")
    owner: Any = found.core
    place = core.places.get(owner.owner)
    return None if place is None else Host(place.key[0], place.token)


class Outstanding(Attempt):
    """A call that was sent, or is being sent, to one host."""

    host: Host
    name: str
    method: str
    _answer: Answer | None
    _pending: Pending[Answer | None] | None

    def __init__(self, host: Host, name: str, method: str, slot: int, number: int) -> None:
        super().__init__(host.token, slot, number)
        self.host = host
        self.name = name
        self.method = method
        self._answer = None
        self._pending = None

    def answered(self, answer: Answer) -> None:
        """Take an answer of the host; one to another call says nothing."""
        said = VERDICTS.get(type(answer))
        if self.hear(answer.token, answer.number, said):
            self._answer = answer if said is None else None
            self._wake()

    def gone(self, token: int | None = None) -> None:
        """Give it up, if that host has it; at any host, if none is named."""
        if self.lose(token):
            self._wake()

    async def wait(self, cancel: Callable[[Outstanding], object]) -> Answer | None:
        """Wait for its end, and return the answer, None if it is to be sent again.

        A cancellation asks for the end, and does not end the wait.
        """
        if self.ended is not None:
            return self._result()

        def ask_for_end() -> None:
            self.is_cancelled = True
            cancel(self)

        self._pending = Pending(ask_for_end)
        return await self._pending.wait()

    def _wake(self) -> None:
        if self._pending is None:
            return  # it is being sent
        if self.ended is End.CANCELLED:
            self._pending.end_cancelled()
        else:
            self._pending.end(outcome.capture(self._result))

    def _result(self) -> Answer | None:
        if self.ended is End.UNKNOWN:
            raise CallOutcomeUnknown(self.name, self.method)
        return self._answer


class Caller:
    """What one session calls under one name."""

    name: str
    slots: structsync.Semaphore
    outstanding: dict[int, Outstanding]  # by slot
    changed: trio.Event
    _is_in_log: bool

    def __init__(self, session: Membership, name: str) -> None:
        self.name = name
        self._session = session
        self._client = session._client(name)
        # Sending a call is a schedule point, and so is waiting for what it needs.
        self.slots = structsync.Semaphore(SLOTS, checkpoint="budget")
        self._free = [*range(SLOTS)]  # a heap: few slots are in use where few calls overlap
        self._numbers = [0] * SLOTS
        self.outstanding = {}
        self.changed = trio.Event()
        self._is_in_log = False

    @enable_ki_protection
    async def call(self, method: str, arguments: Any) -> Answer:
        """Have a method carried out, once, and return its answer.

        Raises:
          CallOutcomeUnknown: if it was sent, and what has become of it cannot be known.
          LeaseLost: if the session is over before it is sent.
          ValueError: if it is longer than a message may be.
        """
        async with self.slots:
            # Each entry of the log would cost more with each name that was ever connected to.
            if len(self._free) == SLOTS:
                self._client.watchers[self.look] = None
            slot = heapq.heappop(self._free)
            try:
                return await self._call_until_taken(slot, method, arguments)
            finally:
                heapq.heappush(self._free, slot)
                if len(self._free) == SLOTS:
                    del self._client.watchers[self.look]

    async def _call_until_taken(self, slot: int, method: str, arguments: Any) -> Answer:
        backoff = BACKOFF
        while True:
            host = await self._find()
            call = Outstanding(host, self.name, method, slot, self._next(slot))
            answer = await self._try(call, arguments)
            if answer is not None:
                return answer
            with trio.move_on_after(backoff):  # it is gone, which the log may not say yet, or busy
                await self.changed.wait()
            backoff = min(2 * backoff, LONGEST_BACKOFF)

    def _next(self, slot: int) -> int:
        self._numbers[slot] += 1
        return self._numbers[slot]

    async def _find(self) -> Host:
        """Wait until there is a host."""
        self._session._check()
        if not self._is_in_log:
            await self._client.read(self.name)
            self._is_in_log = True
        else:
            await checkpoint_if_cancelled()
        while not self._client.lost:
            try:
                found = host_of(self._client, self.name)
            except ValueError:
                # A session that waits for nothing there is not told that others do not use it any more.
                await self._client.read(self.name)
                found = host_of(self._client, self.name)
            if found is not None:
                return found
            await self.changed.wait()
        raise LeaseLost(self.name, why=self._client.lost)

    async def _try(self, call: Outstanding, arguments: Any) -> Answer | None:
        """Send a call to a host, and return its answer; None if the host has not taken it."""
        message = encode(
            Call(
                self.name,
                call.host.token,
                self._session.identity,
                call.slot,
                call.number,
                call.method,
                arguments,
            )
        )
        if len(message) > LONGEST:
            raise ValueError(
                f"this call of {call.method!r} has {len(message)} bytes, and a message may have {LONGEST}; "
                "send less at a time, or say where it can be read"
            )
        self.outstanding[call.slot] = call
        try:
            with trio.CancelScope(shield=True):
                if not await self._send(call.host, message):
                    call.was_not_sent()
            return await call.wait(self._cancel)
        finally:
            del self.outstanding[call.slot]

    async def _send(self, host: Host, message: bytes) -> bool:
        """Send a message; return False if it was certainly not delivered."""
        try:
            return await self._session._engine.send(host.session, message)
        except DeliveryFailed:
            return True

    def _cancel(self, call: Outstanding) -> None:
        self._session._nursery.start_soon(self._send_cancel, call)

    async def _send_cancel(self, call: Outstanding) -> None:
        session = self._session.identity
        message = Cancel(self.name, call.host.token, session, call.slot, call.number)
        await self._send(call.host, encode(message))

    # ==== What comes ====

    def answered(self, answer: Answer) -> None:
        """Take an answer; one to a call that is no longer waited for says nothing."""
        call = self.outstanding.get(answer.slot)
        if call is not None:
            call.answered(answer)

    def gone(self, token: int) -> None:
        """Take note that a host is gone; what it has not answered by now, it never will."""
        for call in [*self.outstanding.values()]:
            call.gone(token)
        self._note_change()

    def look(self) -> None:
        """Look up the host of the name: the log has changed, or the session is over."""
        self._note_change()
        if self._client.lost:
            for call in [*self.outstanding.values()]:
                call.gone()
            return
        alive = self._client.replica.core.sessions
        for host in {call.host for call in self.outstanding.values()}:
            if host.session not in alive:
                self._session._nursery.start_soon(self._bury, host)

    def _note_change(self) -> None:
        self.changed.set()
        self.changed = trio.Event()

    async def _bury(self, host: Host) -> None:
        """Take what a session that is over has said, and give up the rest."""
        await self._session._engine.drain(host.session)
        self.gone(host.token)

    async def ask(self) -> None:
        """Ask what has become of the calls that were sent: a message may have been lost."""
        hosts: dict[Host, list[Outstanding]] = {}
        for call in self.outstanding.values():
            hosts.setdefault(call.host, []).append(call)
        for host, calls in hosts.items():
            for call in calls:
                if call.is_cancelled:
                    await self._send_cancel(call)
            which = [(call.slot, call.number) for call in calls if not call.is_cancelled]
            message = Ask(self.name, host.token, self._session.identity, which)
            await self._send(host, encode(message))

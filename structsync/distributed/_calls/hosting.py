"""The side that is called: each call is a task, so many at a time, and its answer is kept until it has arrived."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

import trio
from trio.lowlevel import disable_ki_protection

import structsync
from structsync._core.shared.calls import CallTable, Seen, Ticket
from structsync.distributed.engine import LONGEST
from structsync.distributed.errors import DeliveryFailed, LeaseLost
from structsync.distributed.membership import Grant, Membership

from .failures import Errors, describe
from .interface import Method, encode_value
from .messages import (
    Answer,
    Ask,
    Call,
    Cancel,
    Cancelled,
    NotTaken,
    Raised,
    Returned,
    Stopped,
    encode,
)

#: How many calls may wait at a host beyond those that run; more have to come again.
WAITING = 1000
#: How many callers may be there of whom the log has not told yet.
STRANGERS = 100
#: In seconds: how long an answer may take to be sent. It is kept, and asked for again.
SENDING = 5


class Running:
    """A call that has not ended."""

    scope: trio.CancelScope
    is_begun: bool  # it has its permit
    is_cancelled: bool  # by its caller

    def __init__(self) -> None:
        self.scope = trio.CancelScope()
        self.is_begun = self.is_cancelled = False


class Hosting:
    """An object under its name, while a session has that name."""

    name: str
    token: int
    table: CallTable
    calls: dict[Ticket, Running]
    permits: structsync.Semaphore
    limit: int  # of calls, running and waiting
    is_open: bool
    idle: trio.Event
    strangers: set[str]
    nursery: trio.Nursery
    _ended: trio.Event

    def __init__(
        self,
        session: Membership,
        grant: Grant,
        target: object,
        methods: Mapping[str, Method],
        errors: Errors,
        concurrent: int,
    ) -> None:
        self.name = grant.name
        self.token = grant.token
        self._session = session
        self._client = grant._client
        self._client.watchers[self.look] = None
        self._target = target
        self._methods = methods
        self._errors = errors
        self.table = CallTable()
        self.calls = {}
        self.permits = structsync.Semaphore(concurrent)
        self.limit = concurrent + WAITING
        self.is_open = True
        self.idle = trio.Event()
        self.strangers = set()
        self._ended = trio.Event()

    # ==== Its life ====

    async def serve(self, task_status: trio.TaskStatus[None]) -> None:
        """Carry out calls until :meth:`stop`."""
        try:
            async with trio.open_nursery() as self.nursery:
                task_status.started()
                await self.idle.wait()
        finally:
            self._ended.set()

    async def drain(self) -> None:
        """Take no more calls, hand back those that wait, and return when the others have ended."""
        self.is_open = False
        for one in self.calls.values():
            if not one.is_begun:
                one.scope.cancel()
        self._note_idle()
        await self._ended.wait()

    async def stop(self) -> None:
        """End all calls. What became of them can still be asked, until the name is hosted here again."""
        self.is_open = False
        for one in self.calls.values():
            one.scope.cancel()
        self._note_idle()
        await self._ended.wait()

    def forget(self) -> None:
        """Forget what became of the calls."""
        del self._client.watchers[self.look]

    def _note_idle(self) -> None:
        if not self.is_open and not self.calls:
            self.idle.set()

    # ==== What comes ====

    def handle(self, message: Call | Cancel | Ask) -> None:
        """Take a message of a caller."""
        caller = message.caller
        if caller not in self._client.replica.core.sessions and caller not in self.strangers:
            if len(self.strangers) == STRANGERS:
                return  # it asks again
            self.strangers.add(caller)
            self._session._nursery.start_soon(self._meet, caller)
        if isinstance(message, Call):
            self._take(message)
        elif isinstance(message, Cancel):
            self._cancel(message)
        else:
            for slot, number in message.calls:
                self._look_up(Ticket(caller, slot, number), NotTaken)

    def _take(self, call: Call) -> None:
        ticket = call.ticket
        # A process that was stopped may read this when its lease is over, and the name another's.
        is_ours = self.is_open and trio.current_time() < self._session._deadline
        if not is_ours or self.table.running >= self.limit:
            self._look_up(ticket, NotTaken)
        elif self.table.arrive(ticket) is Seen.NEW:
            one = self.calls[ticket] = Running()
            name = f"call of {self.name}.{call.method}"
            self.nursery.start_soon(self._run, ticket, one, call, name=name)
        else:
            self._look_up(ticket, NotTaken)

    def _cancel(self, message: Cancel) -> None:
        ticket = message.ticket
        if ticket in self.calls:
            self.calls[ticket].is_cancelled = True
            self.calls[ticket].scope.cancel()
        self._look_up(ticket, Cancelled)

    def _look_up(self, ticket: Ticket, unless_known: Callable[..., Answer]) -> None:
        """Answer again what was answered, and what is not known with what it will be then."""
        seen = self.table.arrive(ticket)
        if seen is Seen.NEW:
            self.table.finish(ticket, self._encode(unless_known, ticket))
        if seen is Seen.RUNNING:
            return
        # Who asks for a call that is stale by what was said in its name would wait forever.
        stale = seen is Seen.STALE
        answer = self._encode(Stopped, ticket) if stale else self.table.answer_to(ticket)
        self._session._nursery.start_soon(self._send, ticket.caller, answer)

    async def _meet(self, caller: str) -> None:
        """Read the log: whoever calls has joined it before."""
        with suppress(LeaseLost):
            await self._client.read(self.name)
        self.strangers.discard(caller)
        self.look()

    def look(self) -> None:
        """Look who is gone: nobody waits for the answers to their calls."""
        alive = self._client.replica.core.sessions
        for caller in self.table.callers.keys() - alive.keys() - self.strangers:
            for ticket in self.table.forget(caller):
                self.calls[ticket].scope.cancel()

    # ==== Calls ====

    async def _run(self, ticket: Ticket, one: Running, call: Call) -> None:
        answer: bytes | None = None
        with one.scope:
            async with self.permits:
                one.is_begun = True
                answer = await self._carry_out(ticket, call)
        if answer is None:
            stopped = Stopped if one.is_begun else NotTaken
            answer = self._encode(Cancelled if one.is_cancelled else stopped, ticket)
        del self.calls[ticket]
        if self.table.finish(ticket, answer):
            await self._send(ticket.caller, answer)
        self._note_idle()

    async def _carry_out(self, ticket: Ticket, call: Call) -> bytes:
        try:
            method = self._methods.get(call.method)
            if method is None:
                known = ", ".join(sorted(self._methods))
                raise AttributeError(
                    f"{self.name!r} has no method {call.method[:100]!r}; it has {known}"
                )
            bound = method.bind(call.arguments)
            value = await _call(getattr(self._target, method.name), *bound.args, **bound.kwargs)
            what = f"the result of {method.name}"
            result = self._encode(partial(Returned, value=encode_value(value, what)), ticket)
            if len(result) > LONGEST:
                raise ValueError(
                    f"{what} has {len(result)} bytes, and a message may have {LONGEST}; it was carried out"
                )
            return result
        except Exception as error:  # noqa: BLE001 - it is the caller's
            name, arguments, text, traceback = describe(error, self._errors)
            raised = partial(
                Raised, error=name, arguments=arguments, text=text, traceback=traceback
            )
            return self._encode(raised, ticket)

    def _encode(self, answer: Callable[..., Answer], ticket: Ticket) -> bytes:
        return encode(
            answer(host=self.name, token=self.token, slot=ticket.slot, number=ticket.number)
        )

    async def _send(self, caller: str, answer: bytes) -> None:
        with trio.move_on_after(SENDING, shield=True), suppress(DeliveryFailed):
            await self._session._engine.send(caller, answer)


@disable_ki_protection  # the user's own code may be interrupted
async def _call(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    result = function(*args, **kwargs)
    return await result if inspect.isawaitable(result) else result

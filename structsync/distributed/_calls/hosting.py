"""The side that is called: each call is a task, so many at a time, and its answer is kept until it has arrived."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

import trio
from trio.lowlevel import checkpoint_if_cancelled, disable_ki_protection

import structsync
from structsync._core.shared.calls import CallTable, Result, Ticket, Verdict
from structsync.distributed.engine import LONGEST
from structsync.distributed.errors import DeliveryFailed, LeaseLost
from structsync.distributed.membership import Grant, Membership
from structsync.distributed.raised import raised_by_call

from .entered import NoAnswer, enter
from .failures import Errors, describe
from .interface import Method, encode_value
from .messages import ANSWERS, Answer, Ask, Call, Cancel, Raised, Returned, encode
from .ruled import Ruled
from .running import Running

#: How many calls may wait at a host beyond those that run; more have to come again.
WAITING = 1000
#: How many calls of each entry of a monitor may wait at a host, besides. They take no permit, because they must not keep
#: out the calls for which they wait; what runs in a monitor at a time is one.
APART = 10_000
#: How many callers may be there that the log has not told of yet.
STRANGERS = 100
#: In seconds: how long an answer may take to be sent. It is kept, and asked for again.
SENDING = 5


class Hosting:
    """An object under its name, while a session has that name."""

    name: str
    token: int
    table: CallTable
    calls: dict[Ticket, Running]
    apart: dict[str, int]  # how many of these are of each method that is an entry
    permits: structsync.Semaphore
    idle: trio.Event
    strangers: dict[str, trio.Event]  # set when the log was read
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
        table: CallTable,
        ruled: Ruled | None,
    ) -> None:
        self.name = grant.name
        self.token = grant.token
        self._session = session
        self._number = grant._number
        self._client = grant._client
        self._target = target
        self._methods = methods
        self._errors = errors
        self._ruled = ruled
        self.table = table
        self._concurrent = concurrent
        self.calls = {}
        entries = [one for one in methods if isinstance(getattr(target, one), structsync.Entry)]
        self.apart = dict.fromkeys(entries, 0)
        self.permits = structsync.Semaphore(concurrent, checkpoint="budget")
        self.idle = trio.Event()
        self.strangers = {}
        self._ended = trio.Event()

    # ==== Its life ====

    async def serve(self, task_status: trio.TaskStatus[None]) -> None:
        """Carry out calls until :meth:`stop`."""
        # The block ends with it, too, but may clean up for long before it stops the calls.
        deadline = self._session._deadline
        lease = Grant(self._client, self._number, self.name, self.token, deadline)
        self._session._grants[lease] = None
        try:
            with lease._scope:
                async with trio.open_nursery() as self.nursery:
                    task_status.started()
                    try:
                        await self.idle.wait()
                    finally:
                        self.table.is_open = False  # before the nursery closes
        finally:
            self._session._grants.pop(lease, None)
            self._ended.set()

    def open(self) -> None:
        """Take calls from now on: what comes to this name comes here."""
        self._client.watchers[self.look] = None
        self.table.open(self._concurrent + WAITING + APART * len(self.apart))

    async def drain(self) -> None:
        """Take no more calls, hand back those that wait, and return when the others have ended."""
        self.table.is_open = False
        for one in self.calls.values():
            if not one.is_begun:
                one.waiting.cancel()
        self._note_idle()
        await self._ended.wait()

    async def stop(self) -> None:
        """End all calls. What became of them can still be queried."""
        self.table.is_open = False
        for one in self.calls.values():
            one.scope.cancel()
        self._note_idle()
        await self._ended.wait()

    def end(self) -> None:
        """Keep nothing but what has become of the calls."""
        del self._client.watchers[self.look]
        self._target, self._methods, self._errors, self._ruled = None, {}, {}, None

    def _note_idle(self) -> None:
        if not self.table.is_open and not self.calls:
            self.idle.set()

    # ==== What comes ====

    def handle(self, message: Call | Cancel | Ask) -> None:
        """Take a message of a caller."""
        caller = message.caller
        if caller not in self._client.replica.core.sessions and caller not in self.strangers:
            if len(self.strangers) == STRANGERS:
                return  # it asks again
            self.strangers[caller] = trio.Event()
            self._session._nursery.start_soon(self._meet, caller)
        if isinstance(message, Call):
            self._take(message)
        elif isinstance(message, Cancel):
            self._cancel(message)
        else:
            for slot, number in message.calls:
                ticket = Ticket(caller, slot, number)
                self.table.ask(ticket)
                self._answer(ticket, message.token)

    def _take(self, call: Call) -> None:
        ticket = call.ticket
        # A process that was stopped may read this when its lease is over, and the name another's.
        is_ours = not self._session._lost and trio.current_time() < self._session._deadline
        is_apart = call.method in self.apart
        has_room = not is_apart or self.apart[call.method] < APART
        if self.table.take(ticket, is_hosted=is_ours and has_room and call.token == self.token):
            if is_apart:
                self.apart[call.method] += 1
            one = self.calls[ticket] = Running(is_apart=is_apart)
            name = f"call of {self.name}.{call.method}"
            self.nursery.start_soon(self._run, ticket, one, call, name=name)
        else:
            self._answer(ticket, call.token)

    def _cancel(self, message: Cancel) -> None:
        if self.table.cancel(message.ticket):
            self.calls[message.ticket].scope.cancel()
        else:
            self._answer(message.ticket, message.token)

    def _answer(self, ticket: Ticket, token: int) -> None:
        """Say, maybe again, what has become of a call to the host of that token; nothing while it runs."""
        result = self.table.answer_to(ticket)
        if result is not None:
            self._session._nursery.start_soon(self._send, ticket, token, result)

    async def _meet(self, caller: str) -> None:
        """Read the log: a caller has joined it before."""
        with suppress(LeaseLost):
            await self._client.read(self.name)
        met = self.strangers.pop(caller)
        self.look()
        met.set()

    def look(self) -> None:
        """Look which callers are gone: the answers to their calls are not waited for."""
        alive = self._client.replica.core.sessions
        for caller in self.table.callers.keys() - alive.keys() - self.strangers.keys():
            for ticket in self.table.forget(caller):
                self.calls[ticket].scope.cancel()

    # ==== Calls ====

    async def _run(self, ticket: Ticket, one: Running, call: Call) -> None:
        answer: bytes | None = None
        has_failed = True
        try:
            with one.scope:
                if ticket.caller in self.strangers:
                    # There may be a message yet of a caller that is gone, of a call that was carried out before.
                    await self.strangers[ticket.caller].wait()
                if call.method in self.apart:
                    answer = await self._carry_out(ticket, one, call)
                else:
                    async with self.permits:
                        await checkpoint_if_cancelled()  # it may have been handed on since
                        one.begin()
                        answer = await self._carry_out(ticket, one, call)
            has_failed = False
        finally:
            del self.calls[ticket]
            if call.method in self.apart:
                self.apart[call.method] -= 1
            result = self.table.end(ticket, answer, is_begun=one.is_begun)
            if has_failed and not self._session._lost:
                # What ends this session may have to wait for its caller, which must not wait for the session.
                self._answer(ticket, self.token)
        if result is not None:
            await self._send(ticket, self.token, result)
        self._note_idle()

    async def _carry_out(self, ticket: Ticket, one: Running, call: Call) -> bytes | None:
        """Return the answer; None if what has become of the call cannot be known."""
        try:
            method = self._methods.get(call.method)
            if method is None:
                known = ", ".join(sorted(self._methods))
                raise AttributeError(
                    f"{self.name!r} has no method {call.method[:100]!r}; it has {known}"
                )
            bound = method.bind(call.arguments)
            function = getattr(self._target, method.name)
            if self._ruled is not None and method.name in self._ruled.methods:
                value = await self._ruled.call(function, call.arguments, bound, one)
            elif method.name in self.apart:
                value = await enter(function, bound, one)
            else:
                value = await _call(function, *bound.args, **bound.kwargs)
            what = f"the result of {method.name}"
            result = self._encode(
                partial(Returned, value=encode_value(value, what)), ticket, self.token
            )
            if len(result) > LONGEST:
                raise ValueError(
                    f"{what} has {len(result)} bytes, and a message may have {LONGEST}; it was carried out"
                )
            return result
        except NoAnswer:
            if not one.is_begun:
                return None
            # Also where its caller is cancelled: that would say that no others have started because of it.
            return self._encode(ANSWERS[Verdict.STOPPED], ticket, self.token)
        except BaseException as error:  # noqa: BLE001 - it is the caller's
            name, arguments, text, traceback = describe(raised_by_call(error), self._errors)
            raised = partial(
                Raised, error=name, arguments=arguments, text=text, traceback=traceback
            )
            return self._encode(raised, ticket, self.token)

    def _encode(self, answer: Callable[..., Answer], ticket: Ticket, token: int) -> bytes:
        return encode(answer(host=self.name, token=token, slot=ticket.slot, number=ticket.number))

    async def _send(self, ticket: Ticket, token: int, result: Result) -> None:
        if isinstance(result, Verdict):
            result = self._encode(ANSWERS[result], ticket, token)
        with trio.move_on_after(SENDING, shield=True), suppress(DeliveryFailed):
            await self._session._engine.send(ticket.caller, result)


@disable_ki_protection  # the user's own code may be interrupted
async def _call(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    result = function(*args, **kwargs)
    return await result if inspect.isawaitable(result) else result

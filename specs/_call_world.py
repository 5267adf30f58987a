"""The state of the specification of calls: one caller with one slot, the hosts of a name, and what is on its way.

What `Hosting`, `Exchange` and `Caller` of `structsync.distributed` do about a message is spelled out here; what they
decide is decided by the tables and attempts that ship. Two situations that differ in nothing but numbers are one
state: numbers of calls are counted by their order.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from structsync._core.shared.calls import Attempt, CallTable, End, Result, Slot, Ticket, Verdict

from ._call_messages import CALLER, Message, sent

#: The token of a host, and the number of a call there.
Which: TypeAlias = tuple[int, int]

HOSTS = ("here", "spare")  # sessions that host the name, one after the other
LIMIT = 10  # of calls at a host: more than come


class World:
    """Hosts by their tokens, a caller, what it wants to have done, and messages in the order of their sending."""

    table: type[CallTable] = CallTable
    attempt: type[Attempt] = Attempt

    def __init__(self) -> None:
        self.alive = [*HOSTS, CALLER]
        self.tables = {HOSTS[0]: self.table()}  # of the sessions that host, or have hosted
        self.tables[HOSTS[0]].open(LIMIT)
        self.sessions = {1: HOSTS[0]}  # in which the host of each token is, or was
        self.up = 1  # the token of the host of the name; 0 while no session does
        self.is_stopped = False  # its block has ended by an error
        self.is_caller_known = True  # to the hosts, from the log
        self.calls: dict[Which, str] = {}  # the tasks of calls, with their arguments
        self.begun: set[Which] = set()  # of these, whose methods were called
        self.on_way: list[Message] = []

        self.believed = 1  # the host of the name, as far as the caller has read
        self.number = 0  # of the last call that it has sent
        self.sent: Attempt | None = None
        self.what = ""  # it wants to have done; nothing, while no call is under way
        self.is_cancelled = False

        # What has happened, which no process knows as a whole.
        self.times: dict[str, int] = {}  # how often each call was begun
        self.done: set[str] = set()  # whose methods have returned
        self.ends: dict[str, tuple[str, int]] = {}  # how each call has ended, and with which host

    # ==== The caller ====

    def call(self, what: str) -> None:
        self.what, self.is_cancelled = what, False
        self.times[what] = 0

    def send(self) -> None:
        """Send the call to the host of the name, as far as known; to a session that is over nothing can be sent."""
        self.number += 1
        self.sent = self.attempt(self.believed, 0, self.number)
        if not self.say("call", self.what):
            self.sent.was_not_sent()
            self.conclude()

    def say(self, kind: str, what: str = "") -> bool:
        """Send something about the attempt to its host."""
        assert self.sent is not None
        to = self.sessions[self.sent.token]
        self.put(Message(to, kind, self.sent.token, self.sent.number, what))
        return to in self.alive

    def cancel(self) -> None:
        self.is_cancelled = True
        if self.sent is None:
            self.end("cancelled")
        else:
            self.sent.is_cancelled = True
            self.say("cancel")

    def ask(self) -> None:
        assert self.sent is not None
        self.say("cancel" if self.sent.is_cancelled else "ask")

    def bury(self) -> None:
        """Give up what a session that is over has not answered."""
        assert self.sent is not None
        if self.sent.lose(self.sent.token):
            self.conclude()

    def hear(self, message: Message) -> None:
        """Take what a host says."""
        if self.sent is None:
            return
        if message.kind == "gone":
            is_end = self.sent.lose(message.token)
        else:
            said = None if message.kind == "returned" else Verdict(message.kind)
            is_end = self.sent.hear(message.token, message.number, said)
        if is_end:
            self.conclude(message.what)

    def conclude(self, result: str = "") -> None:
        """Do what the end of an attempt says."""
        assert self.sent is not None
        end = self.sent.ended
        if end is End.ANSWERED:
            self.end(f"returned {result}")
        elif end is End.UNKNOWN:
            self.end("unknown")
        elif end is End.CANCELLED or self.is_cancelled:
            self.end("cancelled")
        self.sent = None

    def end(self, how: str) -> None:
        self.ends[self.what] = (how, 0 if self.sent is None else self.sent.token)
        self.what, self.is_cancelled = "", False

    # ==== Hosts ====

    def is_unwanted(self, which: Which) -> bool:
        """Return whether the task of a call is cancelled, by its caller or its host."""
        number = which[1]
        table, ticket = self.table_of(which), Ticket(CALLER, 0, number)
        slot = table.callers.get(CALLER, {}).get(0)
        wants_no_more = slot is not None and slot.number == number and slot.is_cancelled
        hands_on = not table.is_open and (self.is_stopped or which not in self.begun)
        return wants_no_more or hands_on or ticket in table.abandoned

    def table_of(self, which: Which) -> CallTable:
        return self.tables[self.sessions[which[0]]]

    def begin(self, which: Which) -> None:
        what = self.calls[which]
        self.begun.add(which)
        self.times[what] += 1

    def finish(self, which: Which, *, is_cancelled: bool) -> None:
        """A call has ended, and its caller is told."""
        token, number = which
        what, is_begun = self.calls.pop(which), which in self.begun
        self.begun.discard(which)
        if not is_cancelled:
            self.done.add(what)
        result = None if is_cancelled else what.encode()
        ticket = Ticket(CALLER, 0, number)
        answer = self.table_of(which).end(ticket, result, is_begun=is_begun)
        if answer is not None:
            self.answer(token, number, answer)

    def answer(self, token: int, number: int, answer: Result) -> None:
        if isinstance(answer, Verdict):
            self.put(Message(CALLER, answer.value, token, number))
        else:
            self.put(Message(CALLER, "returned", token, number, answer.decode()))

    def close(self, *, is_stopped: bool) -> None:
        """The block of the host ends."""
        self.is_stopped = is_stopped
        self.tables[self.sessions[self.up]].is_open = False

    def host(self, session: str) -> None:
        """Host the name anew; what was done in that session before is remembered."""
        self.up = max(self.sessions) + 1
        self.sessions[self.up] = session
        self.tables.setdefault(session, self.table()).open(LIMIT)
        self.is_stopped = False

    def die(self, session: str) -> None:
        """A session is over, and all that take part in the log will read so."""
        self.alive.remove(session)
        if session == CALLER:
            if self.sent is not None:
                self.sent.lose()
                self.conclude()
            elif self.what:
                self.end("cancelled")  # LeaseLost: no host has it
        if self.tables.pop(session, None) is not None:
            if self.sessions.get(self.up) == session:
                self.up = 0
            self.calls = {
                one: what for one, what in self.calls.items() if self.sessions[one[0]] != session
            }
            self.begun &= {*self.calls}

    def forget(self) -> None:
        """The hosts read that the caller is gone."""
        self.is_caller_known = False
        for table in self.tables.values():
            table.forget(CALLER)

    # ==== Messages ====

    def put(self, message: Message) -> None:
        if message.to in self.alive:
            self.on_way.append(sent(message))

    def take(self, message: Message) -> None:
        """Take what has arrived."""
        if message.to not in self.alive:
            return
        if message.to == CALLER:
            self.hear(message)
        elif message.to in self.tables:
            self.handle(message)
        elif message.kind == "call":
            self.answer(message.token, message.number, Verdict.NOT_TAKEN)
        else:
            self.put(Message(CALLER, "gone", message.token))

    def handle(self, message: Message) -> None:
        """Take a message to a host that is there."""
        table, ticket = self.tables[message.to], Ticket(CALLER, 0, message.number)
        if message.kind == "call":
            goes_on = table.take(ticket, is_hosted=message.token == self.up)
            if goes_on:
                self.calls[message.token, message.number] = message.what
        elif message.kind == "cancel":
            goes_on = table.cancel(ticket)
        else:
            table.ask(ticket)
            goes_on = False
        answer = None if goes_on else table.answer_to(ticket)
        if answer is not None:
            self.answer(message.token, message.number, answer)

    # ==== Snapshots ====

    def snapshot(self) -> tuple[Any, ...]:
        attempt = self.sent
        known = {0 if attempt is None else attempt.number, 0}
        known.update([one.number for one in self.on_way])
        known.update([number for _, number in self.calls])
        slots = {session: _slots(table) for session, table in self.tables.items()}
        for session, table in self.tables.items():
            known.update([slot.number for slot in slots[session]])
            known.update([ticket.number for ticket in table.abandoned])
        ranks = {number: rank for rank, number in enumerate(sorted(known))}
        tables = []
        for session, table in self.tables.items():
            kept = [
                (ranks[one.number], _written(one.result), one.is_cancelled)
                for one in slots[session]
            ]
            abandoned = sorted([ranks[one.number] for one in table.abandoned])
            tables.append((session, table.is_open, table.running, tuple(kept), tuple(abandoned)))
        return (
            tuple(self.alive),
            tuple(tables),
            tuple(self.sessions.items()),
            (self.up, self.is_stopped, self.is_caller_known, self.believed),
            tuple(
                sorted(
                    (token, ranks[number], what, (token, number) in self.begun)
                    for (token, number), what in self.calls.items()
                )
            ),
            tuple([(*one[:3], ranks[one.number], one.what) for one in self.on_way]),
            attempt and (attempt.token, ranks[attempt.number], attempt.is_cancelled),
            (self.what, self.is_cancelled),
            tuple(self.times.items()),
            tuple(sorted(self.done)),
            tuple(self.ends.items()),
        )

    def restore(self, snapshot: tuple[Any, ...]) -> None:
        alive, tables, sessions, hosts, *rest = snapshot
        self.up, self.is_stopped, self.is_caller_known, self.believed = hosts
        calls, on_way, attempt, (self.what, self.is_cancelled), times, done, ends = rest
        self.alive, self.sessions, self.tables = [*alive], dict(sessions), {}
        for session, is_open, running, slots, abandoned in tables:
            table = self.tables[session] = self.table()
            table.is_open, table.running, table.limit = is_open, running, LIMIT
            table.abandoned = {Ticket(CALLER, 0, number) for number in abandoned}
            for number, result, is_cancelled in slots:
                slot = table.callers.setdefault(CALLER, {})[0] = Slot(number, _read(result))
                slot.is_cancelled = is_cancelled
        self.calls = {(token, number): what for token, number, what, _ in calls}
        self.begun = {(token, number) for token, number, _, is_begun in calls if is_begun}
        self.on_way = [Message(*one) for one in on_way]
        self.sent = None
        if attempt:
            token, number, is_cancelled = attempt
            self.sent = self.attempt(token, 0, number)
            self.sent.is_cancelled = is_cancelled
        self.times, self.done, self.ends = dict(times), {*done}, dict(ends)
        numbers = [slot[0] for table in tables for slot in table[3]]
        numbers += [number for table in tables for number in table[4]]
        numbers += [number for _, number, *_ in calls]
        numbers += [one.number for one in self.on_way] + ([attempt[1]] if attempt else [])
        self.number = max(numbers, default=0)


# A state of nothing but tuples and what Python itself can write is compared four times as fast.


def _written(result: Result | None) -> bytes | str | None:
    return result.value if isinstance(result, Verdict) else result


def _read(written: bytes | str | None) -> Result | None:
    return Verdict(written) if isinstance(written, str) else written


def _slots(table: CallTable) -> list[Slot]:
    return [*table.callers.get(CALLER, {}).values()]

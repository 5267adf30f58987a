"""One log, as a session sees it: operations go out in order, and outcomes come back."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import outcome
import trio

from structsync._core.shared.operations import Operation, Outcome, Result, Verb
from structsync._runtime.outcomes import Pending

from .engine import Engine
from .errors import DeliveryFailed, LeaseLost
from .replica import Replica

#: After so many entries the log is replaced by a snapshot.
COMPACT_AFTER = 1000
#: In seconds: between two tries to reach the engine, the first and the longest.
BACKOFF, LONGEST_BACKOFF = 0.02, 0.5

ERRORS: dict[str, type[Exception]] = {"ValueError": ValueError, "RuntimeError": RuntimeError}


class LogClient:
    """What is on its way, and who waits for what.

    Nothing is sent while an answer is outstanding, so that the operations of a session are in the log in the
    order of their numbers; what comes up meanwhile goes together with the next request.
    """

    engine: Engine
    session: str
    name: str
    replica: Replica
    outbox: deque[Operation]
    pending: dict[int, Pending[Outcome]]
    names: dict[int, str]  # what the pending ones are about
    readers: list[trio.Event]
    watchers: dict[
        Callable[[], object], None
    ]  # called when entries were read, or the session is over
    number: int
    unread: bool  # whether there may be entries to read
    work: trio.Event
    lost: bool

    def __init__(self, engine: Engine, session: str, name: str) -> None:
        self.engine = engine
        self.session = session
        self.name = name
        self.replica = Replica(keeps=engine.forgets)
        self.outbox = deque()
        self.pending = {}
        self.names = {}
        self.readers = []
        self.watchers = {}
        self.number = 0
        self.unread = False
        self.work = trio.Event()
        self.lost = False

    # ==== For tasks of the user ====

    def post(self, verb: Verb, *details: Any) -> int:
        """Send an operation, and return its number; whether it arrives is seen in the log."""
        number = self.number
        self.number += 1
        self.outbox.append(Operation(verb, self.session, number, details))
        self.work.set()
        return number

    async def ask(
        self, name: str, verb: Verb, *details: Any, withdrawable: bool = False
    ) -> Outcome:
        """Send an operation about something, and wait for its outcome.

        Raises:
          LeaseLost: if the session is over.
          ValueError, RuntimeError: what refuses it.
        """
        return await self.begin(name, verb, *details, withdrawable=withdrawable).wait()

    def begin(
        self, name: str, verb: Verb, *details: Any, withdrawable: bool = False
    ) -> Pending[Outcome]:
        """Send an operation about something; return where its outcome is waited for."""

        def withdraw() -> None:
            if withdrawable:
                self.post(Verb.WITHDRAW, number)

        pending: Pending[Outcome] = Pending(withdraw)
        if self.lost:
            pending.end(outcome.Error(LeaseLost(name)))
            return pending
        number = self.post(verb, *details)
        self.names[number] = name
        self.pending[number] = pending
        return pending

    async def read(self, name: str) -> None:
        """Read all that is in the log by now.

        Raises:
          LeaseLost: if the session is over.
        """
        if self.lost:
            raise LeaseLost(name)
        done = trio.Event()
        self.readers.append(done)
        self.hinted()
        await done.wait()
        if self.lost:
            raise LeaseLost(name)

    def hinted(self) -> None:
        """Read the log soon."""
        self.unread = True
        self.work.set()

    def lose(self) -> None:
        """End all waits: the session is over."""
        self.lost = True
        pending, self.pending = self.pending, {}
        for number, one in pending.items():
            name = self.names.pop(number)
            if one.is_cancelled:
                one.end_cancelled()
            else:
                one.end(outcome.Error(LeaseLost(name)))
        for done in self.readers:
            done.set()
        self._tell_watchers()

    # ==== For the session ====

    async def drive(self) -> None:
        """Send and read, until the session is over."""
        backoff = BACKOFF
        while True:
            while not self.outbox and not self.unread:
                self.work = trio.Event()
                await self.work.wait()
            self.unread = False
            readers = len(self.readers)
            entries = [one.encode() for one in self.outbox]
            try:
                tail = await self.engine.append(self.name, entries, self.replica.position)
            except DeliveryFailed:
                self.unread = True
                await trio.sleep(backoff)
                backoff = min(2 * backoff, LONGEST_BACKOFF)
                continue
            if self.lost:
                return
            backoff = BACKOFF
            self._note(self.replica.advance(tail))
            for done in self.readers[:readers]:
                done.set()
            del self.readers[:readers]
            if self.replica.since > COMPACT_AFTER and entries:
                with suppress(DeliveryFailed):  # the next one offers it again
                    await self.engine.compact(
                        self.name, self.replica.position, self.replica.core.encode()
                    )

    def _note(self, applied: list[tuple[Operation, list[Outcome]]]) -> None:
        others: set[str] = set()
        for entry, outcomes in applied:
            for one in outcomes:
                if one.key[0] == self.session:
                    self._resolve(one)
                elif entry.session == self.session:
                    others.add(one.key[0])
        confirmed = self.replica.core.sessions.get(self.session, -1)
        while self.outbox and self.outbox[0].number <= confirmed:
            self.outbox.popleft()
        if others:
            self.engine.hint(others, self.name)
        if applied:
            self._tell_watchers()

    def _tell_watchers(self) -> None:
        for watcher in [*self.watchers]:
            watcher()

    def _resolve(self, one: Outcome) -> None:
        pending = self.pending.pop(one.key[1])
        del self.names[one.key[1]]
        if one.result is Result.WITHDRAWN:
            pending.end_cancelled()
        elif one.result is Result.REFUSED:
            kind, text = one.value
            pending.end(outcome.Error(ERRORS[kind](text)))
        else:
            pending.end(outcome.Value(one))

    def token_of(self, number: int) -> int:
        """Return the token of what was granted under this number; 0 if it is not held."""
        place = self.replica.core.places.get((self.session, number))
        return 0 if place is None else place.token

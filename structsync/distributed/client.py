"""One log, as a session sees it: operations go out in order, and outcomes come back."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

import outcome
import trio
from trio.lowlevel import enable_ki_protection

from structsync._core.shared.operations import Operation, Outcome, Verb
from structsync._runtime.outcomes import Pending

from .engine import Engine, Tail
from .errors import LEASE_ENDED, DeliveryFailed, LeaseLost
from .replica import Replica
from .waits import Waits

#: After so many entries the log is replaced by a snapshot.
COMPACT_AFTER = 1000
#: So many entries are applied without a schedule point.
AT_ONCE = 100
#: In seconds: between two tries to reach the engine, the first and the longest.
BACKOFF, LONGEST_BACKOFF = 0.02, 0.5


class Received(NamedTuple):
    """What has come, and for which tasks.

    Attributes:
      tail: what is to be applied.
      has_written: whether entries were sent with the request.
      readers: how many of the tasks that wait until all is read had begun to wait before the request.
      told: sessions that the engine has hinted already.
    """

    tail: Tail
    has_written: bool
    readers: int
    told: Collection[str] = ()

    @property
    def end(self) -> int:
        return self.tail.start + len(self.tail.entries)


class LogClient:
    """What is on its way, and which task waits for what.

    Nothing is sent while an answer is outstanding, so that the operations of a session are in the log in the
    order of their numbers; what comes up meanwhile goes together with the next request. Where the engine can, the
    task that asks sends, and the one that receives the answer applies it; the task in the background does what is left.
    """

    engine: Engine
    session: str
    name: str
    replica: Replica
    outbox: dict[bytes, Operation]  # what was not confirmed, by its entry
    waits: Waits
    readers: list[trio.Event]
    watchers: dict[
        Callable[[], object], None
    ]  # called when entries were read, or the session is over
    number: int
    unread: bool  # whether there may be entries to read
    is_long: bool  # whether a snapshot should take the place of the entries
    is_busy: bool  # whether an answer is outstanding, or being applied
    received: list[Received]  # one at most: an answer that takes a while to apply
    failure: Exception | None  # to be raised in the background, where it ends the session
    work: trio.Event
    lost: str  # why the session is over; empty while it is not

    def __init__(self, engine: Engine, session: str, name: str) -> None:
        self.engine = engine
        self.session = session
        self.name = name
        self.replica = Replica(keeps=engine.forgets)
        self.outbox = {}
        self.waits = Waits()
        self.readers = []
        self.watchers = {}
        self.number = 0
        self.unread = self.is_long = self.is_busy = False
        self.received = []
        self.failure = None
        self.work = trio.Event()
        self.lost = ""

    # ==== For tasks of the user ====

    def post(self, verb: Verb, *details: Any) -> int:
        """Send an operation, and return its number; whether it arrives is seen in the log."""
        number = self._add(verb, details)
        self._continue()
        return number

    def _add(self, verb: Verb, details: tuple[Any, ...]) -> int:
        number = self.number
        entry = Operation(verb, self.session, number, details).encode()
        # As all others will read it: what is written may say less than what was given, as of a member of an enum.
        self.outbox[entry] = Operation.decode(entry)
        self.number += 1
        return number

    async def ask(self, name: str, verb: Verb, *details: Any) -> Outcome:
        """Send an operation about something, and wait for its outcome.

        Raises:
          LeaseLost: if the session has ended.
          ValueError, RuntimeError: what refuses it.
        """
        return await self.begin(name, verb, *details).wait()

    @enable_ki_protection
    def begin(
        self,
        name: str,
        verb: Verb,
        *details: Any,
        withdrawable: bool = False,
        leaves_nothing: bool = True,
    ) -> Pending[Outcome]:
        """Send an operation about something; return where its outcome is waited for.

        Args:
          withdrawable: whether a cancellation takes it back.
          leaves_nothing: whether the end of the session undoes all of it; if not, a cancelled one may have counted.
        """

        def withdraw() -> None:
            self.post(Verb.WITHDRAW, number)

        pending: Pending[Outcome] = Pending(
            withdraw if withdrawable else None, leaves_nothing=leaves_nothing
        )
        if self.lost:
            pending.end(outcome.Error(self._lease_lost(name)))
            return pending
        number = self._add(verb, details)
        self.waits.by_number[number] = name, pending
        if not self._begin_exchange():
            self._continue()
        elif len(self.waits.by_number) == 1:  # else what several tasks send next goes together
            self.engine.linger()
        return pending

    @enable_ki_protection
    async def read(self, name: str) -> None:
        """Read all that is in the log by now.

        Raises:
          LeaseLost: if the session has ended.
        """
        if self.lost:
            raise self._lease_lost(name)
        done = trio.Event()
        self.readers.append(done)
        self.hinted()
        await done.wait()
        if self.lost:
            raise self._lease_lost(name)

    def hinted(self) -> None:
        """Read the log, at once or soon."""
        if not self._begin_exchange():
            self.unread = True
            self._continue()

    def told(self, news: Tail) -> bool:
        """Apply what another session says has been appended; return False if it is read instead."""
        # A session that has to read may have met a server that has lost what the news are about.
        is_due = not (self.is_busy or self.unread or self.lost)
        fresh = self.replica.continued_by(news) if is_due else None
        if fresh is None or len(fresh.entries) > AT_ONCE:
            self.hinted()
            return False
        try:  # any user of a server can say anything
            known = {data: Operation.decode(data) for data in fresh.entries}
        except ValueError:
            self.hinted()
            return False
        self.is_busy = True
        self._take_at_once(Received(fresh, False, 0), known)
        return True

    def _lease_lost(self, name: str) -> LeaseLost:
        return LeaseLost(name, why=self.lost)

    def lose(self, why: str = LEASE_ENDED) -> None:
        """End all waits: the session is over."""
        self.lost = why
        self.waits.lose(why)
        for done in self.readers:
            done.set()
        self._tell_watchers()

    # ==== For the session ====

    async def drive(self) -> None:
        """Do what no other task does, until the session is over."""
        backoff = BACKOFF
        while not self.lost:
            while not self.received and (self.is_busy or not self._is_work_left()):
                self.work = trio.Event()
                await self.work.wait()
            if self.failure is not None:
                raise self.failure
            self.is_busy = True
            try:
                await self._exchange()
            except DeliveryFailed:
                self.unread = True
                await trio.sleep(backoff)
                backoff = min(2 * backoff, LONGEST_BACKOFF)
            else:
                backoff = BACKOFF
            finally:
                self.is_busy = False

    async def _exchange(self) -> None:
        """Send what is to be sent, read, and compact the log if it is long.

        Raises:
          DeliveryFailed: if some of that is to be done again.
        """
        if not self.received and (self.outbox or self.unread):
            self.unread = False
            entries, readers = [*self.outbox], len(self.readers)
            tail = await self.engine.append(self.name, entries, self.replica.position)
            self.received.append(Received(tail, bool(entries), readers))
        if self.lost:
            return
        while self.received:
            received = self.received.pop()
            while self.replica.position + AT_ONCE < received.end:
                self._note(self.replica.advance(received.tail, self.outbox, AT_ONCE), received.told)
                await trio.lowlevel.checkpoint()  # the other tasks of this process have work, too
            self._take(received, self.outbox)
        if self.is_long:
            self.is_long = False
            self.replica.since -= (
                COMPACT_AFTER // 10
            )  # if it is not taken, it is offered again a while later
            with suppress(DeliveryFailed):
                await self.engine.compact(
                    self.name, self.replica.position, self.replica.core.encode()
                )
                # The entries are dropped when all have read them.
                others = self.replica.core.sessions.keys() - {self.session}
                self.engine.hint(dict.fromkeys(others), self.name)

    def _begin_exchange(self) -> bool:
        """Send what is to be sent, and have it read, if that needs no task; return whether it has begun."""
        if self.is_busy or self.lost or self.failure is not None:
            return False
        unread, self.unread, self.is_busy = self.unread, False, True
        entries, readers = [*self.outbox], len(self.readers)
        told: dict[str, Tail] = {}
        if self.engine.tells:
            told = self.replica.foreseen(self.outbox.values(), AT_ONCE)

        def done(tail: Tail | None) -> None:
            if tail is None:
                self.unread = True
            elif not self.lost:
                received = Received(tail, bool(entries), readers, told)
                if self.replica.position + AT_ONCE < received.end:
                    self.received.append(received)
                    self.work.set()
                    return
                self._take_at_once(received, self.outbox)
                return
            self.is_busy = False
            self._continue()

        begun = False
        try:
            begun = self.engine.append_soon(self.name, entries, self.replica.position, done, told)
        except Exception as error:  # noqa: BLE001 - it is the session's, not of the task that asks
            self.failure = error
        if not begun:
            self.unread, self.is_busy = unread, False
        return begun

    def _take_at_once(self, received: Received, known: Mapping[bytes, Operation]) -> None:
        try:
            self._take(received, known)
        except Exception as error:  # noqa: BLE001 - it is the session's, not of the task that asks
            self.failure = error
        self.is_busy = False
        if not (self.outbox or self.unread) or not self._begin_exchange():
            self._continue()

    def _continue(self) -> None:
        """Have the task in the background do what is left, once no answer is outstanding."""
        if not self.is_busy and self._is_work_left():
            self.work.set()

    def _is_work_left(self) -> bool:
        return bool(self.outbox or self.unread or self.is_long or self.failure)

    def _take(self, received: Received, known: Mapping[bytes, Operation]) -> None:
        self._note(self.replica.advance(received.tail, known), received.told)
        # A session that writes offers a snapshot; one that only reads leaves it to the others.
        has_written = received.has_written or self.is_long
        self.is_long = self.replica.since > COMPACT_AFTER and has_written
        for done in self.readers[: received.readers]:
            done.set()
        del self.readers[: received.readers]

    def _note(self, applied: list[tuple[Operation, list[Outcome]]], told: Collection[str]) -> None:
        others: set[str] = set()
        for operation, outcomes in applied:
            for one in outcomes:
                if one.key[0] == self.session:
                    self.waits.resolve(one)
                elif operation.session == self.session:
                    others.add(one.key[0])
        confirmed = self.replica.core.sessions.get(self.session, -1)
        for entry in [*self.outbox]:
            if self.outbox[entry].number > confirmed:
                break
            del self.outbox[entry]
        if others := others.difference(told):
            news = {other: self.replica.news_for(other, AT_ONCE) for other in others}
            self.engine.hint(news, self.name)
        if applied:
            self._tell_watchers()

    def _tell_watchers(self) -> None:
        for watcher in [*self.watchers]:
            watcher()

    def token_of(self, number: int) -> int:
        """Return the token of what was granted under this number; 0 if it is not held."""
        place = self.replica.core.places.get((self.session, number))
        return 0 if place is None else place.token

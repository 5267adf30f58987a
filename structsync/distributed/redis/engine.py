"""``redis://``: the log on a server, leases, and a push that tells another session to look.

What a session does about a server that is away, was started anew or has been replaced: it connects again, and
asks. If the log has lost something that the session has read, the session is over; and for as long as another
session may still believe that it holds what the log has lost, nothing is appended (the grace period).
"""

from __future__ import annotations

import logging
import math
import secrets
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import hiredis
import trio

import structsync
from structsync._core.shared.history import History, Mark
from structsync._core.shared.operations import Operation, Verb
from structsync._core.shared.plain import digest
from structsync._core.shared.state import VERSION
from structsync.distributed.client import BACKOFF, LONGEST_BACKOFF
from structsync.distributed.engine import LONGEST, Appended, Hinted, Received, Renewal, Tail
from structsync.distributed.errors import DeliveryFailed, SessionEnded

from .address import Address
from .connection import Command, Connection
from .news import NEWS, UNSEEN, Seen, read, understood, written
from .server import greet

SCRIPT = Path(__file__).with_name("log.lua").read_text(encoding="utf-8")

#: Errors after which a new connection, perhaps to another server, has the request carried out.
ELSEWHERE = frozenset(["LOADING", "MASTERDOWN", "NOSCRIPT", "READONLY"])
#: Errors of a server that may carry it out later.
LATER = frozenset(["BUSY", "MISCONF", "NOREPLICAS", "OOM"])
MICROSECONDS = 1_000_000
#: What a message begins with, and no name of a log does, because it is not UTF-8.
MESSAGE = b"\xff"
#: In bytes: of messages that are on their way at a time. What renews a lease comes behind them.
UNSENT = 4 * (LONGEST + len(MESSAGE))

_log = logging.getLogger("structsync")


class RedisEngine:
    """One session of a namespace on a server."""

    recheck: float = math.inf
    forgets: bool = True
    tells: bool = True
    address: Address
    namespace: str
    base: str  # the names of all keys begin with it, and with a hash tag: they are in one place
    patience: float  # in seconds; a server silent for so long is gone
    identity: str
    joining: tuple[str | bytes | int, ...]  # what the server is told of a session
    seen: dict[str, Seen]  # of each log
    connection: Connection
    connected: trio.Event
    room: structsync.Semaphore  # for messages, in bytes
    script: str  # its name
    hinted: Hinted
    received: Received

    def __init__(self, address: Address, namespace: str) -> None:
        self.address = address
        self.namespace = namespace
        self.base = f"{{structsync:{namespace}}}"
        self.seen = {}
        self.connected = trio.Event()
        self.room = structsync.Semaphore(UNSENT, checkpoint="budget")
        self.hinted = lambda log, news=None: False
        self.received = lambda message: None

    # ==== A session ====

    async def open(self, ttl: float) -> str:
        self.patience = ttl / 4
        self.identity = secrets.token_hex(8)
        lasts = round(ttl * MICROSECONDS)
        self.joining = (lasts, VERSION, *_comes_and_goes(self.identity))
        place = self.address.place
        try:
            with trio.fail_after(ttl):  # a join that takes longer keeps no lease alive
                await self._join(ttl)
        except DeliveryFailed as error:
            raise ConnectionError(f"{place} {error}") from None
        except trio.TooSlowError:
            raise TimeoutError(f"{place} has not answered within ttl={ttl:g} seconds") from None
        self.connected.set()
        _log.info(
            "session %s in the namespace %r of %s, database %d",
            self.identity, self.namespace, place, self.address.db,
        )  # fmt: skip
        return self.identity

    async def _join(self, ttl: float) -> None:
        self.connection = await self._connect()
        try:
            (reply,) = await self.connection.exchange(self._command("open", *self.joining))
            self._check_opened(reply, ttl)
        except BaseException:
            await self.connection.close()
            raise

    def _check_opened(self, reply: Any, ttl: float) -> None:
        if isinstance(reply, hiredis.ReplyError):
            raise RuntimeError(f"{self.address.place} refuses the script of the log: {reply}")
        word, *details = reply
        if word == b"version":
            raise RuntimeError(
                f"the namespace {self.namespace!r} is in use in version {int(details[0])}, and this "
                f"structsync speaks {VERSION}; use one version in all processes"
            )
        if word == b"ttl":
            raise ValueError(
                f"the namespace {self.namespace!r} is in use with ttl={int(details[0]) / MICROSECONDS:g}, "
                f"not {ttl:g}; all its sessions need one ttl"
            )

    async def listen(
        self, hinted: Hinted, received: Received, task_status: trio.TaskStatus[None]
    ) -> None:
        self.hinted, self.received = hinted, received
        task_status.started()
        backoff = BACKOFF
        while True:
            try:
                await self.connection.run()
            finally:
                self.connected = trio.Event()
            _log.warning("the connection to %s has ended; trying again", self.address.place)
            await self.connection.close()
            while not self.connection.is_usable:
                try:
                    with trio.fail_after(self.patience):
                        self.connection = await self._connect()
                except (OSError, RuntimeError, DeliveryFailed, trio.TooSlowError):
                    await trio.sleep(backoff)
                    backoff = min(2 * backoff, LONGEST_BACKOFF)
            backoff = BACKOFF
            self.connected.set()
            for log in self.seen:
                hinted(log)

    async def append(self, log: str, operations: Sequence[bytes], after: int) -> Tail:
        seen = self.seen.get(log, UNSEEN)
        while True:
            reply = await self._call("append", log, *seen, 0, *operations)
            if reply[0] == b"unknown":
                raise DeliveryFailed  # the next renewal tells the server of this session
            if reply[0] != b"grace":
                break
            await trio.sleep(reply[1] / MICROSECONDS)
        return self._tail_of(log, seen[0], operations, reply)

    def append_soon(
        self,
        log: str,
        operations: Sequence[bytes],
        after: int,
        done: Appended,
        told: Mapping[str, Tail],
    ) -> bool:
        if not self.connected.is_set():
            return False

        def take(reply: Any) -> None:
            if isinstance(reply, list) and (reply[0] == b"ok" or type(reply[0]) is int):
                if reply[0] == b"ok":  # then the script has told them nothing
                    self.hint(dict.fromkeys(told), log)
                done(self._tail_of(log, seen[0], operations, reply))
            else:
                done(None)

        seen = self.seen.get(log, UNSEEN)
        words = [one for session, news in told.items() for one in (session, written(log, news))]
        command = self._command("append", log, *seen, len(told), *words, *operations)
        self.connection.post_then(take, *command)
        return True

    def linger(self) -> None:
        self.connection.linger()

    def _tail_of(
        self, log: str, position: int, operations: Sequence[bytes], reply: list[Any]
    ) -> Tail:
        if reply[0] == b"ok":
            _, start, snapshot, before, begins, lines = reply
        else:
            start, snapshot, before = position, None, None
            begins, *lines = reply
        entries, stamps = read(lines)
        entries += operations
        stamps += range(begins, begins + len(operations))
        if entries:  # behind a snapshot there are some: at least that by which others compare
            self.seen[log] = (start + len(entries), b"%d" % stamps[-1])
        return Tail(start, entries, snapshot, stamps, int(before or 0))

    async def renew(
        self, read: Mapping[str, int], history_of: Callable[[str], History | None]
    ) -> Renewal:
        while True:
            known = [detail for log, seen in self.seen.items() for detail in (log, *seen)]
            word, *details = await self._call("renew", *known)
            if word == b"unknown":
                await self._call("rejoin", *self.joining)
            elif word == b"lost":
                for log in details:
                    name = bytes(log).decode()
                    await self._call("restore", name, *_written(history_of(name)))
            else:
                break
        earliest, *ends = details
        named = {ends[n].decode(): ends[n + 1] for n in range(0, len(ends), 2)}
        return Renewal(named, earliest / MICROSECONDS)

    def hint(self, sessions: Mapping[str, Tail | None], log: str) -> None:
        for session, news in sessions.items():
            said = log.encode() if news is None else written(log, news)
            self.connection.post("PUBLISH", f"{self.base}:to:{session}", said)

    async def send(self, session: str, message: bytes) -> bool:
        if not self.connected.is_set():
            with trio.move_on_after(self.patience):
                await self.connected.wait()
            return False
        channel = f"{self.base}:to:{session}"
        data = MESSAGE + message
        async with self.room.permits(len(data)):
            reply = await self.connection.post("PUBLISH", channel, data).wait()
        if isinstance(reply, hiredis.ReplyError):
            self._fail(str(reply))
        return bool(reply)

    async def drain(self, session: str) -> None:
        await trio.lowlevel.checkpoint()

    async def compact(self, log: str, position: int, snapshot: bytes) -> None:
        entry = Operation(Verb.DIGEST, "", 0, (digest(snapshot),)).encode()
        await self._call("compact", log, position, snapshot, entry)

    async def close(self) -> None:
        try:
            if not self.connection.is_usable:
                await self.connection.close()
                self.connection = await self._connect()
            await self.connection.exchange(self._command("close"))
        except (OSError, RuntimeError, DeliveryFailed):
            _log.warning("%s could not be told that a session has ended", self.address.place)
        finally:
            await self.connection.close()

    # ==== Requests ====

    async def _connect(self) -> Connection:
        connection = Connection(await self.address.connect(), self._pushed, self.patience)
        try:
            channel = f"{self.base}:to:{self.identity}"
            self.script = await greet(connection, self.address, channel, SCRIPT)
        except BaseException:
            await connection.close()
            raise
        return connection

    def _pushed(self, said: list[Any]) -> None:
        # Any user of the server can send anything: it is a message, the name of a log, news of it, or nothing.
        if said[0] == b"message" and isinstance(said[-1], bytes):
            if said[-1].startswith(MESSAGE):
                self.received(said[-1].removeprefix(MESSAGE))
            elif said[-1].startswith(NEWS):
                self._take_news(said[-1])
            else:
                self.hinted(said[-1].decode(errors="replace"))

    def _take_news(self, said: bytes) -> None:
        log, news = understood(said)
        # What comes while a session connects may tell of what this server has lost; so it is read first.
        is_taken = self.hinted(log, news if self.connected.is_set() else None)
        if is_taken and news is not None:
            self.seen[log] = (news.start + len(news.entries), b"%d" % news.stamps[-1])

    def _command(self, verb: str, *details: str | bytes | int) -> Command:
        return ("EVALSHA", self.script, 1, self.base, verb, self.identity, *details)

    async def _call(self, verb: str, *details: str | bytes | int) -> Any:
        """Call the script, and return what it says.

        Raises:
          SessionEnded: if the session is over.
          DeliveryFailed: if there is no answer in time, or none but that it cannot be done now.
          RuntimeError: if it can never be done.
        """
        if not self.connected.is_set():
            with trio.move_on_after(self.patience):
                await self.connected.wait()
            raise DeliveryFailed  # ask again, on the new connection
        reply = await self.connection.post(*self._command(verb, *details)).wait()
        if isinstance(reply, hiredis.ReplyError):
            self._fail(str(reply))
        if reply[0] == b"ended":
            raise SessionEnded
        return reply

    def _fail(self, problem: str) -> NoReturn:
        word = problem.partition(" ")[0]
        if word in ELSEWHERE:
            self.connection.drop()  # a new one begins with the script, or leads to the new primary
        if word in ELSEWHERE | LATER:
            raise DeliveryFailed(problem)
        raise RuntimeError(f"{self.address.place} refuses what a session needs: {problem}")


def _comes_and_goes(session: str) -> tuple[bytes, bytes]:
    """Return what is written into a log when a session joins, and when it ends."""
    join, end = (Operation(verb, session).encode() for verb in (Verb.JOIN, Verb.END))
    return join, end


def _written(history: History | None) -> list[str | bytes | int]:
    """Return a history as the script takes it; what was received and not applied yet is brought later."""
    assert history is not None, "a log that a session has read has a history"
    written: list[str | bytes | int] = [history.position, history.stamp]
    for place in (history.base, history.mark or Mark()):
        written += [place.position, place.stamp, place.state or b""]
    written.append(len(history.sessions))
    for session in history.sessions:
        written += [session, *_comes_and_goes(session)]
    return written + [b"%d %b" % one for one in history.entries]

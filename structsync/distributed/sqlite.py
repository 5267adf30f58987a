"""``sqlite:///path``: several processes on one machine, and no server.

The log is in a SQLite file; a datagram to a Unix socket tells another process to look into it; a process
that dies is noticed by its pidfd. So there is no lease, and none is lost because a process was slow.

A short transaction takes less time than a worker thread, so it is carried out at once, in trio's own. What may
take long runs in a worker thread: long reads, and all that waits for the disk. SQLite's own waiting for the
write lock is off: it would sleep where no cancellation reaches it. A task that finds the lock taken sleeps in
trio, for a random while.
"""

from __future__ import annotations

import os
import random
import socket
import sqlite3
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import trio

from .database import is_busy, refusal
from .engine import Appended, Hinted, Received, Renewal, Tail
from .errors import SessionEnded
from .lines import Lines
from .log_file import LogFile, number_of
from .processes import Process

T = TypeVar("T")

#: In seconds: how long a task sleeps at most before it tries again to get SQLite's write lock.
PAUSE = 0.003
#: In entries: more than these are read in a worker thread.
MANY = 100
#: In bytes: of a hint; a longer one is lost.
LONGEST_HINT = 65536
#: After so many transactions a session brings to the disk what was written.
CHECKPOINT_AFTER = 1000


class SQLiteEngine:
    """One session of a file, in one namespace."""

    recheck: float = 1.0
    forgets: bool = False
    tells: bool = False
    file: LogFile
    namespace: str
    thread: trio.CapacityLimiter
    watched: set[Process]
    receiver: trio.socket.SocketType
    sender: socket.socket
    lines: Lines
    nursery: trio.Nursery
    listens: bool  # whether the nursery takes more tasks
    full: trio.Event  # there is much that has not reached the disk

    def __init__(self, path: Path, namespace: str) -> None:
        if not path.parent.is_dir():
            raise ValueError(
                f"there is no folder {path.parent}; make it before the session is opened"
            )
        if path.is_dir():
            raise ValueError(f"{path} is a folder; give the path of a file in it")
        self.file = LogFile(path)
        self.namespace = namespace
        self.thread = trio.CapacityLimiter(1)  # a connection serves one thread at a time
        self.watched = set()
        self.listens = False
        self.full = trio.Event()

    async def open(self, ttl: float) -> str:
        try:
            number = await self._in_thread(self.file.open)
        except sqlite3.Error as error:
            raise refusal(self.file.path, error) from error
        # No checkpoint from here on: a cancelled task would leave a session of a process that lives.
        self.lines = Lines(f"{self.file.address}calls-", number, self.file.identity)
        self.receiver = trio.socket.from_stdlib_socket(self.file.receiver)
        self.sender = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.sender.setblocking(False)
        return self.file.identity

    async def listen(
        self, hinted: Hinted, received: Received, task_status: trio.TaskStatus[None]
    ) -> None:
        with self.receiver:
            async with trio.open_nursery() as self.nursery:
                await self.nursery.start(self.lines.serve, received)
                self.nursery.start_soon(self._keep_saving)
                self.listens = True
                task_status.started()
                hint = bytearray(LONGEST_HINT)
                try:
                    while True:
                        # Any process on this machine can send anything: it is the name of a log, or nothing.
                        length = await self.receiver.recv_into(hint)
                        hinted(hint[:length].decode(errors="replace"))
                finally:
                    self.listens = False

    async def append(self, log: str, operations: Sequence[bytes], after: int) -> Tail:
        key = self._key(log)
        tail = await self._transact(lambda: self.file.append(key, operations, after))
        assert tail is not None, "it is refused only if it is too much"
        self._note_written(operations)
        return tail

    def append_soon(
        self,
        log: str,
        operations: Sequence[bytes],
        after: int,
        done: Appended,
        told: Mapping[str, Tail],
    ) -> bool:
        if self.thread.borrowed_tokens:
            return False  # the connection is in use
        try:
            tail = self.file.append_now(self._key(log), operations, after, MANY)
        except (sqlite3.Error, SessionEnded):
            return False  # it is met again where it can be waited for, or ends the session
        if tail is None:
            return False
        self._note_written(operations)
        done(tail)
        return True

    def linger(self) -> None:
        """What is begun has ended."""

    def _note_written(self, operations: Sequence[bytes]) -> None:
        self.file.unsaved += bool(operations)
        if self.file.unsaved >= CHECKPOINT_AFTER:
            self.full.set()

    async def _keep_saving(self) -> None:
        while True:
            await self.full.wait()
            try:
                await trio.to_thread.run_sync(self.file.checkpoint)
            except sqlite3.Error as error:
                if not is_busy(error):
                    raise refusal(self.file.path, error) from error
            self.full = trio.Event()

    async def renew(self, read: Mapping[str, int], history_of: Callable[[str], object]) -> Renewal:
        await self._sweep()
        keys = {self._key(log): position for log, position in read.items()}
        ends = await self._transact(lambda: self.file.renew(keys))
        others = await self._in_time(self.file.others)
        if self.listens:  # a thread is not cancelled, so the session may have ended meanwhile
            for process in {*others.values()} - self.watched:
                self.watched.add(process)
                self.nursery.start_soon(self._watch, process)
        return Renewal({self._name(key): end for key, end in ends.items()})

    def hint(self, sessions: Collection[str], log: str) -> None:
        for session in sessions:
            self._send(number_of(session), log)

    async def send(self, session: str, message: bytes) -> bool:
        try:
            number = number_of(session)
        except ValueError:  # it only claims to be that
            return False
        return await self.lines.send(session, number, message)

    async def drain(self, session: str) -> None:
        await self.lines.drain(session)

    async def compact(self, log: str, position: int, snapshot: bytes) -> None:
        await self._transact(lambda: self.file.offer(self._key(log), position, snapshot))

    async def close(self) -> None:
        try:
            with self.sender:
                await self._bury([self.file.number])
        except OSError:
            pass  # the others do so, as soon as the address is free
        finally:
            self.receiver.close()
            with trio.CancelScope(shield=True):
                await self._in_thread(self.file.close)

    # ==== Names ====

    def _key(self, log: str) -> str:
        return f"{self.namespace}/{log}"

    def _name(self, key: str) -> str:
        return key.removeprefix(f"{self.namespace}/")

    # ==== Transactions ====

    async def _in_thread(self, function: Callable[[], T]) -> T:
        return await trio.to_thread.run_sync(function, limiter=self.thread)

    async def _in_time(self, function: Callable[[], T]) -> T:
        """Run a function in the thread; again and again, while others are in the way.

        Raises:
          OSError: if the file cannot be used.
        """
        while True:
            try:
                return await self._in_thread(function)
            except sqlite3.Error as error:
                if not is_busy(error):
                    raise refusal(self.file.path, error) from error
            await trio.sleep(random.uniform(0, PAUSE))

    async def _transact(self, function: Callable[[], T]) -> T:
        """Run a function in a transaction that writes."""

        def transact() -> T:
            self.file.begin()
            with self.file.db:
                return function()

        return await self._in_time(transact)

    # ==== Other processes ====

    def _send(self, number: int, log: str) -> None:
        try:
            self.sender.sendto(log.encode(), self.file.address_of(number))
        except OSError:
            pass  # the reader is gone, or has so many that one more says nothing; it is a hint

    async def _watch(self, process: Process) -> None:
        """Bury the sessions of a process as soon as it is dead; if it only runs another program, that is seen later."""
        try:
            pidfd = os.pidfd_open(process.pid)
        except ProcessLookupError:
            pass
        else:
            try:
                await trio.lowlevel.wait_readable(pidfd)
            finally:
                os.close(pidfd)
        await self._sweep()
        self.watched.discard(process)

    async def _sweep(self) -> None:
        if dead := await self._in_time(self.file.dead):
            await self._bury(dead)

    async def _bury(self, sessions: Iterable[int]) -> None:
        for number, key in await self._transact(lambda: self.file.end(sessions)):
            self._send(
                number, key.rpartition("/")[2]
            )  # a namespace may have slashes, a log has none

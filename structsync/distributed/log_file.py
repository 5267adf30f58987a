"""The log in a SQLite file: what one transaction does.

A transaction waits for nothing: it is refused while another process writes, and its commit leaves the disk
alone. What reaches the disk does so in :meth:`LogFile.checkpoint`.
"""

from __future__ import annotations

import socket
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from structsync._core.shared.operations import Operation, Verb
from structsync._core.shared.plain import digest
from structsync._core.shared.state import VERSION

from . import database, forks
from .addresses import base_of, is_taken, take
from .engine import Tail
from .errors import SessionEnded
from .processes import Process, is_alive, this_process
from .saving import save

#: The position behind the last entry. It is not kept beside the entries: to write that takes as long as an entry.
END = "coalesce((SELECT max(position) + 1 FROM entries WHERE entries.log = logs.log), start)"

#: A log, as far as a session that takes part in it has to know. It takes part only while it is alive.
PART = f"""
SELECT start, {END}, offered FROM members JOIN logs USING (log) JOIN sessions ON id = session
WHERE session = ? AND log = ?
"""

#: Appends one operation if nothing has come behind what the session has read: then it takes part still, because
#: what ends a session comes there. It is a transaction by itself.
NEXT = "INSERT OR IGNORE INTO entries VALUES (?, ?, ?)"

#: Sessions that are to be told, each of a log.
Told = list[tuple[int, str]]


class LogFile:
    """One session's connection to the file."""

    path: Path
    process: Process
    db: sqlite3.Connection
    address: str  # what the addresses of all sessions begin with; their numbers follow
    receiver: socket.socket  # at our address
    number: int
    unsaved: int  # transactions since the last checkpoint of this session
    up_to_date: set[str]  # logs in which it is, and of which it had read all when it appended

    def __init__(self, path: Path) -> None:
        self.path = path

    def open(self) -> int:
        """Begin a session, and return its number, which no other one ever has."""
        self.process = this_process()
        self.unsaved = 0
        self.up_to_date = set()
        self._check_not_parents()
        # busy_timeout is 0 afterwards: a task that finds it locked sleeps in trio
        self.db = database.connect(self.path, database.OPENING, "rwc")
        self.address = ""
        try:
            self.address = base_of(self.path)
            forks.files[self.address] += 1
            database.begin(self.db, self.path)
            self.begin()
            with self.db:
                database.make_tables(self.db)
                self._check()
                self.number = self._add()
                # Before others can see the session: without an address they would end it.
                self.receiver = take(self.address_of(self.number))
            self.db.execute("PRAGMA busy_timeout = 0")
        except BaseException:
            self._disconnect()
            raise
        return self.number

    def _check_not_parents(self) -> None:
        """Raise RuntimeError if SQLite takes locks of the parent for ours: see :mod:`.forks`."""
        try:
            is_parents = base_of(self.path) in forks.parents_files
        except FileNotFoundError:
            return
        if is_parents:
            raise RuntimeError(
                f"{self.path} was in use in the process that this one was forked from, and SQLite's locks do not work "
                'after that; start this process by spawn, as multiprocessing.get_context("spawn") does, or before '
                "the sessions of its parent are opened"
            )

    def _disconnect(self) -> None:
        self.db.close()
        forks.files[self.address] -= 1

    def check_in_place(self) -> None:
        """Raise RuntimeError if sessions that begin now would meet in another file."""
        try:
            found = base_of(self.path)
        except OSError:
            found = None
        if found != self.address:
            raise RuntimeError(
                f"{self.path} was deleted or replaced while sessions used it, so that new ones do not meet them; "
                "end all sessions before that"
            )

    def checkpoint(self) -> None:
        """Bring what was written to the disk, while others write."""
        self.unsaved = 0
        self.check_in_place()
        save(self.path)

    def address_of(self, number: int) -> str:
        return f"{self.address}{number}"

    def close(self) -> None:
        self.receiver.close()
        self._disconnect()

    def begin(self) -> None:
        """Begin a transaction that writes; ``with db:`` ends it."""
        self.db.execute("BEGIN IMMEDIATE")

    def _check(self) -> None:
        (versions,) = self.db.execute("SELECT group_concat(version) FROM about").fetchone()
        if versions is None:
            self.db.execute("INSERT INTO about VALUES (?)", (VERSION,))
        elif versions != str(VERSION):
            raise RuntimeError(
                f"{self.path} is written in version {versions}, and this structsync speaks {VERSION}; use "
                "one version in all processes, or a new file"
            )
        unseen = [
            f"{name_of(number)} of process {process.pid} in {process.container} and {process.network}"
            for number, process in self._sessions().items()
            if self._is_out_of_sight(number, process)
        ]
        if unseen:
            raise RuntimeError(
                f"{self.path} is in use in another container or network namespace, whose processes cannot be seen "
                f"from here: by {', '.join(unseen)}; run all of them in one, or share one server instead; if they "
                "are gone, nothing uses the file: delete it"
            )

    def _is_out_of_sight(self, number: int, process: Process) -> bool:
        """Return whether a session may be alive with which we cannot share the file."""
        here = self.process
        if process.boot != here.boot:
            return False
        is_heard = process.network == here.network
        if process.container == here.container:
            return not is_heard and is_alive(process)
        return not is_heard or is_taken(self.address_of(number))

    def _add(self) -> int:
        columns = ", ".join(Process._fields)
        insert = f"INSERT INTO sessions ({columns}) VALUES (?, ?, ?, ?) RETURNING id"
        ((number,),) = self.db.execute(insert, self.process).fetchall()
        return int(number)

    # ==== Logs ====

    def append_now(
        self, log: str, operations: Sequence[bytes], after: int, at_most: int
    ) -> Tail | None:
        """Append operations, if that takes little time and no other process writes, in a transaction of its own."""
        if log in self.up_to_date and self._is_next(log, operations, after):
            return Tail(after, operations)
        if operations:
            self.begin()
        else:
            self.db.execute("BEGIN")
        with self.db:
            return self.append(log, operations, after, at_most)

    def append(
        self, log: str, operations: Sequence[bytes], after: int, at_most: int | None = None
    ) -> Tail | None:
        """Append operations, and return what is in the log since a position.

        Returns None, with nothing done, if that is more than ``at_most`` entries; or if there is more to write: the
        session is new to the log, or others want to know how far it has read.
        """
        found = self.db.execute(PART, (self.number, log)).fetchone()
        if found is None:
            if at_most is not None:
                return None
            found = self._join(log)
        start, end, offered = found
        if at_most is not None and (
            end - after > at_most or (offered is not None and not operations)
        ):
            return None
        if offered is not None:
            start = self._has_read(log, after, start)
        self._write(log, end, operations)
        if after == end:
            self.up_to_date.add(log)
            return Tail(after, operations)
        self.up_to_date.discard(log)
        snapshot = None
        if after < start:
            query = "SELECT snapshot FROM logs WHERE log = ?"
            (snapshot,) = self.db.execute(query, (log,)).fetchone()
            after = start
        entries = self.db.execute(
            "SELECT data FROM entries WHERE log = ? AND position >= ? ORDER BY position",
            (log, after),
        )
        return Tail(after, [data for (data,) in entries], snapshot)

    def _is_next(self, log: str, operations: Sequence[bytes], after: int) -> bool:
        """Append the only operation if it is the next entry after this position, and return whether it is."""
        if len(operations) != 1:
            return False
        return self.db.execute(NEXT, (log, after, operations[0])).rowcount == 1

    def _join(self, log: str) -> tuple[int, int, int | None]:
        self._check_alive()
        db = self.db
        db.execute("INSERT OR IGNORE INTO logs VALUES (?, 0, NULL, NULL, NULL)", (log,))
        query = f"SELECT start, {END}, offered FROM logs WHERE log = ?"
        start, end, offered = db.execute(query, (log,)).fetchone()
        db.execute("INSERT INTO members VALUES (?, ?, ?)", (self.number, log, end))
        return start, self._write(log, end, [Operation(Verb.JOIN, self.identity).encode()]), offered

    @property
    def identity(self) -> str:
        return name_of(self.number)

    def _check_alive(self) -> None:
        query = "SELECT 1 FROM sessions WHERE id = ?"
        if not self.db.execute(query, (self.number,)).fetchone():
            raise SessionEnded

    def _write(self, log: str, end: int, operations: Iterable[bytes]) -> int:
        for data in operations:
            self.db.execute("INSERT INTO entries VALUES (?, ?, ?)", (log, end, data))
            end += 1
        return end

    def _has_read(self, log: str, position: int, start: int) -> int:
        """Take note of how far we have read; drop what no session needs, and return the new start."""
        db = self.db
        db.execute(
            "UPDATE members SET read = ? WHERE session = ? AND log = ? AND read < ?",
            (position, self.number, log, position),
        )
        query = "SELECT offered FROM logs WHERE log = ? AND offered <= (SELECT min(read) FROM members WHERE log = ?)"
        found = db.execute(query, (log, log)).fetchone()
        if found is None:
            return start
        db.execute("DELETE FROM entries WHERE log = ? AND position < ?", (log, *found))
        db.execute(
            "UPDATE logs SET start = offered, snapshot = offer, offered = NULL, offer = NULL WHERE log = ?",
            (log,),
        )
        return int(found[0])

    def offer(self, log: str, position: int, snapshot: bytes) -> None:
        """Take a state in place of the entries before it, if it is the last one and the only one."""
        self._check_alive()
        offered = self.db.execute(
            f"UPDATE logs SET offered = ?, offer = ? WHERE log = ? AND {END} = ? AND offered IS NULL",
            (position, snapshot, log, position),
        )
        if offered.rowcount:
            entry = Operation(Verb.DIGEST, "", 0, (digest(snapshot),))
            self._write(log, position, [entry.encode()])

    # ==== Sessions ====

    def renew(self, read: Mapping[str, int]) -> dict[str, int]:
        """Take note of how far we have read, and return the ends of our logs."""
        self.check_in_place()
        self._check_alive()
        query = f"SELECT log, start, {END} FROM logs JOIN members USING (log) WHERE session = ?"
        ends = {}
        for log, start, end in self.db.execute(query, (self.number,)).fetchall():
            self._has_read(log, read.get(log, 0), start)
            ends[log] = end
        return ends

    def _sessions(self) -> dict[int, Process]:
        rows = self.db.execute(f"SELECT id, {', '.join(Process._fields)} FROM sessions")
        return {number: Process(*fields) for number, *fields in rows.fetchall()}

    def others(self) -> dict[int, Process]:
        """Return the processes of all sessions but those of this process."""
        return {
            number: process
            for number, process in self._sessions().items()
            if process != self.process
        }

    def dead(self) -> list[int]:
        """Return the sessions that have ended without a word in the file.

        A process that has forked leaves its sockets to the other one, so that it has to be alive itself, too.
        """
        return [
            number
            for number, process in self._sessions().items()
            if not (is_taken(self.address_of(number)) and is_alive(process))
        ]

    def end(self, sessions: Iterable[int]) -> Told:
        """End sessions, and return which members may be let in by that."""
        told: dict[tuple[int, str], None] = {}
        for number in sessions:
            self.db.execute("DELETE FROM sessions WHERE id = ?", (number,))
            leave = "DELETE FROM members WHERE session = ? RETURNING log"
            for (log,) in self.db.execute(leave, (number,)).fetchall():
                query = f"SELECT {END} FROM logs WHERE log = ?"
                (end,) = self.db.execute(query, (log,)).fetchone()
                self._write(log, end, [Operation(Verb.END, name_of(number)).encode()])
                members = "SELECT session, log FROM members WHERE log = ?"
                told |= dict.fromkeys(self.db.execute(members, (log,)).fetchall())
        return [*told]


def name_of(number: int) -> str:
    return f"session {number}"


def number_of(identity: str) -> int:
    return int(identity.removeprefix("session "))

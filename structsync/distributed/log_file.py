"""The log in a SQLite file: what one transaction does. All of it runs in a worker thread."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from structsync._core.shared.operations import Operation, Verb
from structsync._core.shared.plain import digest
from structsync._core.shared.state import VERSION

from .engine import Tail
from .errors import SessionEnded
from .processes import Process, is_alive, this_process

SCHEMA = """
CREATE TABLE IF NOT EXISTS about (version INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS sessions (
    id INTEGER PRIMARY KEY AUTOINCREMENT, pid INTEGER, started TEXT, container TEXT);
CREATE TABLE IF NOT EXISTS logs (
    log TEXT PRIMARY KEY, start INTEGER, end INTEGER, snapshot BLOB, offered INTEGER, offer BLOB);
CREATE TABLE IF NOT EXISTS entries (
    log TEXT, position INTEGER, data BLOB, PRIMARY KEY (log, position)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS members (
    session INTEGER, log TEXT, read INTEGER, PRIMARY KEY (session, log)) WITHOUT ROWID;
"""

#: In seconds: how long a new session waits for others that write.
OPENING = 5

#: Sessions that are to be told, each of a log.
Told = list[tuple[int, str]]


class LogFile:
    """One session's connection to the file."""

    path: Path
    process: Process
    db: sqlite3.Connection
    number: int

    def __init__(self, path: Path) -> None:
        self.path = path

    def open(self) -> int:
        """Begin a session, and return its number, which no other one ever has."""
        self.process = this_process()
        # busy_timeout is 0 afterwards: a task that finds it locked sleeps in trio
        self.db = sqlite3.connect(
            self.path, timeout=OPENING, isolation_level=None, check_same_thread=False
        )
        try:
            self.db.execute("PRAGMA journal_mode = WAL")
            self.db.execute("PRAGMA synchronous = NORMAL")
            self.db.executescript(SCHEMA)
            self.begin()
            with self.db:
                self._check()
                self.number = self._add()
            self.db.execute("PRAGMA busy_timeout = 0")
        except BaseException:
            self.db.close()
            raise
        return self.number

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
        for (container,) in self.db.execute("SELECT DISTINCT container FROM sessions"):
            if container != self.process.container:
                raise RuntimeError(
                    f"{self.path} is in use in another container, whose processes cannot be seen from "
                    "here; run all of them in one, or share one server instead"
                )

    def _add(self) -> int:
        insert = "INSERT INTO sessions (pid, started, container) VALUES (?, ?, ?) RETURNING id"
        ((number,),) = self.db.execute(insert, self.process).fetchall()
        return int(number)

    # ==== Logs ====

    def append(self, log: str, operations: Sequence[bytes], after: int) -> Tail:
        self._check_alive()
        db = self.db
        db.execute("INSERT OR IGNORE INTO logs VALUES (?, 0, 0, NULL, NULL, NULL)", (log,))
        (start, end) = db.execute("SELECT start, end FROM logs WHERE log = ?", (log,)).fetchone()
        join = "INSERT OR IGNORE INTO members VALUES (?, ?, ?)"
        if db.execute(join, (self.number, log, end)).rowcount:
            end = self._write(log, end, [Operation(Verb.JOIN, self.identity).encode()])
        start = self._has_read(log, after, start)
        self._write(log, end, operations)
        snapshot = None
        if after < start:
            query = "SELECT snapshot FROM logs WHERE log = ?"
            (snapshot,) = db.execute(query, (log,)).fetchone()
            after = start
        entries = db.execute(
            "SELECT data FROM entries WHERE log = ? AND position >= ? ORDER BY position",
            (log, after),
        )
        return Tail(after, [data for (data,) in entries], snapshot)

    @property
    def identity(self) -> str:
        return name_of(self.number)

    def _check_alive(self) -> None:
        query = "SELECT 1 FROM sessions WHERE id = ?"
        if not self.db.execute(query, (self.number,)).fetchone():
            raise SessionEnded

    def _write(self, log: str, end: int, operations: Iterable[bytes]) -> int:
        rows = [(log, position, data) for position, data in enumerate(operations, end)]
        if rows:
            end += len(rows)
            self.db.executemany("INSERT INTO entries VALUES (?, ?, ?)", rows)
            self.db.execute("UPDATE logs SET end = ? WHERE log = ?", (end, log))
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
            "UPDATE logs SET offered = ?, offer = ? WHERE log = ? AND end = ? AND offered IS NULL",
            (position, snapshot, log, position),
        )
        if offered.rowcount:
            entry = Operation(Verb.DIGEST, "", 0, (digest(snapshot),))
            self._write(log, position, [entry.encode()])

    # ==== Sessions ====

    def renew(self, read: Mapping[str, int]) -> dict[str, int]:
        """Take note of how far we have read, and return the ends of our logs."""
        self._check_alive()
        query = "SELECT log, start, end FROM logs JOIN members USING (log) WHERE session = ?"
        ends = {}
        for log, start, end in self.db.execute(query, (self.number,)).fetchall():
            self._has_read(log, read.get(log, 0), start)
            ends[log] = end
        return ends

    def others(self) -> dict[int, Process]:
        """Return the processes of all sessions but those of this process."""
        rows = self.db.execute("SELECT id, pid, started, container FROM sessions").fetchall()
        return {
            number: process
            for number, *fields in rows
            if (process := Process(*fields)) != self.process
        }

    def dead(self) -> list[int]:
        """Return the sessions whose processes have died."""
        return [number for number, process in self.others().items() if not is_alive(process)]

    def end(self, sessions: Iterable[int]) -> Told:
        """End sessions, and return who may be let in by that."""
        told: dict[tuple[int, str], None] = {}
        for number in sessions:
            self.db.execute("DELETE FROM sessions WHERE id = ?", (number,))
            leave = "DELETE FROM members WHERE session = ? RETURNING log"
            for (log,) in self.db.execute(leave, (number,)).fetchall():
                query = "SELECT end FROM logs WHERE log = ?"
                (end,) = self.db.execute(query, (log,)).fetchone()
                self._write(log, end, [Operation(Verb.END, name_of(number)).encode()])
                members = "SELECT session, log FROM members WHERE log = ?"
                told |= dict.fromkeys(self.db.execute(members, (log,)).fetchall())
        return [*told]


def name_of(number: int) -> str:
    return f"session {number}"


def number_of(identity: str) -> int:
    return int(identity.removeprefix("session "))

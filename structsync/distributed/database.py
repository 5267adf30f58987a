"""The SQLite file: how it is connected to, begun, and told apart from the files of other programs."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path

#: In the header of a file that is ours: "ssyn".
APPLICATION = 0x7373796E

SCHEMA = """
CREATE TABLE IF NOT EXISTS about (version INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS sessions (
    id INTEGER PRIMARY KEY AUTOINCREMENT, pid INTEGER, started TEXT, container TEXT, network TEXT);
CREATE TABLE IF NOT EXISTS logs (
    log TEXT PRIMARY KEY, start INTEGER, snapshot BLOB, offered INTEGER, offer BLOB);
CREATE TABLE IF NOT EXISTS entries (
    log TEXT, position INTEGER, data BLOB, PRIMARY KEY (log, position)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS members (
    session INTEGER, log TEXT, read INTEGER, PRIMARY KEY (session, log)) WITHOUT ROWID;
"""

#: In seconds: how long a new session waits for others that write.
OPENING = 5


def connect(path: Path, patience: float, mode: str) -> sqlite3.Connection:
    """Connect to a file; with the mode ``rw`` to one that is there, with ``rwc`` it is made."""
    db = sqlite3.connect(
        f"{path.as_uri()}?mode={mode}",
        uri=True,
        timeout=patience,
        isolation_level=None,
        check_same_thread=False,
    )
    try:
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute("PRAGMA wal_autocheckpoint = 0")
    except BaseException:
        db.close()
        raise
    return db


def begin(db: sqlite3.Connection, path: Path) -> None:
    """Make a new file ours, with a write-ahead log.

    SQLite does not wait where several processes begin with a new file at once; so this does.

    Raises:
      RuntimeError: if it is that of another program, which is left as it is.
    """
    end = time.monotonic() + OPENING
    while True:
        try:
            _check_ours(db, path)
            # Of a new file: an operation writes two pages, of which little is new.
            db.execute("PRAGMA page_size = 1024")
            db.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError:
            if time.monotonic() > end:
                raise
            time.sleep(0.01)
        else:
            return


def make_tables(db: sqlite3.Connection) -> None:
    """Mark the file as ours, in the transaction that makes what is in it."""
    db.execute(f"PRAGMA application_id = {APPLICATION}")
    for statement in SCHEMA.split(";"):
        db.execute(statement)


def _check_ours(db: sqlite3.Connection, path: Path) -> None:
    (version,) = db.execute("PRAGMA user_version").fetchone()
    (tables,) = db.execute("SELECT count(*) FROM sqlite_master").fetchone()
    # Last: another session may make it ours meanwhile, and does so in the transaction that makes the tables.
    (application,) = db.execute("PRAGMA application_id").fetchone()
    if application != APPLICATION and (application or version or tables):
        raise RuntimeError(
            f"{path} is a database of another program; give the sessions a file of their own"
        )


def is_busy(error: sqlite3.Error) -> bool:
    """Return whether another connection is in the way, for any of SQLite's reasons."""
    return _code_of(error) == sqlite3.SQLITE_BUSY


def refusal(path: Path, error: sqlite3.Error) -> Exception:
    """Return the error for a task that opens or uses a session where SQLite raises this one."""
    if _code_of(error) == sqlite3.SQLITE_NOTADB:
        return RuntimeError(
            f"{path} is not a SQLite database; give the sessions a file of their own"
        )
    return OSError(
        f"{path} cannot be used: {error}; it and its folder have to be writable, with room on the disk, and no other "
        f"program may write in it for longer than {OPENING} s"
    )


def _code_of(error: sqlite3.Error) -> int:
    """Return SQLite's result code without its details; an error of Python's own has none."""
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF

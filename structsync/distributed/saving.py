"""How what is in the write-ahead log of a SQLite file reaches the disk, while sessions write."""

from __future__ import annotations

from contextlib import ExitStack, closing
from pathlib import Path

from .database import connect

#: In pages: a write-ahead log that has grown longer is ended, although that keeps others from writing.
LONGEST_WAL = 10_000

#: In seconds: how long a checkpoint waits for others that write.
SAVING = 1


def save(path: Path) -> None:
    """Bring what was written to the disk, and begin the write-ahead log anew.

    Once all is there, the next one to write begins anew, and waits for the disk. That must not be another
    session, which does so in trio's thread; so a reader keeps them from it until this one writes.
    """
    with ExitStack() as stack:
        connections = (closing(connect(path, SAVING, "rw")) for _ in range(3))
        reader, writer, saver = [stack.enter_context(one) for one in connections]
        reader.execute("BEGIN")
        reader.execute("SELECT version FROM about").fetchone()
        checkpoint = "PRAGMA wal_checkpoint(PASSIVE)"
        _, pages, saved = saver.execute(checkpoint).fetchone()
        if saved < pages:
            if pages < LONGEST_WAL:
                return  # others have written meanwhile
            writer.execute("BEGIN IMMEDIATE")
            saver.execute(checkpoint)
            writer.execute("COMMIT")
        writer.execute("BEGIN IMMEDIATE")
        reader.execute("COMMIT")
        with writer:
            (number,) = writer.execute("PRAGMA user_version").fetchone()
            writer.execute(f"PRAGMA user_version = {(number + 1) % 1000}")  # a change

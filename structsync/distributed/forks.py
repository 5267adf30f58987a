"""What a forked process has of the sessions of its parent: copies, which must leave to the parent what is its own.

They have the parent's sockets, so what they send would come from it. And SQLite keeps in the memory of a process which
of its locks on a file it has, of which a fork has a copy, too, but not the locks: two processes could then write at once.
"""

from __future__ import annotations

import os
from collections import Counter
from typing import Protocol
from weakref import WeakSet

import trio


class Left(Protocol):
    """What is the parent's after a fork."""

    def _leave_to_parent(self) -> None: ...


class NoEngine:
    """In place of the engine of a copy: what it would send, its parent may still send."""

    async def send(self, session: str, message: bytes) -> bool:
        await trio.lowlevel.checkpoint()
        return False

    async def close(self) -> None:
        await trio.lowlevel.checkpoint()


#: Of this process; and its files, by what identifies them, with how often each is open.
sessions: WeakSet[Left] = WeakSet()
files: Counter[str] = Counter()

#: Files that were open in the parent, or in its parent, when this process was forked.
parents_files: set[str] = set()


def leave_to_parent() -> None:
    """In a process that has just been forked: use nothing of what was copied."""
    parents_files.update(+files)
    files.clear()
    for one in [*sessions]:
        one._leave_to_parent()
    sessions.clear()


if hasattr(os, "register_at_fork"):  # pragma: no branch - Windows
    os.register_at_fork(after_in_child=leave_to_parent)

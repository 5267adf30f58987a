"""A hint that brings what it is about: the last entry of the session that is told, and all that follow.

It saves a call of the server between the end of one block and the beginning of the next. Any user of the server can
publish anything, and what is published may come late, twice or never; so it is taken only where it continues what
the session has read (:meth:`.History.continued_by`), and else the log is read, as after a plain hint.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias
from urllib.parse import quote, unquote

from structsync.distributed.engine import Tail

#: What it begins with, and no name of a log does, because it is no UTF-8.
NEWS = b"\xfe"

#: Of a log: the position up to which it was read, and the stamp of the entry before that.
Seen: TypeAlias = tuple[int, bytes]
#: Of one of which nothing was read.
UNSEEN: Seen = (0, b"0")


def read(lines: Sequence[bytes]) -> tuple[list[bytes], list[int]]:
    """Return the entries of these lines, and their stamps.

    Raises:
      ValueError: if there are none in them.
    """
    entries, stamps = [], []
    for line in lines:
        stamp, _, entry = line.partition(b" ")
        entries.append(entry)
        stamps.append(int(stamp))
    return entries, stamps


def written(log: str, news: Tail) -> bytes:
    """Return what is published."""
    lines = [b"%d %b" % one for one in zip(news.stamps, news.entries, strict=True)]
    name = quote(log)  # it may have several lines
    return NEWS + b"\n".join([name.encode(), b"%d" % news.start, *lines])


def understood(said: bytes) -> tuple[str, Tail | None]:
    """Return which log it is about, and what has been appended to it; None if it says nothing of that."""
    name, *said_of_it = said.removeprefix(NEWS).split(b"\n")
    log = unquote(name)
    try:
        start, *lines = said_of_it
        entries, stamps = read(lines)
        return log, Tail(int(start), entries, None, stamps)
    except ValueError:
        return log, None

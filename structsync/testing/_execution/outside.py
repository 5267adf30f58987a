"""What a program changes in the world outside: no state shows it, and no execution starts it anew."""

from __future__ import annotations

import os
import sys
from types import FrameType
from typing import Any

from .under_test import is_of_a_tool, is_under_test

_WRITES = os.O_WRONLY | os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_TRUNC
#: What the interpreter tells of, in words.
_CHANGES = {
    "os.putenv": "changes the environment",
    "os.unsetenv": "changes the environment",
    "os.chdir": "changes the working directory",
    "os.chmod": "changes the mode of a file",
    "os.chown": "changes the owner of a file",
    "os.kill": "sends a signal",
    "os.link": "makes a file",
    "os.mkdir": "makes a folder",
    "os.remove": "removes a file",
    "os.rename": "renames a file",
    "os.removexattr": "changes an attribute of a file",
    "os.rmdir": "removes a folder",
    "os.setxattr": "changes an attribute of a file",
    "os.symlink": "makes a file",
    "os.truncate": "writes to a file",
    "os.utime": "changes the times of a file",
    "resource.setrlimit": "changes a limit of the process",
    "sqlite3.connect": "opens a database",
}
#: Of these functions of :mod:`os` the interpreter tells nothing.
UNHEARD = (
    "mkfifo",
    "mknod",
    "read",
    "readv",
    "sendfile",
    "umask",
    "write",
    "writev",
)
#: The events that :func:`change` knows.
EVENTS = frozenset({"open", *_CHANGES})


def change(event: str, args: Any) -> str | None:
    """Return what an audit event says of the world outside, and where; None if it is of no account.

    Called by the hook itself; to ask for a frame is an event, too, but not one of these.
    """
    if event == "open":
        path, _, flags = args
        if not isinstance(flags, int) or not flags & _WRITES:
            return None
        what = f"opens {path!r} for writing"
    else:
        what = _CHANGES[event]
        if event == "sqlite3.connect" and args[0] == ":memory:":
            return None
    where = place(sys._getframe(2))
    return where and f"{what} {where}"


def place(frame: FrameType | None) -> str | None:
    """Return the line of the program that this comes from; None for what an import or a tool does by itself.

    A task may run a function of a library, and then none of the program is on the stack.
    """
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if name.startswith("importlib.") or is_of_a_tool(name):
            return None
        if is_under_test(name):
            return f"at {frame.f_code.co_filename}:{frame.f_lineno}"
        frame = frame.f_back
    return "in a library's code, which it does not call itself"

"""A program that reaches for what no schedule decides, in words: what it called, where, and what to do.

Much of trio reaches for a thread or a socket only inside: a caller that looks up the address of a host is told of
the network, not of the thread in which that happens.
"""

from __future__ import annotations

from types import FrameType

from .under_test import is_under_test

#: What modules of trio are for, by the beginnings of their names; the first that fits.
_OF_TRIO = {
    "trio._socket": "a socket",
    "trio._highlevel_": "a socket",
    "trio._dtls": "a socket",
    "trio._subprocess": "a process",
    "trio._file_io": "a file",
    "trio._path": "a file",
}

#: What the test does, and why that is refused.
_WORDS = {
    "a thread": (
        "starts a thread",
        "no schedule decides when that runs; call the function directly in the test",
    ),
    "a socket": (
        "uses a socket",
        "no schedule decides what comes back; use trio.testing.memory_stream_pair() or a memory "
        "channel instead",
    ),
    "a process": (
        "starts a process",
        "no schedule decides what that does; put it behind a parameter, and give the test a stand-in",
    ),
    "a file": (
        "uses a file, which trio does in a thread",
        "no schedule decides when that is done; put it behind a parameter, and give the test a stand-in",
    ),
    "input or output": (
        "waits for input or output",
        "no schedule decides when that comes; use trio.testing.memory_stream_pair() or a memory "
        "channel instead",
    ),
}


def text(what: str, frame: FrameType | None) -> str:
    """Return the message about what the code of this frame, or a caller, has reached for.

    Args:
      what: one of the keys above, as far as it can be seen from inside.
      frame: where that was seen.
    """
    called = ""
    while frame is not None and _is_ours(frame):
        frame = frame.f_back
    while frame is not None and not is_under_test(name := str(frame.f_globals.get("__name__", ""))):
        what = next((kind for start, kind in _OF_TRIO.items() if name.startswith(start)), what)
        if name.startswith("trio."):
            called = f"{frame.f_code.co_name.lstrip('_')}() "
        frame = None if frame.f_back is None or _is_ours(frame.f_back) else frame.f_back
    where = "in a library's code"
    if frame is not None:
        where = f"at {frame.f_code.co_filename}:{frame.f_lineno}"
    does, why = _WORDS[what]
    return f"the test {does} ({called}{where}), and {why}"


def _is_ours(frame: FrameType) -> bool:
    """Return whether a frame is of what refuses, or of what runs the tasks and knows of no program."""
    return str(frame.f_globals.get("__name__", "")).startswith("structsync.testing.")

"""Other processes: started, told what to do, and ended, whatever happens.

They talk by pipes. There is no memory that two of them share, and nothing in the system that could
outlive them: a process whose pipe is closed ends, also where the one that started it was killed.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from typing import IO

#: How long a process may take to end by itself.
PATIENCE = 5.0
#: So much of what a process that died has said last is repeated.
LAST_WORDS = 2_000
#: How long a process whose owner is gone may go on, should it be in the middle of something.
GRACE = 1.0

_LENGTH = struct.Struct("<Q")

# Bound now: what a process runs may not read the clock, and what refuses it stands in its place then.
_sleep = time.sleep

#: Where messages arrive, with the number of the process that sent them; None, when it has ended.
Inbox = queue.SimpleQueue[tuple[int, bytes | None]]


class WorkerLost(Exception):
    """A process has ended before its time; its text says how."""


def write(pipe: IO[bytes], message: object) -> None:
    """Send an object."""
    data = message if isinstance(message, bytes) else pickle.dumps(message)
    pipe.write(_LENGTH.pack(len(data)))
    pipe.write(data)
    pipe.flush()


def read(pipe: IO[bytes]) -> bytes:
    """Return what was sent last.

    Raises:
      EOFError: nothing more will be sent.
    """
    length = pipe.read(_LENGTH.size)
    if len(length) == _LENGTH.size:
        data = pipe.read(_LENGTH.unpack(length)[0])
        if len(data) == _LENGTH.unpack(length)[0]:
            return data
    raise EOFError


class Process:
    """Another process, as the one that started it has it."""

    def __init__(self, number: int, inbox: Inbox, program: str) -> None:
        self._number = number
        self._inbox = inbox
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 - closed by end()
        optimised = ["-" + "O" * sys.flags.optimize] if sys.flags.optimize else []
        self.process = subprocess.Popen(
            [sys.executable, "-P", *optimised, "-c", program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            env=_environment(),
            # Ctrl-C is for the one that started it
            process_group=0 if os.name == "posix" else None,
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def send(self, message: object) -> None:
        """Send it an object; one that has ended already is noticed where its answer is missed."""
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):
            write(self.process.stdin, message)

    def _read(self) -> None:
        assert self.process.stdout is not None
        with contextlib.suppress(EOFError):
            while True:
                self._inbox.put((self._number, read(self.process.stdout)))
        self._inbox.put((self._number, None))

    def how_it_ended(self) -> str:
        """Say how the process ended, and what it said last."""
        code = self.process.wait(PATIENCE)
        how = f"was killed by signal {-code}" if code < 0 else f"ended with code {code}"
        self._said.seek(0)
        words = self._said.read().decode(errors="replace").strip()[-LAST_WORDS:]
        return f"a worker process {how}" + (f", and said last: {words}" if words else "")

    def end(self, *, at_once: bool) -> None:
        """End it, and keep nothing of it."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        if at_once:
            self.process.kill()
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._reader.join()
        self.process.stdout.close()
        self._said.close()


def program(module: str) -> str:
    """Return what a process runs: a module's `main`, which finds what this process finds."""
    path = f"import sys; sys.path[:] = {sys.path!r}"
    return f"{path}; from {module} import main; main()"


def _environment() -> dict[str, str]:
    """Return the environment of a process that hashes texts like all the others."""
    seed = os.environ.get("PYTHONHASHSEED", "")
    return {**os.environ, "PYTHONHASHSEED": seed if seed.isdigit() else "0"}


# ==== In such a process ====


def orders(
    at_once: Callable[[bytes], bool] = lambda data: False,
) -> tuple[queue.SimpleQueue[bytes | None], IO[bytes]]:
    """Return where orders arrive, None after the last, and the pipe to answer by.

    Args:
      at_once: called in a thread with each order when it comes; True if that was all it wants.
    """
    ordered, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    with open(os.devnull, "r+b", buffering=0) as nowhere:  # what is printed is discarded
        for taken in (0, 1):
            os.dup2(nowhere.fileno(), taken)
    inbox = queue.SimpleQueue[bytes | None]()
    threading.Thread(target=listen, args=(ordered, inbox, at_once), daemon=True).start()
    return inbox, answers


def listen(
    ordered: IO[bytes], inbox: queue.SimpleQueue[bytes | None], at_once: Callable[[bytes], bool]
) -> None:
    """Pass on what comes; where nothing will come any more, end the process, even in the middle."""
    try:
        while True:
            data = read(ordered)
            if not at_once(data):
                inbox.put(data)
    except EOFError:
        inbox.put(None)
        _sleep(GRACE)
        os._exit(1)

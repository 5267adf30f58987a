"""The other processes: started, given jobs, and ended, whatever happens.

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
from collections.abc import Callable, Sequence
from typing import IO, Any

from structsync.testing import _errors
from structsync.testing._state.fingerprint import Opaque

from .jobs import Job, Jobs
from .program import NotPortable

#: How long a process may take to end by itself, and how often Ctrl-C is looked for meanwhile.
PATIENCE, POLL = 5.0, 0.1
#: So much of what a process that died has said last is repeated.
LAST_WORDS = 2_000

_LENGTH = struct.Struct("<Q")


#: Errors that mean here what they meant in the process where they were raised.
RAISED = (NotPortable, _errors.NondeterminismError, Opaque)


class WorkerLost(Exception):
    """A process has ended before its time; its text says how."""


class Interrupted(Exception):
    """Ctrl-C was pressed while processes were at work."""


def write(pipe: IO[bytes], message: object) -> None:
    """Send an object."""
    data = message if isinstance(message, bytes) else pickle.dumps(message)
    pipe.write(_LENGTH.pack(len(data)))
    pipe.write(data)
    pipe.flush()


def read(pipe: IO[bytes]) -> bytes:
    """Return what was sent last.

    Raises:
      EOFError: nobody will send anything any more.
    """
    length = pipe.read(_LENGTH.size)
    data = pipe.read(_LENGTH.unpack(length)[0]) if len(length) == _LENGTH.size else b""
    if not data:
        raise EOFError
    return data


class _Worker:
    """One process."""

    def __init__(self, number: int, inbox: queue.SimpleQueue[tuple[int, bytes | None]]) -> None:
        self._number = number
        self._inbox = inbox
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 - closed by end()
        optimised = ["-" + "O" * sys.flags.optimize] if sys.flags.optimize else []
        self.process = subprocess.Popen(
            [sys.executable, "-P", *optimised, "-c", program()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            env=_environment(),
            # Ctrl-C is for the one that started it
            process_group=0 if os.name == "posix" else None,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def send(self, message: object) -> None:
        assert self.process.stdin is not None
        # The end of a process is noticed where its answer is missed.
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


class Processes(Jobs):
    """So many processes that hold the same test."""

    def __init__(self, number: int, setup: Sequence[object], stop: Callable[[], bool]) -> None:
        self._stop = stop
        self._inbox: queue.SimpleQueue[tuple[int, bytes | None]] = queue.SimpleQueue()
        self._busy: set[int] = set()
        self._workers: list[_Worker] = []
        self._number = number
        self._setup = setup

    @property
    def ids(self) -> list[int]:
        """The numbers by which the system knows the processes."""
        return [one.process.pid for one in self._workers]

    def __enter__(self) -> Processes:
        try:
            for number in range(self._number):
                self._workers.append(_Worker(number, self._inbox))
            for part in self._setup:
                for one in self._workers:
                    one.send(part)
            self._busy.update(range(self._number))
            hashes = {self._answer()[1] for _ in self._workers}
        except BaseException:
            self._end(at_once=True)
            raise
        if len(hashes) > 1:
            self._end(at_once=True)
            raise NotPortable(
                "the worker processes hash texts differently, so they may do different things: "
                "set PYTHONHASHSEED, or leave workers= out"
            )
        return self

    def __exit__(self, *error: object) -> None:
        self._end(at_once=bool(self._busy))

    def _end(self, *, at_once: bool) -> None:
        for one in self._workers:
            one.end(at_once=at_once)
        self._workers.clear()

    def each(self, job: Job) -> list[Any]:
        """Give each of them the same job, and return what comes of it."""
        data = pickle.dumps(job)
        for number, one in enumerate(self._workers):
            one.send(data)
            self._busy.add(number)
        return [self._answer()[1] for _ in self._workers]

    def run(self, jobs: Sequence[Job]) -> list[Any]:
        """Return what comes of jobs, in their order, whoever does them.

        Raises:
          Interrupted: Ctrl-C was pressed.
          WorkerLost: a process has ended before its time.
          NondeterminismError: something besides the schedule decides what the test does.
        """
        waiting = [*enumerate(jobs)][::-1]
        results: list[Any] = [None] * len(jobs)
        at_work: dict[int, int] = {}
        idle = [*range(len(self._workers))][::-1]
        while waiting or at_work:
            while waiting and idle:
                worker, (place, job) = idle.pop(), waiting.pop()
                at_work[worker] = place
                self._busy.add(worker)
                self._workers[worker].send(job)
            worker, result = self._answer()
            results[at_work.pop(worker)] = result
            idle.append(worker)
        return results

    def _answer(self) -> tuple[int, Any]:
        """Return the next result, and whose it is."""
        while True:
            if self._stop():
                raise Interrupted
            with contextlib.suppress(queue.Empty):
                worker, data = self._inbox.get(timeout=POLL)
                break
        if data is None:
            raise WorkerLost(self._workers[worker].how_it_ended())
        self._busy.discard(worker)
        kind, value = pickle.loads(data)
        if kind == "result":
            return worker, value
        raise {one.__name__: one for one in RAISED}.get(kind, RuntimeError)(value)


def program() -> str:
    """Return what a process runs, which finds what this one finds."""
    path = f"import sys; sys.path[:] = {sys.path!r}"
    return f"{path}; from structsync.testing._parallel.worker import main; main()"


def _environment() -> dict[str, str]:
    """Return the environment of a process that hashes texts like all the others."""
    seed = os.environ.get("PYTHONHASHSEED", "")
    return {**os.environ, "PYTHONHASHSEED": seed if seed.isdigit() else "0"}

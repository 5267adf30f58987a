"""The other processes: started, given jobs, and ended, whatever happens.

How they are made to end, and talk, is told in `structsync/_processes.py`.
"""

from __future__ import annotations

import contextlib
import pickle
import queue
from collections.abc import Callable, Sequence
from typing import Any

from structsync import _processes
from structsync._processes import Process, WorkerLost
from structsync.testing import _errors
from structsync.testing._state.fingerprint import AgeDecides, Opaque

from .jobs import Job, Jobs
from .program import NotPortable

#: How often Ctrl-C is looked for.
POLL = 0.1

#: Errors that mean here what they meant in the process where they were raised.
RAISED = (NotPortable, _errors.NondeterminismError, Opaque, AgeDecides)


class Interrupted(Exception):
    """Ctrl-C was pressed while processes were at work."""


class Processes(Jobs):
    """So many processes that hold the same test."""

    def __init__(self, number: int, setup: Sequence[object], stop: Callable[[], bool]) -> None:
        self._stop = stop
        self._inbox: _processes.Inbox = queue.SimpleQueue()
        self._busy: set[int] = set()
        self._workers: list[Process] = []
        self._number = number
        self._setup = setup

    @property
    def ids(self) -> list[int]:
        """The numbers by which the system knows the processes."""
        return [one.process.pid for one in self._workers]

    def __enter__(self) -> Processes:
        try:
            for number in range(self._number):
                self._workers.append(Process(number, self._inbox, program()))
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
        """Return the results of jobs, in their order, whichever process does them.

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
    """Return what a process runs."""
    return _processes.program("structsync.testing._parallel.worker")

"""Many searches in several processes, with the outcome that one process would have.

Each process loads the specs by their paths and is given one search after the other. What comes back
is put in the order of the searches: an error or, with `--fail-fast`, a red verdict ends the run where it
would have ended with one process, and what was found of later searches is dropped.
"""

from __future__ import annotations

import pickle
import queue
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from structsync._processes import Inbox, Process, program

from ._budget import Progress
from ._errors import SpecError
from ._interrupt import InterruptFlag
from ._jobs import Bounds, Found, Job
from ._worker import HELP, INTERRUPT

#: Seconds between two looks at whether Ctrl-C was pressed.
POLL = 0.05
#: Seconds in which an interrupted search can tell what it has found.
LAST_MOMENT = 0.8


class NotPortableError(Exception):
    """Another process does not find the specs that this one has found."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be searched, and what the outcome depends on besides."""

    jobs: Sequence[Job]
    """In the order of the report."""
    begin: Sequence[int]
    """The numbers of the jobs, in the order in which they are begun."""
    bounds: Callable[[], Bounds | None]
    """Tells how far a search that is begun now may go; None if no other may begin."""
    is_last: Callable[[Found], bool]
    """Tells of a result that nothing after it would have been started."""
    on_running: Callable[[Sequence[Job]], None]
    """Called with the jobs that run now, whenever they change."""
    on_end: Callable[[Job], None]
    """Called with each job that is over."""
    on_progress: Callable[[Progress], None]
    """Called with how far all searches have come that run now, taken together."""


class Together:
    """So many processes that have loaded the same specs, for one plan."""

    def __init__(
        self, number: int, paths: Sequence[Path], names: Sequence[Sequence[str]], plan: Plan
    ) -> None:
        """Prepare them.

        Args:
            number: how many processes.
            paths: where the specs come from; structsync's own if there are none.
            names: what was found there.
            plan: what they are for.
        """
        self.found: dict[Job, Found] = {}
        """What was found, in the order of the report."""
        self.interrupted = False
        self._number, self._paths, self._names, self._plan = number, paths, names, plan
        self._inbox: Inbox = queue.SimpleQueue()
        self._processes: list[Process] = []
        self._idle: list[int] = []
        self._at_work: dict[int, int] = {}
        self._progress: dict[int, Progress] = {}
        self._helped: dict[int, int] = {}
        self._waiting = [*plan.begin][::-1]
        self._end = len(plan.jobs)  # what stands from there on does not count
        self._results: dict[int, Found] = {}
        self._errors: dict[int, str] = {}

    @property
    def ids(self) -> list[int]:
        """The numbers by which the system knows the processes."""
        return [one.process.pid for one in self._processes]

    def __enter__(self) -> Together:
        try:
            for number in range(self._number):
                one = Process(number, self._inbox, program("structsync.checking._worker"))
                self._processes.append(one)
                one.send(pickle.dumps(self._paths))
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        for number, one in enumerate(self._processes):
            one.end(at_once=number not in self._idle)
        self._processes.clear()

    def run(self) -> None:
        """Search.

        Raises:
            NotPortableError: the specs cannot be loaded by another process as they were by this one.
            SpecError: one of them cannot be run, or a process has died.
        """
        until = float("inf")
        with InterruptFlag() as interrupted:
            while self._counts(self._waiting) or self._counts(self._at_work.values()):
                if interrupted and not self.interrupted:
                    self.interrupted = True
                    until = time.perf_counter() + LAST_MOMENT
                    self._interrupt()
                if time.perf_counter() > until:
                    break
                self._begin()
                self._take()
        if self._errors:
            # The first of the report: others are cut off.
            raise SpecError(self._errors.popitem()[1])
        jobs = self._plan.jobs
        self.found = {jobs[one]: self._results[one] for one in sorted(self._results)}

    def _counts(self, numbers: Iterable[int]) -> bool:
        return any(one < self._end for one in numbers)

    def _interrupt(self) -> None:
        self._waiting.clear()
        for worker in self._at_work:
            self._processes[worker].send(INTERRUPT)

    def _begin(self) -> None:
        """Give idle processes something to do."""
        while self._idle and self._waiting:
            bounds = self._plan.bounds()
            if bounds is None:
                self._waiting.clear()
                return
            worker, number = self._idle.pop(), self._waiting.pop()
            self._processes[worker].send((self._plan.jobs[number], bounds))
            self._at_work[worker] = number
            self._tell_running()
        self._let_help()

    def _let_help(self) -> None:
        """Let processes that still search be helped, where nothing is left for the others to do."""
        if self._waiting or not self._at_work or len(self._idle) < len(self._at_work):
            return
        allowed = 1 + len(self._idle) // len(self._at_work)
        for worker in [one for one in self._at_work if self._helped.get(one) != allowed]:
            self._helped[worker] = allowed
            self._processes[worker].send(HELP + b"%d" % allowed)

    def _take(self) -> None:
        """Wait a moment for what comes next."""
        try:
            worker, data = self._inbox.get(timeout=POLL)
        except queue.Empty:
            return
        if data is None:
            self._lost(worker)
        else:
            kind, *rest = pickle.loads(data)
            getattr(self, f"_{kind}")(worker, *rest)

    def _lost(self, worker: int) -> None:
        if self.interrupted:
            self._at_work.pop(worker, None)
            return
        number = self._at_work.get(worker)
        doing = (
            "it loaded the specs"
            if number is None
            else f"it searched {self._plan.jobs[number].name}"
        )
        raise SpecError(
            f"{self._processes[worker].how_it_ended()}, while {doing}, so nothing is confirmed; "
            "a search that needs more memory than there is ends so: give it smaller bounds, or -j 1"
        )

    # ==== What a process may say ====

    def _ready(self, worker: int, names: Sequence[Sequence[str]]) -> None:
        if [*map(list, names)] != [*map(list, self._names)]:
            raise NotPortableError("other names")
        self._idle.append(worker)

    def _elsewhere(self, worker: int, why: str) -> None:
        raise NotPortableError(why)

    def _progressed(self, worker: int, progress: Progress) -> None:
        self._progress[worker] = progress
        running = self._progress.values()
        self._plan.on_progress(
            Progress(
                sum(one.states for one in running),
                sum(one.expanded for one in running),
                sum(one.transitions for one in running),
                max(one.depth for one in running),
                max(one.seconds for one in running),
            )
        )

    def _result(self, worker: int, result: Found, said: str) -> None:
        number = self._over(worker, said)
        if number < self._end:
            self._results[number] = result
            if self._plan.is_last(result):
                self._cut(number + 1)

    def _error(self, worker: int, text: str, said: str) -> None:
        number = self._over(worker, said)
        if number < self._end:
            self._cut(number + 1)
            self._errors[number] = text

    def _over(self, worker: int, said: str) -> int:
        number = self._at_work.pop(worker)
        self._progress.pop(worker, None)
        self._idle.append(worker)
        sys.stderr.write(said)
        self._plan.on_end(self._plan.jobs[number])
        self._tell_running()
        return number

    def _cut(self, end: int) -> None:
        """Drop what would not have been started, had there been one process."""
        self._end = end
        for kept in (self._results, self._errors):
            for number in [one for one in kept if one >= end]:
                del kept[number]
        self._waiting = [one for one in self._waiting if one < end]

    def _tell_running(self) -> None:
        self._plan.on_running([self._plan.jobs[one] for one in sorted(self._at_work.values())])

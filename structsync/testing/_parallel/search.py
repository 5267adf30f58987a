"""Which searches are shared by several processes, and how."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace

from structsync.testing._search.result import SearchResult
from structsync.testing._search.runs import Runs
from structsync.testing._search.search import search

from .plain import first_schedules, plainly
from .processes import Interrupted, Processes, WorkerLost
from .program import Build, packed
from .worker import Surroundings

#: It takes as long to start another process as to run so small a test so often.
ALONE = 1_000


def search_in_processes(runs: Runs, build: Build) -> SearchResult:
    """Look for a failure as the settings say, in as many processes as they say.

    What is small is done here: the others take as long to start as a thousand executions.

    Raises:
      NotPortable: no other process can import the test.
    """
    how = runs.settings.search
    if runs.settings.workers == 1 or runs.settings.liveness or how not in ("plain",):
        return search(runs)
    program = packed(build)
    left = first_schedules(runs, ALONE)
    if isinstance(left, SearchResult):
        return left
    try:
        with _started(runs, program) as processes:
            return plainly(runs, processes, left)
    except (Interrupted, WorkerLost) as error:
        reason = runs.stopped(0) or f"{error}; what it was to search was not searched"
        return SearchResult(None, runs.executions, 0, 0, reason)


@contextlib.contextmanager
def _started(runs: Runs, program: bytes) -> Iterator[Processes]:
    """Have the processes while the block runs."""
    unbounded = replace(runs.settings, executions=None, states=None, seconds=None, workers=1)
    setup = Surroundings.here(), unbounded, program
    with Processes(runs.settings.workers, setup, lambda: bool(runs.interrupt)) as processes:
        yield processes

"""The same jobs without other processes: for one shard of a search, on a machine of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from structsync.testing._search.runs import Runs
from structsync.testing._search.search import fingerprinter

from .jobs import Bench, Job, Jobs
from .processes import Interrupted


class ThisProcess(Jobs):
    """Does jobs where they are given, in the place of worker processes."""

    def __init__(self, runs: Runs, stop: Callable[[], bool]) -> None:
        unbounded = replace(runs.settings, executions=None, states=None, seconds=None)
        self._bench = Bench(Runs(runs.test, unbounded), fingerprinter(unbounded))
        self._stop = stop

    def run(self, jobs: Sequence[Job]) -> list[Any]:
        """Return what comes of jobs, in their order.

        Raises:
          Interrupted: Ctrl-C was pressed.
        """
        results = []
        for job in jobs:
            if self._stop():
                raise Interrupted
            results.append(job.run(self._bench))
        return results

    def each(self, job: Job) -> list[Any]:
        """Do a job that each process is to do."""
        return [job.run(self._bench)]

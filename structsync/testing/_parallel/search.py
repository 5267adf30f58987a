"""Which searches are shared by several processes or machines, and how."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace

from structsync._processes import WorkerLost
from structsync.testing._execution.current import (
    age_decides,
    note,
    note_change_outside,
    note_that_age_decides,
)
from structsync.testing._execution.schedule import Choice
from structsync.testing._result import Partition
from structsync.testing._search.result import SearchResult
from structsync.testing._search.runs import Runs
from structsync.testing._search.sampling import RANDOM_SHARE, the_rest
from structsync.testing._search.search import fingerprinter, plainly_if_small, search
from structsync.testing._settings import SHARED
from structsync.testing._state.across_processes import comparable
from structsync.testing._state.fingerprint import AgeDecides, Opaque

from .audit import audited
from .jobs import Jobs, Notes, Outside
from .merged import Below, JointLog, JointMap, by_states
from .plain import first_schedules, plainly
from .processes import Interrupted, Processes
from .program import Build, packed
from .shards import own_part
from .this_process import ThisProcess
from .worker import Surroundings

#: It takes as long to start another process as to run so small a test so often.
ALONE = 1_000

Prefixes = list[tuple[Choice, ...]]


def search_shared(runs: Runs, build: Build) -> tuple[SearchResult, Partition | None]:
    """Look for a failure as the settings say, in as many processes, and in that shard of the search.

    What is small is done here, and so is what cannot be shared: a search that is not depth first, and one
    whose states can be compared in one process only, or not at all.

    Raises:
      NotPortable: no other process can import the test.
    """
    asked = runs.settings
    if asked.shard is None and (asked.workers == 1 or asked.liveness or asked.search not in SHARED):
        return search(runs), None
    shared = _Shared(runs, packed(build) if asked.workers > 1 else None)
    try:
        found = shared.found()
    except (Interrupted, WorkerLost) as error:
        reason = runs.stopped(0) or f"{error}; what it was to search was not searched"
        found = SearchResult(None, runs.executions, 0, 0, reason)
    except Opaque as error:
        if asked.shard is None:
            return search(runs), None
        reason = f"cannot look into {error}: divide it into shards with search='plain'"
        found = SearchResult(None, runs.executions, 0, 0, reason)
    return found, shared.partition


class _Shared:
    """One search that is shared."""

    def __init__(self, runs: Runs, program: bytes | None) -> None:
        self._runs = runs
        self._program = program
        self.partition: Partition | None = None

    def found(self) -> SearchResult:
        runs, asked = self._runs, self._runs.settings
        if asked.shard is not None:
            # Small, it is the whole search, in each of the shards.
            self.partition = Partition(*asked.shard, depth=0, prefixes=1, digest="")
        if asked.search == "plain":
            left = (
                first_schedules(runs, ALONE) if asked.shard is None else self._own(by_states=False)
            )
            if isinstance(left, SearchResult):
                return left
            with _started(runs, self._program) as jobs:
                return _with_what_was_noticed(runs, plainly(runs, jobs, left), jobs)
        if asked.search == "auto" and asked.states is None:
            small = plainly_if_small(runs, None)
            if small is not None:
                return small
        left = [()] if asked.shard is None else self._own(by_states=True)
        if isinstance(left, SearchResult):
            return left
        while True:
            try:
                return self._by_states(left)
            except AgeDecides:
                note_that_age_decides()  # which another process has noticed

    def _own(self, *, by_states: bool) -> SearchResult | Prefixes:
        """Return the prefixes of this shard, or a result, if there is one already."""
        # All shards are to cut it alike, also where one of them finds out later that ages decide.
        look = fingerprinter(self._runs.settings, heeds_age=False) if by_states else None
        with comparable():
            part = own_part(self._runs, look)
        if isinstance(part, SearchResult):
            return part
        own, self.partition = part
        return own

    def _by_states(self, prefixes: Prefixes) -> SearchResult:
        """Search by states, and give the rest of the budget to schedules at random."""
        runs, asked = self._runs, self._runs.settings
        look, log = fingerprinter(asked), JointLog(asked.seed)
        joint = JointMap(look, log)
        share = RANDOM_SHARE if asked.search == "auto" and asked.shard is None else None
        with _started(runs, self._program) as jobs, runs.leaving(share):
            found = by_states(runs, jobs, [Below(one) for one in prefixes], joint, log)
            if found.failed is None and found.unfinished is None and prefixes:
                found = audited(runs, jobs, log, found, prefixes)
            found = _with_what_was_noticed(runs, found, jobs)
            ended_early = found.failed is None and runs.stopped(found.states) is not None
        if share is None or not ended_early or found.unfinished is None or runs.interrupt:
            return found
        with comparable():
            return the_rest(runs, found, joint.seen, look)


@contextlib.contextmanager
def _started(runs: Runs, program: bytes | None) -> Iterator[Jobs]:
    def stop() -> bool:
        return bool(runs.interrupt)

    if program is None:
        with comparable():
            yield ThisProcess(runs, stop)
        return
    unbounded = replace(runs.settings, executions=None, states=None, seconds=None, workers=1)
    setup = Surroundings.here(), (unbounded, runs.kind, age_decides()), program
    with Processes(runs.settings.workers, setup, stop) as processes:
        yield processes


def _with_what_was_noticed(runs: Runs, found: SearchResult, jobs: Jobs) -> SearchResult:
    """Note here what was noticed there, which is looked at before anything is confirmed."""
    for what in sorted(filter(None, jobs.each(Outside()))):
        note_change_outside(what)
    for texts, raced in jobs.each(Notes()):
        runs.raced = runs.raced or raced
        for text in texts:
            note(text)
    return found

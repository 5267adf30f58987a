"""Which searches are shared by several processes, and how."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace

from structsync.testing._execution.determinism import note_change_outside
from structsync.testing._search.result import SearchResult
from structsync.testing._search.runs import Runs
from structsync.testing._search.sampling import RANDOM_SHARE, the_rest
from structsync.testing._search.search import fingerprinter, plainly_if_small, search
from structsync.testing._state.across_processes import comparable
from structsync.testing._state.fingerprint import Opaque

from .audit import audited
from .jobs import Outside
from .merged import Below, JointLog, JointMap, by_states
from .plain import first_schedules, plainly
from .processes import Interrupted, Processes, WorkerLost
from .program import Build, packed
from .worker import Surroundings

#: It takes as long to start another process as to run so small a test so often.
ALONE = 1_000


def search_in_processes(runs: Runs, build: Build) -> SearchResult:
    """Look for a failure as the settings say, in as many processes as they say.

    What is small is done here, and so is what cannot be shared: a search that is not depth first, and one
    whose states can be compared in one process only, or not at all.

    Raises:
      NotPortable: no other process can import the test.
    """
    how, asked = runs.settings.search, runs.settings
    if asked.workers == 1 or asked.liveness or how not in ("auto", "states", "plain"):
        return search(runs)
    program = packed(build)
    try:
        if how == "plain":
            left = first_schedules(runs, ALONE)
            if isinstance(left, SearchResult):
                return left
            with _started(runs, program) as processes:
                return _with_the_world_outside(plainly(runs, processes, left), processes)
        if how == "auto" and asked.states is None:
            found = plainly_if_small(runs, None)
            if found is not None:
                return found
        return _by_states(runs, program)
    except (Interrupted, WorkerLost) as error:
        reason = runs.stopped(0) or f"{error}; what it was to search was not searched"
        return SearchResult(None, runs.executions, 0, 0, reason)
    except Opaque:
        return search(runs)


def _by_states(runs: Runs, program: bytes) -> SearchResult:
    """Search by states, and give the rest of the budget to schedules at random."""
    look, log = fingerprinter(runs.settings), JointLog(runs.settings.seed)
    joint = JointMap(look, log)
    share = RANDOM_SHARE if runs.settings.search == "auto" else None
    with _started(runs, program) as processes:
        with runs.leaving(share):
            found = by_states(runs, processes, [Below(())], joint, log)
            if found.failed is None and found.unfinished is None:
                found = audited(runs, processes, log, found)
            found = _with_the_world_outside(found, processes)
            ended_early = found.failed is None and runs.stopped(found.states) is not None
    if share is None or not ended_early or found.unfinished is None or runs.interrupt:
        return found
    with comparable():
        return the_rest(runs, found, joint.seen, look)


@contextlib.contextmanager
def _started(runs: Runs, program: bytes) -> Iterator[Processes]:
    """Have the processes while the block runs."""
    unbounded = replace(runs.settings, executions=None, states=None, seconds=None, workers=1)
    setup = Surroundings.here(), unbounded, program
    with Processes(runs.settings.workers, setup, lambda: bool(runs.interrupt)) as processes:
        yield processes


def _with_the_world_outside(found: SearchResult, processes: Processes) -> SearchResult:
    """Note here what the program has changed there, which is looked at before anything is confirmed."""
    for what in sorted(filter(None, processes.each(Outside()))):
        note_change_outside(what)
    return found

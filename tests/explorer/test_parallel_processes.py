"""Worker processes as they are: started, killed, interrupted, and gone at the end."""

from __future__ import annotations

import functools
import os
import signal
import sys

import pytest

from structsync.checking import Verdict
from structsync.testing import explore
from structsync.testing._parallel import search
from structsync.testing._parallel.processes import Processes

from .parallel_programs import with_a_semaphore

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals")


def is_there(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of the processes that a search has started, which it does after one execution."""
    found: list[int] = []
    enter = Processes.__enter__

    def noted(self: Processes) -> Processes:
        enter(self)
        found.extend(self.ids)
        return self

    monkeypatch.setattr(Processes, "__enter__", noted)
    monkeypatch.setattr(search, "ALONE", 1)
    return found


def test_two_processes_search_as_one(started: list[int]) -> None:
    few = functools.partial(with_a_semaphore, 2)
    alone, found = explore(few, search="plain"), explore(few, search="plain", workers=2)
    assert (found.verdict, found.executions, found.steps) == (
        Verdict.CONFIRMED,
        alone.executions,
        alone.steps,
    )
    assert len(started) == 2
    assert not any(map(is_there, started))


def test_a_killed_worker_is_never_green(
    started: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Processes.run

    def kill_and_run(self: Processes, jobs: list[object]) -> list[object]:
        os.kill(self.ids[0], signal.SIGKILL)
        return run(self, jobs)

    monkeypatch.setattr(Processes, "run", kill_and_run)
    found = explore(with_a_semaphore, search="plain", workers=2)
    assert found.verdict is Verdict.UNFINISHED
    assert "a worker process was killed by signal 9" in str(found.unfinished)
    assert not any(map(is_there, started))

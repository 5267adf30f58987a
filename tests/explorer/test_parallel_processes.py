"""Worker processes as they are: started, killed, interrupted, and gone at the end."""

from __future__ import annotations

import functools
import os
import queue
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from textwrap import dedent

import pytest

import structsync
from structsync import _processes
from structsync._processes import Process, WorkerLost
from structsync.checking import Verdict
from structsync.testing import NondeterminismError, explore
from structsync.testing._parallel import processes, search
from structsync.testing._parallel.jobs import Job
from structsync.testing._parallel.processes import Processes
from structsync.testing._parallel.program import NotPortable

from .conftest import python
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

    def kill_and_run(self: Processes, jobs: Sequence[Job]) -> list[object]:
        os.kill(self.ids[0], signal.SIGKILL)
        return run(self, jobs)

    monkeypatch.setattr(Processes, "run", kill_and_run)
    found = explore(with_a_semaphore, search="plain", workers=2)
    assert found.verdict is Verdict.UNFINISHED
    assert "a worker process was killed by signal 9" in str(found.unfinished)
    assert not any(map(is_there, started))


ANSWERS = """
import os, pickle, struct, sys
data = pickle.dumps({})
sys.stdout.buffer.write(struct.pack("<Q", len(data)) + data)
sys.stdout.flush()
sys.stdin.read()
"""


@pytest.mark.parametrize(
    ("program", "error", "reason"),
    [
        ("raise SystemExit('too bad')", WorkerLost, "ended with code 1, and said last: too bad"),
        (ANSWERS.format("('result', os.getpid())"), NotPortable, "hash texts differently"),
        (ANSWERS.format("('NondeterminismError', 'y')"), NondeterminismError, "y"),
    ],
)
def test_processes_that_do_not_begin_well_are_gone(
    program: str, error: type[Exception], reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "program", lambda: program)
    entered = Processes(2, (), lambda: False)
    with pytest.raises(error, match=reason), entered:
        raise AssertionError
    assert entered.ids == []


def test_a_process_that_does_not_end_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_processes, "PATIENCE", 0.01)
    one = Process(0, queue.SimpleQueue(), "import time; time.sleep(100)")
    one.end(at_once=False)
    assert one.process.returncode == -signal.SIGKILL


def test_ctrl_c_is_looked_for_while_processes_are_at_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "program", lambda: "import time; time.sleep(100)")
    with pytest.raises(processes.Interrupted), Processes(1, (), lambda: True):
        raise AssertionError


SCRIPT = """
    import functools, sys
    from structsync.testing import explore
    from structsync.testing._parallel import search
    from structsync.testing._parallel.processes import Processes

    sys.path.insert(0, {folder!r})
    from parallel_programs import with_a_semaphore

    enter = Processes.__enter__

    def noted(self):
        enter(self)
        print(*self.ids, flush=True)
        return self

    Processes.__enter__ = noted
    search.ALONE = 1
    print(explore(with_a_semaphore, search="plain", executions=None, workers=2).unfinished)
"""


@pytest.mark.unmeasured
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_the_process_that_started_them_ends_them_whatever_ends_it(number: signal.Signals) -> None:
    script = dedent(SCRIPT.format(folder=str(Path(__file__).parent)))
    environment = {**os.environ, "PYTHONPATH": str(Path(structsync.__file__).parents[1])}
    with subprocess.Popen(
        [sys.executable, "-c", script], env=environment, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        workers = [int(one) for one in process.stdout.readline().split()]
        assert len(workers) == 2
        assert all(map(is_there, workers))
        process.send_signal(number)
        rest = process.stdout.read()
        assert process.wait(20) == (0 if number == signal.SIGINT else -signal.SIGKILL)
    assert ("stopped by Ctrl-C" in rest) == (number == signal.SIGINT)
    until = time.monotonic() + 20
    while any(map(is_there, workers)) and time.monotonic() < until:
        time.sleep(0.05)
    assert not any(map(is_there, workers))


FINGERPRINTS = """
    import contextlib, sys
    from structsync.testing import Settings
    from structsync.testing._exploration import with_handle
    from structsync.testing._search.choosers import Trace
    from structsync.testing._search.runs import Runs
    from structsync.testing._state.across_processes import comparable
    from structsync.testing._state.fingerprint import Fingerprinter

    sys.path.insert(0, {folder!r})
    import parallel_programs

    class Keys(Trace):
        def choose(self, execution, options):
            look = Fingerprinter(symmetry=True, exact=False)
            print(shown, name, len(execution.choices), look(execution).hex())
            return super().choose(execution, options)

    for shown, numbered in (("comparable", comparable), ("as met", contextlib.nullcontext)):
        with numbered():
            for name in {names!r}:
                runs = Runs(with_handle(getattr(parallel_programs, name)), Settings())
                with runs.open():
                    runs.execute(Keys())
"""


def test_equal_states_of_two_processes_have_equal_fingerprints(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whatever else they have run before; not if objects are numbered as they are met."""
    names = ["with_a_semaphore", "with_much_to_look_at", "who_looks_first_looks_forever"]
    found = []
    monkeypatch.setenv("PYTHONHASHSEED", "1")  # the order of a set is a part of the state
    for order in (names, names[::-1]):
        made = python(FINGERPRINTS.format(folder=str(Path(__file__).parent), names=order))
        assert made.returncode == 0, made.stderr
        found.append(sorted(made.stdout.splitlines()))
    one, other = ([line for line in some if line.startswith("comparable")] for some in found)
    assert len(one) > 20
    assert one == other
    assert found[0] != found[1]

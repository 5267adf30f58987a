"""Several processes at once: what they find is what one finds, whatever happens to them."""

from __future__ import annotations

import io
import json
import os
import pickle
import queue
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from click.testing import CliRunner, Result

import structsync
from structsync import _processes
from structsync._processes import Inbox, read
from structsync.checking import Progress, SpecError, _suite, _together, _worker
from structsync.checking._jobs import Bounds, Job
from structsync.checking._suite import Options, Suite
from structsync.checking._together import NotPortableError, Plan, Together
from structsync.cli import main

from .test_cli import ENDLESS, FAULTY, TOYS, WRONG, write

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="signals")


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let other processes search from the beginning."""
    monkeypatch.setattr(_suite, "ALONE", -1.0)


def without_times(document: Any) -> Any:
    if isinstance(document, dict):
        timed = ("seconds", "bytes_per_state")
        return {key: without_times(one) for key, one in document.items() if key not in timed}
    return [*map(without_times, document)] if isinstance(document, list) else document


def said(*arguments: object) -> Any:
    result: Result = CliRunner().invoke(main, ["check", "--json", *map(str, arguments)])
    return without_times(json.loads(result.stdout))


# ==== The same outcome ====


@pytest.mark.usefixtures("at_once")
def test_two_processes_say_to_the_letter_what_one_says(tmp_path: Path) -> None:
    file = write(tmp_path, WRONG + FAULTY)
    alone = said(TOYS, file, "-j", 1)
    assert said(TOYS, file, "-j", 2) == alone
    assert alone["exit_code"] == 1
    assert [one["spec"] for one in alone["specs"]] == [
        "ferry.Ferry",
        "lock.LockSpec",
        "peterson.Peterson",
        "wheel.Wheel",
        "wheel.Wrong",
    ]


@pytest.mark.nightly
@pytest.mark.usefixtures("at_once")
def test_the_shipped_specs_get_the_same_verdicts_from_two_processes() -> None:
    few = ("--max-states", 40, "--no-faults")
    assert said(*few, "-j", 2) == said(*few, "-j", 1)


def test_a_short_run_starts_no_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(_suite, "Together")
    assert said(write(tmp_path, WRONG), "-j", 2)["exit_code"] == 1


def test_a_search_that_takes_long_is_handed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was found before stands; the search that ran then is begun anew elsewhere."""
    begun: list[str] = []

    def start(name: str) -> None:
        begun.append(name)
        if name == "wheel.Wrong":
            monkeypatch.setattr(_suite, "ALONE", -1.0)

    paths = [write(tmp_path, WRONG + FAULTY)]
    suite = Suite(Options(processes=2), start)
    (run,) = suite.run(_worker.load_all(paths), paths)
    assert begun[:2] == ["wheel.Wheel", "wheel.Wrong"]
    assert "wheel.Wrong" in begun[2]
    assert [one.spec for one in run.results] == ["wheel.Wheel", "wheel.Wrong"]
    assert [one.name for one in run.faults] == ["wheel.fine"]


def test_the_progress_line_names_one_search_and_counts_the_others() -> None:
    begun: list[str] = []
    suite = Suite(Options(processes=2), begun.append)
    for running in (JOBS[:1], JOBS, []):
        suite._running(running)
    assert begun == ["a", "a and 2 more"]


@pytest.mark.usefixtures("at_once")
def test_what_another_process_cannot_load_is_searched_in_this_one(tmp_path: Path) -> None:
    once = """
        import pathlib
        seen = pathlib.Path(__file__).with_suffix(".seen")
        if seen.exists():
            raise RuntimeError("only once")
        seen.touch()
        """
    document = said(write(tmp_path, dedent(once) + dedent(WRONG)), "-j", 2)
    assert [one["spec"] for one in document["specs"]] == ["wheel.Wheel", "wheel.Wrong"]


# ==== What ends a run ends it where one process would have ended it ====


class Scripted:
    """Stands for a process: answers an order with what a test says, when the test says so."""

    made: list[Scripted]
    answer: Callable[[int, Job], Sequence[tuple[Any, ...]]]

    def __init__(self, number: int, inbox: Inbox, program: str) -> None:
        self.number, self.inbox, self.ended = number, inbox, False
        self.orders: list[object] = []
        self.made.append(self)

    def say(self, *message: object) -> None:
        self.inbox.put((self.number, pickle.dumps(message)))

    def send(self, order: Any) -> None:
        self.orders.append(order)
        if isinstance(order, bytes):
            if order != _worker.INTERRUPT and not order.startswith(_worker.HELP):
                self.say("ready", [["a", "b", "c"]])
        else:
            for message in type(self).answer(self.number, order[0]):
                self.say(*message)

    def how_it_ended(self) -> str:
        return "a worker process was killed by signal 9"

    def end(self, *, at_once: bool) -> None:
        self.ended = True


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> type[Scripted]:
    kind = type("Mine", (Scripted,), {"made": []})
    monkeypatch.setattr(_together, "Process", kind)
    return kind


JOBS = [Job(0, name, False) for name in "abc"]


def plan_of(
    bounds: Callable[[], Bounds | None] = lambda: Bounds(None, None),
    is_last: Callable[[Any], bool] = lambda found: False,
    begin: Sequence[int] = range(3),
    seen: list[Progress] | None = None,
) -> Plan:
    progress = [] if seen is None else seen
    return Plan(JOBS, begin, bounds, is_last, lambda jobs: None, lambda job: None, progress.append)


def outcome(plan: Plan, number: int = 2) -> dict[str, Any]:
    with Together(number, [], [["a", "b", "c"]], plan) as together:
        together.run()
    return {job.name: found for job, found in together.found.items()}


def test_results_stand_in_the_order_of_the_report(scripted: type[Scripted]) -> None:
    scripted.answer = staticmethod(lambda number, job: [("result", job.name.upper(), "")])
    assert [*outcome(plan_of(begin=[2, 0, 1])).items()] == [("a", "A"), ("b", "B"), ("c", "C")]
    assert all(one.ended for one in scripted.made)


def test_what_is_printed_in_a_search_is_printed(
    scripted: type[Scripted], capsys: pytest.CaptureFixture[str]
) -> None:
    scripted.answer = staticmethod(lambda number, job: [("result", 1, f"{job.name} ")])
    outcome(plan_of(), 1)
    assert capsys.readouterr().err == "a b c "


@pytest.mark.parametrize("begin", [[0, 1, 2], [2, 1, 0], [1, 2, 0]])
def test_nothing_counts_that_stands_behind_a_red_result(
    scripted: type[Scripted], begin: list[int]
) -> None:
    scripted.answer = staticmethod(lambda number, job: [("result", job.name, "")])
    found = outcome(plan_of(is_last=lambda found: found in "bc", begin=begin))
    assert found == {"a": "a", "b": "b"}


def test_nothing_begins_that_stands_behind_a_red_result(scripted: type[Scripted]) -> None:
    begun: list[str] = []

    def answer(number: int, job: Job) -> list[tuple[Any, ...]]:
        begun.append(job.name)
        if job.name == "b":
            scripted.made[number].say("result", "b", "")
            scripted.made[1 - number].say("result", "a", "")
        return []

    scripted.answer = staticmethod(answer)
    assert outcome(plan_of(is_last=lambda found: found == "b")) == {"a": "a", "b": "b"}
    assert begun == ["a", "b"]


@pytest.mark.parametrize("begin", [[0, 1, 2], [2, 1, 0], [1, 2, 0]])
def test_the_first_error_of_the_report_is_the_one_that_is_told(
    scripted: type[Scripted], begin: list[int]
) -> None:
    scripted.answer = staticmethod(
        lambda number, job: [("result", "a", "") if job.name == "a" else ("error", job.name, "")]
    )
    with pytest.raises(SpecError, match=r"^b$"):
        outcome(plan_of(begin=begin))


def test_an_error_behind_a_red_result_is_not_told(scripted: type[Scripted]) -> None:
    scripted.answer = staticmethod(
        lambda number, job: [("error", "b", "") if job.name == "b" else ("result", job.name, "")]
    )
    found = outcome(plan_of(is_last=lambda found: found == "a", begin=[1, 0, 2]), 1)
    assert found == {"a": "a"}


def test_nothing_begins_when_the_time_is_up(scripted: type[Scripted]) -> None:
    scripted.answer = staticmethod(lambda number, job: [("result", job.name, "")])
    left = [Bounds(None, 1.0), None]
    assert outcome(plan_of(bounds=lambda: left.pop(0)), 1) == {"a": "a"}


def test_progress_is_that_of_all_searches_that_run(scripted: type[Scripted]) -> None:
    def answer(number: int, job: Job) -> Iterator[tuple[Any, ...]]:
        yield ("progressed", Progress(10, 5, 20, number, 0.5 + number))
        if job.name == "b":
            scripted.made[0].say("result", "a", "")
            scripted.made[1].say("result", "b", "")

    scripted.answer = staticmethod(answer)  # type: ignore[assignment] # a generator is a sequence enough
    seen: list[Progress] = []
    plan = plan_of(seen=seen)
    outcome(replace(plan, jobs=JOBS[:2], begin=[0, 1]))
    assert Progress(20, 10, 40, 1, 1.5) in seen


@pytest.mark.parametrize("searching", [True, False])
def test_a_process_that_dies_is_an_error(
    scripted: type[Scripted], searching: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(number: int, job: Job) -> list[tuple[Any, ...]]:
        scripted.made[number].inbox.put((number, None))
        return []

    scripted.answer = staticmethod(answer)
    if not searching:
        monkeypatch.setattr(
            scripted, "send", lambda self, order: self.inbox.put((self.number, None))
        )
    with pytest.raises(SpecError, match=r"killed by signal 9, while it .*so nothing is confirmed"):
        outcome(plan_of())


def test_processes_that_do_not_start_leave_none_behind(
    scripted: type[Scripted], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: Scripted, order: object) -> None:
        if self.number == 1:
            raise OSError("too many processes")

    monkeypatch.setattr(scripted, "send", fail)
    with pytest.raises(OSError, match="too many"):
        outcome(plan_of())
    assert [one.ended for one in scripted.made] == [True, True]


@pytest.mark.parametrize("names", [[["a"]], []])
def test_other_specs_than_here_are_not_searched(
    scripted: type[Scripted], names: list[list[str]]
) -> None:
    with pytest.raises(NotPortableError), Together(1, [], names, plan_of()) as together:
        together.run()


def test_ctrl_c_interrupts_what_runs_and_begins_nothing_more(scripted: type[Scripted]) -> None:
    def answer(number: int, job: Job) -> list[tuple[Any, ...]]:
        if job.name == "b":
            signal.raise_signal(signal.SIGINT)
            scripted.made[0].say("result", "half of a", "")
            scripted.made[1].inbox.put((1, None))
        return []

    scripted.answer = staticmethod(answer)
    with Together(2, [], [["a", "b", "c"]], plan_of()) as together:
        together.run()
    assert together.interrupted
    found: dict[Job, Any] = {**together.found}
    assert found == {JOBS[0]: "half of a"}
    assert _worker.INTERRUPT in scripted.made[1].orders
    # where the specs are, the first job, and perhaps that it may be helped
    assert len([one for one in scripted.made[0].orders if one != _worker.HELP + b"2"]) == 2


def test_who_does_not_listen_to_ctrl_c_is_not_waited_for(
    scripted: type[Scripted], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_together, "LAST_MOMENT", 0.0)

    def answer(number: int, job: Job) -> list[tuple[Any, ...]]:
        signal.raise_signal(signal.SIGINT)
        return []

    scripted.answer = staticmethod(answer)
    assert outcome(plan_of(), 1) == {}


# ==== In the other process ====


def answers_of(*orders: object) -> list[tuple[Any, ...]]:
    inbox = queue.SimpleQueue[bytes | None]()
    for one in orders:
        inbox.put(pickle.dumps(one))
    inbox.put(None)
    pipe = io.BytesIO()
    _worker.serve(inbox, pipe)
    pipe.seek(0)
    found = []
    while pipe.tell() < len(pipe.getbuffer()):
        found.append(pickle.loads(read(pipe)))
    return found


def test_a_worker_says_what_it_has_loaded_and_what_it_finds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_worker, "NEWS", -1.0)
    file = write(
        tmp_path, WRONG.replace("def turn(self):", "def turn(self):\n            print(1)")
    )
    bounds = Bounds(None, None)
    ready, *rest = answers_of(
        [file], (Job(0, "wheel.Wheel", False), bounds), (Job(0, "no task", False), bounds)
    )
    assert ready == ("ready", [["wheel.Wheel", "wheel.Wrong"]])
    *progress, (kind, result, printed), error = rest
    assert {one[0] for one in progress} == {"progressed"}
    assert (kind, result.states) == ("result", 5)
    assert printed.startswith("1\n")
    assert error[0] == "error"
    assert error[1].startswith("no task: KeyError")


def test_a_worker_says_that_it_cannot_load_the_specs(tmp_path: Path) -> None:
    ((kind, why),) = answers_of([write(tmp_path, "raise SystemExit")])
    assert kind == "elsewhere"
    assert "cannot be imported" in why


def test_an_order_to_interrupt_is_one_and_no_other_is() -> None:
    with pytest.raises(KeyboardInterrupt):
        _worker.interrupts(_worker.INTERRUPT)
        time.sleep(5)  # the signal arrives in it
    assert not _worker.interrupts(b"another")


def test_half_a_message_is_none() -> None:
    whole = io.BytesIO()
    _processes.write(whole, "a result")
    with pytest.raises(EOFError):
        read(io.BytesIO(whole.getvalue()[:-1]))


# ==== As they are ====

SCRIPT = """
    import sys
    from structsync.checking import _suite
    from structsync.checking._together import Together
    from structsync.cli import main

    enter = Together.__enter__

    def noted(self):
        enter(self)
        print(*self.ids, flush=True, file=sys.__stdout__)
        return self

    Together.__enter__ = noted
    _suite.ALONE = -1.0
    main(["check", "-j", "2", {file!r}])
"""

TWO = dedent(ENDLESS) + dedent(
    """
    class Another(Endless):
        pass
    """
)


def is_there(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def gone(processes: Sequence[int], seconds: float) -> bool:
    until = time.monotonic() + seconds
    while any(map(is_there, processes)) and time.monotonic() < until:
        time.sleep(0.02)
    return not any(map(is_there, processes))


def running(file: Path) -> tuple[subprocess.Popen[str], list[int]]:
    process = subprocess.Popen(
        [sys.executable, "-c", dedent(SCRIPT.format(file=str(file)))],
        env={**os.environ, "PYTHONPATH": str(Path(structsync.__file__).parents[1])},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    workers = [int(one) for one in process.stdout.readline().split()]
    assert len(workers) == 2
    until = time.monotonic() + 60
    while not file.with_suffix(".running").exists() and time.monotonic() < until:
        time.sleep(0.02)
    return process, workers


@posix_only
def test_a_real_ctrl_c_ends_all_processes_with_what_they_have_found(tmp_path: Path) -> None:
    process, workers = running(write(tmp_path, TWO))
    pressed = time.monotonic()
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate()
    assert process.returncode == 2
    assert "not finished" in output
    assert gone(workers, 0)
    assert time.monotonic() - pressed < 20  # a second, on a machine with nothing else to do


@posix_only
@pytest.mark.parametrize("victim", ["a worker", "the owner"])
def test_a_process_that_is_killed_leaves_no_green_and_no_other_process(
    tmp_path: Path, victim: str
) -> None:
    process, workers = running(write(tmp_path, TWO))
    os.kill(workers[0] if victim == "a worker" else process.pid, signal.SIGKILL)
    _, error = process.communicate()
    assert process.returncode == (64 if victim == "a worker" else -signal.SIGKILL)
    assert ("was killed by signal 9, while it" in error) == (victim == "a worker")
    assert gone(workers, 20)

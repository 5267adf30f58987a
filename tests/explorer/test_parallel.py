"""One search in several processes.

Starting a process takes a second, so most of this runs the jobs of the processes in this one. The others are
in test_parallel_processes.py.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import pickle
import queue
import sys
import threading
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MethodType
from typing import Any, cast

import pytest
import trio

from structsync import _processes
from structsync.checking import Verdict
from structsync.checking._interrupt import InterruptFlag
from structsync.testing import (
    Exploration,
    ExploreUsageError,
    NondeterminismError,
    Settings,
    explore,
)
from structsync.testing._execution.current import age_decides
from structsync.testing._execution.schedule import Choice
from structsync.testing._exploration import with_handle
from structsync.testing._parallel import audit, shards, worker
from structsync.testing._parallel import search as parallel
from structsync.testing._parallel.audit import Walks, audited
from structsync.testing._parallel.frontier import LANES, Frontier
from structsync.testing._parallel.jobs import Allowance, Bench, Job, Jobs, Notes, Outside
from structsync.testing._parallel.lane import FailedElsewhere
from structsync.testing._parallel.merged import (
    Below,
    JointLog,
    JointMap,
    MergedLane,
    by_states,
)
from structsync.testing._parallel.plain import PlainLane
from structsync.testing._parallel.processes import Interrupted
from structsync.testing._parallel.program import NotPortable, named, packed
from structsync.testing._parallel.this_process import ThisProcess
from structsync.testing._parallel.worker import Surroundings
from structsync.testing._result import Partition
from structsync.testing._search.audit import MergeLog
from structsync.testing._search.choosers import Prefix
from structsync.testing._search.endless import ReachabilityMap
from structsync.testing._search.runs import Runs
from structsync.testing._search.search import fingerprinter, next_result
from structsync.testing._state import identity
from structsync.testing._state.across_processes import comparable
from structsync.testing._state.fingerprint import AgeDecides, Opaque

from .conftest import abba
from .hidden_state import HIDDEN
from .parallel_programs import (
    Group,
    at_a_database,
    decorated,
    ends_as_it_began,
    ends_with_its_order,
    goes_round_until_it_is_set,
    handler,
    one_order_in_many_fails,
    the_older_is_aborted_first,
    who_looks_first_looks_forever,
    with_a_semaphore,
)


class Here(Jobs):
    """Stands for other processes: does their jobs, one after the other."""

    def __init__(self, runs: Runs, number: int) -> None:
        own = Runs(runs.test, runs.settings)
        self.benches = [Bench(own, fingerprinter(runs.settings)) for _ in range(number)]
        self.comparable = comparable()

    def __enter__(self) -> Here:
        self.comparable.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self.comparable.__exit__(*error)

    def run(self, jobs: Sequence[Job]) -> list[Any]:
        # The last one first: in which order they are done makes no difference.
        places = reversed([*enumerate(jobs)])
        done = [job.run(self.benches[place % len(self.benches)]) for place, job in places]
        return done[::-1]

    def each(self, job: Job) -> list[Any]:
        return [job.run(bench) for bench in self.benches]


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the jobs of all processes be done in this one, from the first execution on."""
    monkeypatch.setattr(
        parallel, "_started", lambda runs, program: Here(runs, runs.settings.workers)
    )
    monkeypatch.setattr(parallel, "ALONE", 1)


def summary(found: Exploration) -> tuple[object, ...]:
    failure = found.failure
    return (
        found.verdict,
        found.executions,
        found.steps,
        failure and (failure.token, failure.execution),
    )


def the_log_is_returned() -> Callable[[], Awaitable[str]]:
    """Nothing fails; the two orders only end with different values."""
    hidden = HIDDEN["a global path"]

    async def returns_the_order() -> str:
        hidden.reset()

        async def worker(number: int) -> None:
            await trio.lowlevel.checkpoint()
            hidden.note(number)

        async with trio.open_nursery() as nursery:
            for number in (1, 2):
                nursery.start_soon(worker, number)
        async with trio.open_nursery() as nursery:
            for _ in range(2):
                nursery.start_soon(trio.lowlevel.checkpoint)
        return str(hidden.read())

    return returns_the_order


few = partial(with_a_semaphore, 2)


@pytest.mark.usefixtures("here")
def test_every_schedule_is_tried_once_in_all() -> None:
    alone = explore(few, search="plain")
    found = explore(few, search="plain", workers=2)
    assert found.verdict is Verdict.CONFIRMED
    assert summary(found) == summary(alone)
    assert found.covered == alone.covered + ", workers=2"


@pytest.mark.usefixtures("here")
def test_a_small_search_is_done_without_other_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "ALONE", 1_000)
    monkeypatch.delattr(parallel, "_started")
    assert explore(few, search="plain", workers=2).verdict is Verdict.CONFIRMED


@pytest.mark.usefixtures("here")
def test_a_budget_is_kept_to_the_execution() -> None:
    found = explore(with_a_semaphore, search="plain", workers=2, executions=100)
    assert found.executions == 100
    assert found.unfinished == "stopped after executions=100"


@pytest.mark.usefixtures("here")
def test_a_lane_may_take_so_much_time() -> None:
    found = explore(with_a_semaphore, search="plain", workers=2, executions=None, seconds=0.05)
    assert found.unfinished == "stopped after seconds=0.05"


@pytest.mark.usefixtures("here")
def test_a_failure_is_found_and_made_small_here() -> None:
    alone = explore(one_order_in_many_fails, search="plain", cancels=0)
    found = explore(one_order_in_many_fails, search="plain", cancels=0, workers=2)
    assert found.failure is not None
    assert alone.failure is not None
    assert found.failure.deviations == alone.failure.deviations
    assert found.failure.error is not None


def test_a_failure_that_is_none_here_is_never_green() -> None:
    runs = Runs(with_handle(few), Settings(cancels=0))
    with runs.open():
        choices = tuple(runs.execute(Prefix((), go_on=True)).choices)
        passed = FailedElsewhere(choices, ("deadlock", ""), "all wait")
        with pytest.raises(
            NondeterminismError, match=r"with deadlock all wait, and here with passed"
        ):
            passed.repeated(runs)


def test_other_searches_are_made_by_one_process() -> None:
    assert explore(few, search="sweep", workers=2).verdict is Verdict.CONFIRMED
    assert explore(few, search="random", workers=2, executions=10).executions == 10


def test_lanes_that_are_empty_steal_from_the_longest() -> None:
    frontier = Frontier([*range(20)])
    frontier.share()
    assert sorted(one for lane in frontier.lanes for one in lane) == [*range(20)]
    assert all(frontier.lanes)
    assert frontier.allot(3, 7) == [(0, 3), (1, 3), (2, 1)]
    assert len(frontier.allot(3, None)) == LANES


# ==== by states ====


@pytest.mark.usefixtures("here")
def test_the_result_is_the_same_for_any_number_of_processes() -> None:
    two, three = (explore(with_a_semaphore, search="states", cancels=0, workers=n) for n in (2, 3))
    assert two.verdict is Verdict.CONFIRMED
    assert two.way == "merged"
    assert two.merges_audited > 0
    assert two.schedules_audited >= 200
    assert (*summary(two), two.states) == (*summary(three), three.states)


@pytest.mark.usefixtures("here")
def test_what_is_too_large_to_be_searched_plainly_is_searched_by_states() -> None:
    found = explore(with_a_semaphore, workers=2, executions=150)
    assert found.way == "merged"
    assert explore(few, workers=2, cancels=0).way == "plain"


@pytest.mark.usefixtures("here")
def test_a_failure_is_found_by_states() -> None:
    found = explore(abba, search="states", workers=2)
    assert found.failure is not None
    assert (found.failure.kind, found.way) == ("deadlock", "merged")


@pytest.mark.usefixtures("here")
def test_a_way_without_an_end_is_found_on_the_graph_of_all_lanes() -> None:
    found = explore(who_looks_first_looks_forever, search="states", max_steps=100, workers=2)
    assert found.failure is not None
    assert (found.failure.kind, found.failure.deviations) == ("endless", 1)


@pytest.mark.usefixtures("here")
def test_a_way_out_that_is_left_to_another_lane_is_one() -> None:
    found = explore(goes_round_until_it_is_set, search="states", cancels=0, max_steps=15, workers=2)
    assert found.verdict is Verdict.CONFIRMED


@pytest.mark.usefixtures("here")
def test_what_cannot_be_looked_into_is_searched_in_one_process() -> None:
    found = explore(at_a_database, search="states", workers=2, cancels=0, executions=50)
    assert (found.verdict, found.way, found.states) == (Verdict.CONFIRMED, "plain", 0)


@pytest.mark.usefixtures("here")
def test_the_rest_of_a_budget_goes_to_schedules_at_random() -> None:
    found = explore(partial(with_a_semaphore, 4), workers=2, executions=150)
    assert found.executions == 150
    assert "schedules by priorities at random found nothing" in str(found.unfinished)
    assert "of the " in str(found.unfinished)


@pytest.mark.usefixtures("here")
def test_the_world_outside_is_noted_in_each_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Outside, "run", lambda job, bench: "opens 'x' for writing at y")
    for search in ("plain", "states"):
        found = explore(few, search=search, cancels=0, workers=2)
        assert found.verdict is Verdict.UNFINISHED
        assert "the test opens 'x' for writing at y" in str(found.unfinished)


@pytest.mark.usefixtures("here")
def test_what_each_process_notices_is_said_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Notes, "run", lambda job, bench: (("a clock was read at z",), True))
    for search in ("plain", "states"):
        found = explore(few, search=search, cancels=0, workers=2)
        assert found.notes[0] == "a clock was read at z"
        assert found.notes[1].startswith("deadlines came in their order only")
        assert len(found.notes) == 2


# ==== the audit ====


@pytest.mark.usefixtures("here", "blind")
@pytest.mark.parametrize("part", ["FEWEST_MERGES", "FEWEST_SCHEDULES"])
def test_either_half_of_the_audit_sees_what_no_state_holds(
    part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit, part, 0)
    monkeypatch.setattr(audit, "SHARE", 1_000)
    hidden = HIDDEN["a global Decimal"].program()
    monkeypatch.setattr(parallel, "packed", lambda build: b"")
    found = explore(hidden, search="states", cancels=0, workers=2)
    assert found.verdict is Verdict.REFUTED
    assert (found.schedules_audited > 0) == (part == "FEWEST_MERGES")


@pytest.mark.usefixtures("here", "blind")
def test_without_the_audit_it_would_be_confirmed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "FEWEST_MERGES", 0)
    monkeypatch.setattr(audit, "FEWEST_SCHEDULES", 0)
    monkeypatch.setattr(audit, "SHARE", 1_000)
    monkeypatch.setattr(parallel, "packed", lambda build: b"")
    hidden = HIDDEN["a global Decimal"].program()
    found = explore(hidden, search="states", cancels=0, workers=2)
    assert found.verdict is Verdict.CONFIRMED


@pytest.mark.usefixtures("here", "blind")
@pytest.mark.parametrize("part", ["FEWEST_MERGES", "FEWEST_SCHEDULES"])
def test_what_was_never_seen_is_not_finished(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, part, 0)
    monkeypatch.setattr(audit, "SHARE", 1_000)
    monkeypatch.setattr(parallel, "packed", lambda build: b"")
    found = explore(the_log_is_returned(), search="states", cancels=0, workers=2)
    assert found.verdict is Verdict.UNFINISHED
    assert "two states were taken for equal that differ" in str(found.unfinished)


@pytest.mark.usefixtures("here")
def test_an_audit_that_the_budget_ends_is_not_finished() -> None:
    whole = explore(with_a_semaphore, search="states", cancels=0, workers=2)
    for executions in (whole.searched + 1, whole.searched + whole.merges_audited + 1):
        found = explore(
            with_a_semaphore, search="states", cancels=0, workers=2, executions=executions
        )
        assert found.verdict is Verdict.UNFINISHED
        assert found.unfinished == f"stopped after executions={executions}, in the audit"


def test_an_audit_for_which_no_time_is_left_is_not_finished() -> None:
    runs = Runs(with_handle(ends_with_its_order), Settings(cancels=0, executions=None))
    with runs.open(), comparable(), Here(runs, 2) as here:
        log = JointLog(0)
        joint = JointMap(fingerprinter(runs.settings), log)
        found = by_states(runs, here, [Below(())], joint, log)
        runs.settings = Settings(cancels=0, executions=None, seconds=1e-9)
        made = audited(runs, here, log, found, [()])
    assert made.unfinished == "stopped after seconds=1e-09, in the audit"


@pytest.mark.usefixtures("here")
def test_what_is_carried_on_is_given_up_far_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "FARTHEST", 1)
    found = explore(ends_with_its_order, search="states", cancels=0, workers=2)
    assert found.verdict is Verdict.CONFIRMED


@pytest.mark.usefixtures("here")
def test_a_walk_that_is_another_one_by_now_is_refused() -> None:
    runs = Runs(with_handle(few), Settings(cancels=0))
    with runs.open():
        walks = Walks([(0, [Choice("run", "no task")])])
        with pytest.raises(NondeterminismError, match="expected 'run no task'"):
            walks.run(Bench(runs, fingerprinter(runs.settings)))
        lane = PlainLane([(Choice("run", "no task"),)], Allowance(1, 1_000, None))
        with pytest.raises(NondeterminismError, match="expected 'run no task'"):
            lane.run(Bench(runs, fingerprinter(runs.settings)))


def endings(log: MergeLog) -> set[object]:
    return {key for key in log.numbers if isinstance(key, tuple)}


def test_what_lanes_leave_to_each_other_is_never_lost() -> None:
    """Rounds of few executions: a path is left to others wherever it branches."""
    runs = Runs(with_handle(ends_with_its_order), Settings(cancels=0, executions=None))
    with runs.open(), comparable():
        log, look = MergeLog(0), fingerprinter(runs.settings)
        chooser = ReachabilityMap(look, log)
        while next_result(runs, chooser, None) is None:
            pass
        joint, joint_log = JointMap(look, JointLog(0)), JointLog(0)
        with Here(runs, 2) as here:
            by_states(runs, here, [Below(())], joint, joint_log)
    assert len(endings(log)) == 6
    assert endings(joint_log) == endings(log)
    assert chooser.seen.keys() <= joint.seen.keys()


# ==== what a worker process does ====


def inbox(*messages: object) -> queue.SimpleQueue[bytes | None]:
    found = queue.SimpleQueue[bytes | None]()
    for one in messages:
        found.put(one if isinstance(one, bytes | None) else pickle.dumps(one))
    return found


def answers(pipe: io.BytesIO) -> list[Any]:
    found = []
    pipe.seek(0)
    with contextlib.suppress(EOFError):
        while True:
            found.append(pickle.loads(_processes.read(pipe)))
    return found


@dataclass
class Raises(Job):
    error: Exception

    def run(self, bench: Bench) -> None:
        raise self.error


def test_a_worker_answers_with_what_a_job_returns_or_raises() -> None:
    pipe = io.BytesIO()
    setup = Surroundings.here(), (Settings(), None, False), packed(partial(with_handle, few))
    jobs = [Outside(), *map(Raises, (Opaque("x"), NondeterminismError("y"), KeyError("z")))]
    worker.serve(inbox(*setup, *jobs, None), pipe)
    ready, none, *errors = answers(pipe)
    assert ready == ("result", hash("structsync"))
    assert none == ("result", None)
    assert errors[:2] == [("Opaque", "x"), ("NondeterminismError", "y")]
    assert errors[2][0] == "RuntimeError"
    assert "KeyError: 'z'" in errors[2][1]


@pytest.mark.parametrize("is_known", [True, False])
def test_a_worker_is_told_where_ages_decide_and_says_where_they_do(is_known: bool) -> None:
    pipe = io.BytesIO()
    build = packed(partial(with_handle, the_older_is_aborted_first))
    lane = MergedLane([Below(())], Allowance(1_000, 100_000, None))
    settings = Settings(cancels=0, executions=None)
    worker.serve(inbox(Surroundings.here(), (settings, None, is_known), build, lane, None), pipe)
    _, (kind, _) = answers(pipe)
    assert kind == ("result" if is_known else "AgeDecides")


@pytest.mark.usefixtures("here")
def test_processes_begin_again_where_one_of_them_finds_that_ages_decide() -> None:
    found = explore(the_older_is_aborted_first, search="states", cancels=0, workers=2)
    assert found.failure is not None
    assert found.failure.message == "AssertionError: [1, 2]"


def test_a_worker_that_cannot_import_the_test_says_so() -> None:
    pipe = io.BytesIO()
    worker.serve(inbox(Surroundings.here(), (Settings(), None, False), b"nothing"), pipe)
    ((kind, text),) = answers(pipe)
    assert kind == "NotPortable"
    assert "a worker process cannot import the test: UnpicklingError" in text
    pipe = io.BytesIO()
    worker.serve(inbox(None), pipe)
    assert "EOFError" in answers(pipe)[0][1]


def test_a_worker_whose_owner_is_gone_ends_in_the_middle(monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[int] = []
    monkeypatch.setattr(_processes, "_sleep", lambda seconds: None)
    monkeypatch.setattr(os, "_exit", ended.append)
    pipe = io.BytesIO()
    _processes.write(pipe, "a job")
    pipe.seek(0)
    got = inbox()
    _processes.listen(pipe, got, lambda data: False)
    assert pickle.loads(got.get() or b"") == "a job"
    assert got.get() is None
    assert ended == [1]


# ==== numbers that other processes know ====


def test_what_other_processes_cannot_name_is_opaque() -> None:
    class Cannot:
        def __reduce_ex__(self, protocol: object) -> str:
            raise TypeError("not at all")

    class Named:
        def __reduce_ex__(self, protocol: object) -> str:
            return "the only one"

    with comparable():
        with pytest.raises(Opaque, match="Cannot, which has no name by which another process"):
            identity.number_of(Cannot())
        first = Named()
        assert identity.number_of(first) == identity.number_of(first)
        with pytest.raises(Opaque, match="could not distinguish from another one"):
            identity.number_of(Named())


# ==== shards ====


@pytest.mark.slow
@pytest.mark.parametrize("search", ["plain", "states"])
def test_the_shards_of_a_search_are_the_whole_of_it(search: Any) -> None:
    whole = explore(with_a_semaphore, search=search, cancels=0)
    parts = [
        explore(with_a_semaphore, search=search, cancels=0, shard=(number, 2)) for number in (1, 2)
    ]
    cuts = [one.shard for one in parts]
    assert all(one is not None and one.complete for one in cuts)
    assert len({one and (one.digest, one.depth, one.prefixes) for one in cuts}) == 1
    assert [one.verdict for one in parts] == [Verdict.UNFINISHED] * 2
    assert str(parts[0].unfinished).startswith("shard 1 of 2 is complete, and only all of them")
    assert whole.searched <= sum(one.searched for one in parts)


@pytest.mark.unmeasured
def test_a_schedule_that_fails_is_in_one_of_the_shards() -> None:
    found = [
        explore(one_order_in_many_fails, search="plain", cancels=0, shard=(number, 3))
        for number in (1, 2, 3)
    ]
    assert Verdict.REFUTED in {one.verdict for one in found}


def test_what_is_small_is_searched_by_each_shard() -> None:
    found = explore(few, cancels=0, shard=(2, 2))
    assert found.shard == Partition(2, 2, depth=0, prefixes=1, digest="", complete=True)
    assert explore(few, search="plain", cancels=0, shard=(1, 50)).shard == Partition(
        1, 50, depth=0, prefixes=1, digest="", complete=True
    )


def test_a_shard_that_is_not_complete_says_so() -> None:
    found = explore(with_a_semaphore, search="plain", shard=(1, 2), executions=60)
    assert found.shard is not None
    assert not found.shard.complete
    assert found.unfinished == "stopped after executions=60"
    assert explore(with_a_semaphore, search="plain", shard=(1, 2), executions=3).executions == 3


@pytest.mark.slow
def test_the_schedules_of_an_audit_begin_as_the_shard_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """They would end as none of it has ended, where each shard ends otherwise."""
    monkeypatch.setattr(shards, "FOR_EACH", 2)
    for number in (1, 2, 3):
        found = explore(ends_as_it_began, search="states", cancels=0, shard=(number, 3))
        assert found.shard is not None
        assert found.shard.complete, found.unfinished
        assert found.schedules_audited in (0, 200)  # none where nothing was its own


def test_a_shard_of_what_cannot_be_looked_into_is_not_finished(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(shards, "FOR_EACH", 1)
    found = explore(at_a_database, search="states", cancels=0, shard=(1, 1))
    assert "cannot look into sqlite3.Connection: divide it into shards with search='plain'" in str(
        found.unfinished
    )


def test_ctrl_c_ends_a_shard(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(InterruptFlag, "__bool__", lambda flag: True)
    runs = Runs(with_handle(few), Settings())
    with pytest.raises(Interrupted):
        ThisProcess(runs, lambda: bool(runs.interrupt)).run([Outside()])


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"shard": (0, 2)}, "shard must be one of several"),
        ({"shard": (3, 2)}, "shard must be one of several"),
        ({"shard": (1, 2), "search": "sweep"}, "search='sweep' cannot be divided into shards"),
        ({"shard": (1, 2), "liveness": True}, "liveness cannot be divided into shards"),
        ({"workers": 0}, "workers must be an int >= 1"),
    ],
)
def test_what_cannot_be_shared_is_refused(settings: Any, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        Settings(**settings)


# ==== what can be sent ====


def test_what_is_wrapped_or_bound_is_found_by_its_name() -> None:
    inner = cast(Any, decorated).__structsync_explored__[0]
    assert named(inner.__module__, inner.__qualname__, inner.__code__.co_filename) is inner
    made = pickle.loads(packed(partial(with_handle, partial(few))))
    assert callable(made())
    bound = Group().method
    inner = cast(Any, bound).__structsync_explored__[0]
    sent = pickle.loads(packed(partial(with_handle, MethodType(inner, Group()))))
    assert sent.args[0].__func__ is inner


def test_a_file_that_no_name_leads_to_is_imported_by_its_path(tmp_path: Path) -> None:
    for place in (tmp_path / "json.py", tmp_path / "no_name_leads_here.py"):
        place.write_text("def found(): return __name__")
        function = cast(Any, named(place.stem, "found", str(place)))
        assert function() == place.stem
        sys.modules.pop(place.stem)
    importlib.import_module("json")
    with pytest.raises(ImportError):
        named("no_such_module", "x", None)
    with pytest.raises(ImportError, match="cannot be imported as no_such_module"):
        named("no_such_module", "x", "a file without a suffix")


async def _takes(what: object) -> None: ...


def test_what_cannot_be_sent_is_refused_with_the_reason() -> None:
    async def local() -> None:
        await few()

    with pytest.raises(
        ExploreUsageError, match="is made inside of a function: put it into a module"
    ):
        explore(local, search="plain", workers=2)
    for test, reason in (
        (handler, "is not this function"),
        (partial(_takes, threading.Lock()), "cannot pickle"),
    ):
        with pytest.raises(NotPortable, match=reason):
            packed(partial(with_handle, test))


def test_what_belongs_to_a_script_is_refused() -> None:
    class Strange: ...

    async def program(x: object) -> None: ...

    for thing in (program, Strange):
        thing.__module__, thing.__qualname__ = "__main__", "thing"
        with pytest.raises(NotPortable, match="a script or an interactive session"):
            packed(partial(with_handle, cast(Any, thing)))


@pytest.mark.usefixtures("here")
def test_a_search_begins_again_where_another_process_says_that_ages_decide(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Which of them meets it first is a matter of time, so here it is said before anything is searched."""
    searched, known = parallel._Shared._by_states, list[bool]()

    def by_states(self: Any, prefixes: Any) -> Any:
        known.append(age_decides())
        if not known[-1]:
            raise AgeDecides
        return searched(self, prefixes)

    monkeypatch.setattr(parallel._Shared, "_by_states", by_states)
    assert explore(few, search="states", cancels=0, workers=2).verdict is Verdict.CONFIRMED
    assert known == [False, True]


async def fails_at_once() -> None:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(trio.lowlevel.checkpoint)
        nursery.start_soon(trio.lowlevel.checkpoint)
        raise KeyError("at once")


def test_what_fails_while_the_search_is_cut_is_found_by_each_shard() -> None:
    for number in (1, 50):  # so many that it is cut nowhere
        found = explore(fails_at_once, search="states", cancels=0, shard=(number, 50))
        assert found.failure is not None

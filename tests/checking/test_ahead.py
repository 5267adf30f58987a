"""Other processes take the moves of one search ahead: what it finds is what it finds without them."""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar, cast

import pytest

from structsync._processes import Inbox
from structsync.checking import (
    Result,
    SpecError,
    Verdict,
    _ahead,
    _helper,
    _implies,
    _worker,
    implies,
)
from structsync.checking._ahead import Helpers, packed, unpacked
from structsync.checking._jobs import Bounds, Job, do
from structsync.checking._judging import Judge
from structsync.checking._load import Loaded
from structsync.checking._model import Model

from .test_together import without_times
from .walks import ALL, HERE, LOADED, SIDE, Mapped, Point, Walk

ENTER = "structsync.checking._search.enter"


# ==== Processes that are threads of this one ====


class Thread:
    """In place of a process: does what a process would, one order after the other."""

    made: ClassVar[list[Thread]] = []
    dies = False

    def __init__(self, number: int, inbox: Inbox, program: str) -> None:
        self._number, self._inbox, self._last = number, inbox, b""
        self._orders = queue.SimpleQueue[bytes | None]()
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()
        self.made.append(self)

    def _serve(self) -> None:
        try:
            _helper.serve(self._orders, cast("Any", self))
        finally:
            self._inbox.put((self._number, None))

    def send(self, message: Any) -> None:
        self._orders.put(message)

    def write(self, data: bytes) -> None:
        self._last = data

    def flush(self) -> None:
        self._inbox.put((self._number, None if self.dies else self._last))

    def end(self, *, at_once: bool) -> None:
        self._orders.put(None)
        self._thread.join()

    def how_it_ended(self) -> str:
        return "a worker process was killed by signal 9"


@pytest.fixture
def threads(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Thread]]:
    """Let threads help from the beginning, two states at a time."""

    class Counted(Thread):
        made: ClassVar[list[Thread]] = []

    kind = Counted
    monkeypatch.setattr(_ahead, "Process", kind)
    monkeypatch.setattr(_ahead, "PATIENCE", -1.0)
    monkeypatch.setattr(_ahead, "SLICE", 2)
    monkeypatch.setattr(_helper, "load_all", lambda paths: LOADED)
    yield kind
    for one in kind.made:
        one.end(at_once=True)


def searched(name: str, helpers: int, **bounds: Any) -> Any:
    """Return what is said of a spec."""
    job = Job(0, name, False)
    given = Bounds(bounds.get("max_states"), bounds.get("seconds"))
    names = _worker.names_of(LOADED)
    ahead = Helpers(lambda: helpers, ((), names, job, given)) if helpers else None
    result = do(job, LOADED, given, helpers=ahead)
    assert isinstance(result, Result)
    return without_times(result_document(result))


def result_document(result: Result) -> dict[str, Any]:
    shown = [
        (one.name, one.verdict, one.detail, str(one.counterexample)) for one in result.properties
    ]
    return {
        "spec": result.spec,
        "states": result.states,
        "transitions": result.transitions,
        "depth": result.depth,
        "stopped_by": result.stopped_by,
        "properties": shown,
    }


# ==== The same outcome ====


@pytest.mark.parametrize("name", [one.__name__ for one in ALL])
@pytest.mark.parametrize("helpers", [1, 2])
def test_what_is_found_is_what_is_found_without_help(
    threads: type[Thread], name: str, helpers: int
) -> None:
    assert searched(name, helpers) == searched(name, 0)
    assert len(threads.made) == helpers


def test_something_is_found_in_the_specs_that_are_compared() -> None:
    said = {name: searched(name, 0) for name in ("Astray", "Stumbling", "Idle", "Forgetful")}
    verdicts = {
        (name, one): verdict
        for name, result in said.items()
        for one, verdict, *_ in result["properties"]
    }
    refuted = {key for key, verdict in verdicts.items() if verdict is Verdict.REFUTED}
    assert refuted == {
        ("Astray", "not_there"),
        ("Astray", "nor_there"),
        ("Astray", "never_from_there"),
        ("Astray", "at_the_top"),
        ("Stumbling", "no_action_fails"),
        ("Stumbling", "no_deadlock"),
        ("Stumbling", "can_be_told"),
        ("Stumbling", "on_the_square"),
        ("Forgetful", "a_task_that_comes_goes"),
    }
    assert verdicts["Idle", "never_asked"] is Verdict.VACUOUS
    assert verdicts["Idle", "met"] is Verdict.CONFIRMED


@pytest.mark.parametrize("most", [7, 11, 16])
@pytest.mark.usefixtures("threads")
def test_a_search_that_is_cut_off_has_seen_the_same(most: int) -> None:
    for name in ("Astray", "Names"):
        assert searched(name, 2, max_states=most) == searched(name, 0, max_states=most)


def test_moves_are_taken_ahead(threads: type[Thread], monkeypatch: pytest.MonkeyPatch) -> None:
    entered: list[int] = []
    enter = _ahead.enter

    def counted(search: Any, taken: Any) -> None:
        entered.append(search.graph.expanded)
        enter(search, taken)

    monkeypatch.setattr(ENTER, counted)
    searched("Walk", 2)
    assert len(entered) > SIDE


# ==== When there is no help ====


def test_a_search_that_is_over_soon_is_not_helped(
    threads: type[Thread], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_ahead, "PATIENCE", 60.0)
    assert searched("Walk", 2) == searched("Walk", 0)
    assert not threads.made


def test_a_search_is_not_helped_before_it_may_be(threads: type[Thread]) -> None:
    job, asked = Job(0, "Walk", False), iter(range(100))
    ahead = Helpers(
        lambda: int(next(asked) > 4), ((), _worker.names_of(LOADED), job, Bounds(None, None))
    )
    do(job, LOADED, Bounds(None, None), helpers=ahead)
    assert len(threads.made) == 1


def test_states_that_cannot_be_sent_are_not_given_to_any_process(
    threads: type[Thread], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_ahead, "packed", lambda value: None)
    assert searched("Walk", 2) == searched("Walk", 0)
    assert not threads.made


@pytest.mark.usefixtures("threads")
def test_who_does_not_find_the_specs_does_not_help(monkeypatch: pytest.MonkeyPatch) -> None:
    alone = searched("Walk", 0)
    other = [Loaded(Path(), True, {"Walk": Walk}, {})]
    monkeypatch.setattr(_helper, "load_all", lambda paths: other)
    assert searched("Walk", 2) == alone


def test_a_helper_that_dies_is_an_error(threads: type[Thread]) -> None:
    threads.dies = True
    with pytest.raises(SpecError, match="Walk: a worker process was killed by signal 9, while it"):
        searched("Walk", 2)


def test_the_time_is_up_while_a_helper_does_not_answer(
    threads: type[Thread], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(threads, "flush", lambda self: None)
    assert searched("Walk", 1, seconds=0.2)["stopped_by"] == "the bound of 0.2 seconds"


# ==== What is sent ====


@pytest.mark.parametrize("value", [(1, ("a", frozenset({2.0}))), (Point(3), None)])
def test_what_is_packed_comes_out_the_same(value: object) -> None:
    data = packed(value)
    assert data is not None
    assert unpacked(data) == value


class Shrinks(tuple[int, ...]):
    def __reduce__(self) -> Any:
        return tuple, ((*self,),)


@pytest.mark.parametrize("value", [(object(),), (HERE,), (Shrinks((1, 2)),)])
def test_what_does_not_come_out_the_same_is_not_packed(value: object) -> None:
    assert packed(value) is None


def test_antecedents_that_were_true_elsewhere_were_true() -> None:
    def judge(value: int) -> bool:
        return implies(value > 1, True)

    _implies.forget()
    judge(0)
    said = _implies.record()
    assert _implies.never_met(judge.__code__)
    _implies.forget()
    assert not _implies.never_met(judge.__code__)
    _implies.learn(said)
    assert _implies.never_met(judge.__code__)
    judge(2)
    assert not _implies.never_met(judge.__code__)
    said = _implies.record()
    _implies.forget()
    _implies.learn(said)
    judge(0)
    assert not _implies.never_met(judge.__code__)


def test_a_refinement_of_which_a_step_was_seen_elsewhere_has_moved() -> None:
    judge = Judge(Model(Mapped))
    assert judge.moved() == ()
    name = next(iter(judge.refinements))
    judge.learn(False, [name])
    assert judge.moved() == (name,)


def test_a_worker_is_told_how_many_may_help(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_worker.helping, "number", 0)
    assert _worker.interrupts(_worker.HELP + b"12")
    assert _worker.helping() == 12


# ==== The tests above can fail ====


def steps_are_entered_in_another_order(patch: pytest.MonkeyPatch) -> None:
    enter = _ahead.enter
    patch.setattr(
        ENTER,
        lambda search, taken: enter(search, taken._replace(steps=taken.steps[::-1])),
    )


def slices_are_entered_as_they_arrive(patch: pytest.MonkeyPatch) -> None:
    class Newest(deque[int]):
        def popleft(self) -> int:
            return self.pop()

    patch.setattr(_ahead, "deque", Newest)


def moves_keep_their_numbers(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(_ahead._Helper, "_label", lambda self, search, label: label)


def invariants_are_not_judged(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(_helper._Strict, "state", lambda self, number: None)


def steps_are_not_judged(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(_helper._Strict, "step", lambda self, number, move: None)


def marks_are_lost(patch: pytest.MonkeyPatch) -> None:
    enter = _ahead.enter
    patch.setattr(
        ENTER,
        lambda search, taken: enter(search, taken._replace(marks=[0 for _ in taken.marks])),
    )


def transitions_are_counted_by_states(patch: pytest.MonkeyPatch) -> None:
    enter = _ahead.enter

    def entered(search: Any, taken: Any) -> None:
        before = search.transitions
        enter(search, taken)
        search.transitions = before + 1

    patch.setattr(ENTER, entered)


@pytest.mark.unmeasured
@pytest.mark.parametrize(
    "plant",
    [
        steps_are_entered_in_another_order,
        slices_are_entered_as_they_arrive,
        moves_keep_their_numbers,
        invariants_are_not_judged,
        steps_are_not_judged,
        marks_are_lost,
        transitions_are_counted_by_states,
    ],
)
@pytest.mark.usefixtures("threads")
def test_a_bug_in_the_merge_is_found(
    plant: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = [searched(one.__name__, 0) for one in ALL]
    plant(monkeypatch)
    differs = 0
    for one, expected in zip(ALL, alone, strict=True):
        try:
            differs += searched(one.__name__, 2) != expected
        except Exception:  # noqa: BLE001 - whatever finds it
            differs += 1
    assert differs

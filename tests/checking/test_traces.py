"""Following a trace: what is allowed, what is left open, and what the first wrong event says."""

import io
import json
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import trio
from click.testing import CliRunner, Result
from rich.console import Console

from structsync import Semaphore
from structsync.checking import (
    Call,
    Meaning,
    NothingFollowed,
    Spec,
    SpecError,
    Trace,
    TraceEvent,
    TraceRefuted,
    action,
    invariant,
    record,
    start,
    step,
    validate,
)
from structsync.checking import _following as following
from structsync.checking import _witness as witness
from structsync.checking._following import Follower
from structsync.cli import main
from structsync.observing import validating
from structsync.report import Counterexample, to_text
from structsync.testing import Exploration, Verdict
from structsync.testing._exploration import run
from structsync.testing._settings import Settings


class Jugs(Spec):
    """Water moves between a jug of three and a jug of five, as far as can be seen."""

    small: int = start(int)
    large: int = start(int)

    @action(litres=(1, 2, 3), when=lambda self, litres: self.small + litres <= 3)
    def fill_small(self, litres: int) -> None:
        self.small += litres

    @action(when=lambda self: self.small > 0)
    def pour(self) -> None:
        self.small, self.large = 0, self.large + self.small

    @action
    def spill(self) -> None:
        self.large = 0

    @invariant
    def small_is_small(self) -> bool:
        return self.small <= 3

    def observed(self) -> Mapping[str, object]:
        return {"large": self.large}


def fill(**details: Any) -> TraceEvent:
    return TraceEvent("fill_small", details)


def rendered(shown: Counterexample | None) -> str:
    assert shown is not None
    console = Console(width=100, record=True, file=io.StringIO())
    console.print(to_text(shown))
    return console.export_text()


def test_an_event_is_the_action_of_its_name_unless_the_spec_says_otherwise() -> None:
    follower = Follower(Jugs)
    assert follower.see(fill(litres=2))
    assert follower.see(TraceEvent("pour", state={"large": 2}))
    assert follower.refutation is None
    assert follower.events == 2


def test_what_an_event_leaves_open_is_decided_by_a_later_one() -> None:
    follower = Follower(Jugs)
    for event in (fill(), TraceEvent("pour"), fill()):
        assert follower.see(event)
    assert follower.see(TraceEvent("pour", state={"large": 6}))  # twice 3, and nothing else
    assert follower.see(TraceEvent("spill", state={"large": 0}))
    assert not follower.see(TraceEvent("pour"))


def test_the_first_wrong_event_is_told_with_the_way_that_led_to_it() -> None:
    follower = Follower(Jugs)
    follower.see(fill(litres=2))
    assert not follower.see(fill(litres=2))
    assert not follower.see(fill(litres=1))  # of what comes after it nothing is said
    assert follower.events == 2
    text = rendered(follower.refutation)
    assert "fill_small(litres=2) (event 2 of the trace)" in text
    assert "does not allow this event in the state below" in text
    assert "possible: fill_small(litres=1), pour() and spill()" in text
    assert "1   fill_small(litres=2)   small 2" in text


def test_what_is_seen_of_the_state_is_compared() -> None:
    follower = Follower(Jugs)
    follower.see(fill(litres=2))
    follower.see(fill())
    assert not follower.see(TraceEvent("pour", {}, "a", "jugs", state={"large": 5}))
    assert follower.refutation is not None
    assert follower.refutation.detail == ("after pour() large is 5, and 3 in the specification")
    assert follower.refutation.refuted == "jugs.pour(task='a')"


def test_several_states_that_do_not_allow_it_are_counted() -> None:
    follower = Follower(Jugs)
    follower.see(fill())
    assert not follower.see(fill(litres=3))
    assert "in this state, nor in 2 others" in rendered(follower.refutation)


def test_what_is_not_seen_may_happen_at_any_moment() -> None:
    assert not Follower(Jugs).see(TraceEvent("pour"))
    follower = Follower(Jugs, unseen=["fill_small"])
    assert follower.see(TraceEvent("pour", state={"large": 3}))
    assert follower.see(TraceEvent("pour", state={"large": 4}))
    assert not follower.see(TraceEvent("pour", state={"large": 8}))
    text = rendered(follower.refutation)
    assert "unseen" in text
    assert "fill_small(litres=3)" in text


def explain(spec: Jugs, event: TraceEvent) -> Meaning:
    match event.kind:
        case "noise":
            return None
        case "is full":
            return spec.small == 3
        case "something":
            return [Call("pour"), Call("spill")]
        case other:
            return Call(other, **event.details)


def test_an_event_may_mean_nothing_or_only_tell_what_is_so() -> None:
    follower = Follower(Jugs, explain)
    assert follower.see(TraceEvent("noise"))
    assert follower.see(fill())
    assert follower.see(TraceEvent("is full"))
    assert follower.see(TraceEvent("something"))
    assert follower.see(TraceEvent("noise"))
    assert follower.see(TraceEvent("pour", state={"large": 3}))  # so that one was spilled
    assert not follower.see(TraceEvent("is full"))


def test_an_event_that_only_tells_something_may_follow_what_was_not_seen() -> None:
    follower = Follower(Jugs, explain, unseen=["fill_small"])
    assert follower.see(TraceEvent("noise"))
    assert follower.see(TraceEvent("is full", state={"large": 0}))
    assert not follower.see(TraceEvent("is full", state={"large": 1}))


def test_a_long_trace_shows_its_last_steps() -> None:
    follower = Follower(Jugs)
    for _ in range(following.KEPT):
        follower.see(fill(litres=1))
        follower.see(TraceEvent("pour"))
    assert not follower.see(TraceEvent("pour"))
    assert follower.refutation is not None
    assert len(follower.refutation.steps) == following.KEPT + 1
    assert follower.refutation.start_note == "after 50 events or more"


def test_too_many_states_at_once_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(following, "MOST", 2)
    with pytest.raises(
        SpecError, match="may be in more than 2 states; let `explain` describe more"
    ):
        Follower(Jugs).see(fill())
    with pytest.raises(SpecError, match="leave less unseen"):
        Follower(Jugs, unseen=["fill_small", "pour"]).see(TraceEvent("spill"))


def test_what_does_not_fit_the_specification_is_an_error() -> None:
    with pytest.raises(SpecError, match="has no action 'puor'; the nearest: pour"):
        Follower(Jugs).see(TraceEvent("puor"))
    with pytest.raises(SpecError, match="gives liters, and the parameters"):
        Follower(Jugs).see(fill(liters=2))
    with pytest.raises(SpecError, match=r"deep is seen, and .* observed\(\) has large"):
        Follower(Jugs).see(TraceEvent("spill", state={"deep": 1}))
    with pytest.raises(SpecError, match="has no action 'fil'"):
        Follower(Jugs, unseen=["fil"])


# ==== a program that runs ====


def test_a_program_that_does_what_is_allowed_passes() -> None:
    with validate(Jugs) as trace:
        trace.happened("fill_small", litres=3)
        trace.happened("pour", state={"large": 3})
    assert trace.events == 2
    assert trace.refutation is None


def test_a_program_that_does_something_else_fails_at_the_end_of_the_block() -> None:
    ended = False
    with pytest.raises(TraceRefuted, match=r"pour\(\)") as caught, validate(Jugs) as trace:
        trace.happened("pour")
        trace.happened("pour")
        ended = True
    assert ended
    assert caught.value.counterexample is trace.refutation
    assert trace.events == 1


def test_in_production_a_function_is_called_at_once_and_nothing_is_raised() -> None:
    told: list[Counterexample] = []
    with validate(Jugs, on_refuted=told.append) as trace:
        trace.happened("pour")
        assert told == [trace.refutation]
        trace.happened("pour")
    assert len(told) == 1


def test_an_error_of_the_program_is_not_replaced() -> None:
    with pytest.raises(ZeroDivisionError), validate(Jugs) as trace:
        trace.happened("pour")
        raise ZeroDivisionError


def events_of(semaphore: Semaphore, explain: Any, **options: Any) -> None:
    def followed(spec: Jugs, event: TraceEvent) -> Meaning:
        found: Meaning = explain(spec, event)
        return Call("spill") if found is None else found

    async def program() -> None:
        other = Semaphore(1, name="other")
        with validate(Jugs, semaphore, explain=followed, **options):
            await semaphore.acquire()
            await other.acquire()
            request = semaphore.request()
            semaphore.release()
            request.close()

    trio.run(program)


def test_only_the_events_of_its_primitives_are_followed_each_with_its_request() -> None:
    seen: list[TraceEvent] = []

    def note(spec: Jugs, event: TraceEvent) -> None:
        seen.append(event)

    events_of(Semaphore(1, name="permits"), note)
    assert [(one.kind, one.request) for one in seen] == [
        ("requested", 1),
        ("granted", 1),
        ("requested", 2),
        ("released", None),
        ("granted", 2),
        ("released", None),
    ]
    assert {one.primitive for one in seen} == {"permits"}
    assert str(seen[0]).startswith("permits.requested(n=1, task='")
    seen.clear()
    events_of(Semaphore(1), note)
    assert {one.primitive for one in seen} == {"Semaphore"}


def test_of_very_many_requests_the_latest_keep_their_numbers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(validating, "MOST_REQUESTS", 1)
    seen: list[int | None] = []
    events_of(Semaphore(1), lambda spec, event: seen.append(event.request))
    assert seen == [1, 1, 2, None, 2, None]


def test_an_error_in_explain_is_raised_and_not_only_logged() -> None:
    def broken(spec: Jugs, event: TraceEvent) -> Meaning:
        raise LookupError(event.kind)

    with pytest.raises(LookupError, match="requested"):
        events_of(Semaphore(1), broken)


def test_an_action_that_raises_is_raised_by_who_tells_it() -> None:
    with pytest.raises(SpecError, match="no action"), validate(Jugs) as trace:
        trace.happened("puor")


def test_only_primitives_and_sync_functions_are_taken() -> None:
    async def later(_: Any) -> Any: ...

    with pytest.raises(TypeError, match="is a primitive of structsync, not 3"), validate(Jugs, 3):  # type: ignore[arg-type]
        pass
    for name in ("observed", "on_refuted"):
        with pytest.raises(TypeError, match=name), validate(Jugs, **{name: later}):  # type: ignore[arg-type]
            pass


# ==== nothing was followed ====


@pytest.mark.parametrize("meaning", [None, True])
def test_where_no_event_is_a_step_nothing_is_confirmed(meaning: bool | None) -> None:
    with (
        pytest.raises(NothingFollowed, match=r"no step of .*Jugs was followed.* of 1 event `expl"),
        validate(Jugs, explain=lambda spec, event: meaning) as trace,
    ):
        trace.happened("spill")
    assert trace.steps == {}


def test_where_no_event_came_nothing_is_confirmed() -> None:
    with pytest.raises(NothingFollowed, match="no event came; let the program do"), validate(Jugs):
        pass


def test_in_production_it_is_logged_that_nothing_was_followed(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with validate(Jugs, on_refuted=lambda counterexample: None):
        pass
    assert "no step of" in caplog.text
    caplog.clear()
    with validate(Jugs, on_refuted=lambda counterexample: None) as trace:
        trace.happened("spill")
    assert not caplog.records


def test_it_is_counted_which_steps_were_followed() -> None:
    with validate(Jugs, explain=explain) as trace:
        for kind in ("noise", "spill", "something", "spill"):
            trace.happened(kind)
        trace.happened("fill_small", litres=1)
        trace.happened("pour")
    assert trace.steps == {"spill": 3, "fill_small": 1, "pour": 1}


def explored(body: Callable[[Trace], object]) -> Exploration:
    async def program() -> None:
        with validate(Jugs) as trace:

            async def one() -> None:
                with trio.CancelScope():
                    await trio.lowlevel.checkpoint()
                    body(trace)

            async with trio.open_nursery() as nursery:
                nursery.start_soon(one)
                nursery.start_soon(one)

    return run(program, Settings(cancels=2))


@pytest.mark.unmeasured
def test_in_an_explored_test_the_plain_schedule_has_to_have_a_step() -> None:
    found = explored(lambda trace: trace.happened("spill"))
    assert found.verdict is Verdict.CONFIRMED  # also where both are cancelled at once
    found = explored(lambda trace: None)
    assert found.failure is not None
    assert "no step of" in found.failure.counterexample.detail


# ==== what the specification itself says ====


class Leaky(Jugs):
    """What it says of its states and of its steps is not true of all of them."""

    forgets = ("poured",)
    poured: int = start(int)

    @action(when=lambda self: self.small > 0)
    def pour(self) -> None:
        super().pour()
        self.poured += 1

    @invariant
    def four_at_most(self) -> bool:
        """There is never more than four in the large jug."""
        return self.large <= 4

    @step
    def a_full_jug_is_not_poured(self, before: Any) -> bool:
        return self.poured == 0 or before.small < 3

    @step
    def a_step_tells_of_itself_alone(self, before: Any) -> None:
        assert (before.poured, self.poured) in ((0, 0), (0, 1))


def test_an_invariant_is_asked_in_each_state_on_the_way() -> None:
    follower = Follower(Leaky)
    for _ in range(2):
        assert follower.see(fill(litres=2))
        assert follower.see(TraceEvent("pour"))
    assert follower.see(fill(litres=1))
    assert not follower.see(TraceEvent("pour"))
    assert not follower.see(TraceEvent("spill"))
    found = follower.refutation
    assert found is not None
    assert (found.refuted, found.kind, len(found.steps)) == ("four_at_most", "invariant", 6)
    text = " ".join(rendered(found).split())
    assert "never more than four in the large jug" in text
    assert "after event 6 of the trace, pour()" in text


def test_a_step_property_is_asked_of_each_step_on_the_way() -> None:
    follower = Follower(Leaky)
    assert follower.see(fill(litres=2))
    assert follower.see(fill(litres=1))
    assert not follower.see(TraceEvent("pour"))
    assert follower.refutation is not None
    assert follower.refutation.refuted == "a_full_jug_is_not_poured"


def test_they_are_evaluated_for_what_is_not_seen_too() -> None:
    follower = Follower(Leaky, unseen=["pour"])
    assert follower.see(fill(litres=3))
    assert not follower.see(fill(litres=3))  # only after what was not seen
    assert follower.refutation is not None
    assert follower.refutation.refuted == "a_full_jug_is_not_poured"
    assert follower.refutation.steps[-1].action == "pour"


def test_a_way_that_breaks_a_property_is_not_what_happened_while_there_is_another() -> None:
    follower = Follower(Leaky, unseen=["fill_small", "pour"])
    for _ in range(2):  # of what was found before something is asked again
        assert follower.see(TraceEvent("spill"))
    assert follower.see(fill())
    assert follower.see(TraceEvent("pour", state={"large": 2}))
    assert follower.see(TraceEvent("pour", state={"large": 4}))
    assert not follower.see(TraceEvent("pour", state={"large": 5}))
    assert follower.refutation is not None
    assert follower.refutation.refuted in ("four_at_most", "a_full_jug_is_not_poured")


@pytest.mark.parametrize("meaning", ["pour", 0, ["pour"], [Call("pour"), None]])
def test_what_explain_may_return_is_told_to_who_returns_something_else(meaning: Any) -> None:
    wrong = "None" if isinstance(meaning, list) and len(meaning) == 2 else "'pour'"
    follower = Follower(Jugs, lambda spec, event: meaning)
    with pytest.raises(
        SpecError, match=rf"explain made {wrong if meaning else 0} of spill\(\); it ret"
    ):
        follower.see(TraceEvent("spill"))


def test_what_an_unseen_step_breaks_is_not_blamed_for_an_event_that_it_does_not_allow() -> None:
    follower = Follower(Leaky, unseen=["pour"])
    assert follower.see(fill(litres=3))
    assert not follower.see(TraceEvent("pour", state={"large": 1}))
    assert follower.refutation is not None
    assert follower.refutation.kind == "event 2 of the trace"


class Tight(Jugs):
    """The large jug takes four litres, and says so by an error."""

    @action(when=lambda self: self.small > 0)
    def pour(self) -> None:
        if self.small + self.large > 4:
            raise OverflowError("it is full")
        super().pour()


def test_an_unseen_step_that_raises_is_not_blamed_for_what_comes_after_it() -> None:
    follower = Follower(Tight, unseen=["pour"])
    for _ in range(2):
        assert follower.see(fill(litres=3))
    assert not follower.see(fill(litres=3))
    assert follower.refutation is not None
    assert follower.refutation.kind == "event 3 of the trace"


def test_an_action_that_raises_breaks_a_property_on_its_way() -> None:
    follower = Follower(Tight)
    assert follower.see(fill(litres=3))
    assert follower.see(TraceEvent("pour"))
    assert follower.see(fill(litres=2))
    assert not follower.see(TraceEvent("pour"))
    found = follower.refutation
    assert found is not None
    assert found.refuted == "no_action_fails"
    assert found.detail == "after event 4 of the trace, pour(): raised OverflowError: it is full"


def test_an_action_that_finds_the_specification_wrong_is_no_way_that_is_dropped() -> None:
    class Wrong(Jugs):
        @action
        def spill(self) -> None:
            raise SpecError("a jug has no bottom")

    with pytest.raises(SpecError, match="no bottom"):
        Follower(Wrong).see(TraceEvent("spill"))


@pytest.mark.parametrize("unseen", [(), ("pour",)])
def test_an_action_that_may_have_raised_is_not_what_happened_while_there_is_another(
    unseen: tuple[str, ...],
) -> None:
    follower = Follower(Tight, unseen=unseen)
    assert follower.see(fill(litres=3))
    assert follower.see(TraceEvent("pour"))
    assert follower.see(fill())
    assert follower.see(TraceEvent("pour", state={"large": 4}))


def test_what_a_property_says_besides_is_told_and_the_first_state_is_asked_too() -> None:
    class Empty(Jugs):
        @invariant
        def it_is_full(self) -> None:
            raise AssertionError("nothing is in it")

    with pytest.raises(TraceRefuted, match="it_is_full"), validate(Empty) as trace:
        trace.happened("spill")
    assert trace.refutation is not None
    assert trace.refutation.steps == ()
    assert trace.refutation.detail == "after event 1 of the trace, spill(): nothing is in it"


def test_what_was_asked_about_is_not_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    class Asked(Jugs):
        @invariant
        def it_is_asked(self) -> bool:
            asked.append(self.large)
            return True

    def times() -> int:
        asked.clear()
        follower = Follower(Asked)
        for _ in range(6):
            assert follower.see(TraceEvent("spill"))
        return len(asked)

    assert times() == 2  # in the first state, and after the first step
    monkeypatch.setattr(witness, "MOST_ASKED", 0)
    assert times() == 7


# ==== a trace in a file ====

SPEC = """
from structsync.checking import Spec, action, invariant, start

class Door(Spec):
    is_open: bool = start(bool)

    @action(how=((1, 2), "softly"), when=lambda self, how: not self.is_open)
    def open(self, how):
        self.is_open = True

    @action(when=lambda self: self.is_open)
    def close(self):
        self.is_open = False

    @invariant
    def fine(self):
        return True

class Gate(Door):
    pass
"""


def command(folder: Path, *arguments: str) -> Result:
    file = folder / "door.py"
    file.write_text(SPEC, encoding="utf-8")
    return CliRunner().invoke(main, ["check", str(file), *arguments])


def write_trace(folder: Path, *lines: str) -> str:
    file = folder / "run.jsonl"
    file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return str(file)


def test_a_recorded_trace_is_held_against_the_specification(tmp_path: Path) -> None:
    file = tmp_path / "run.jsonl"
    with record(file) as trace:
        trace.happened("open", how=(1, 2), state={"is_open": True})
        trace.happened("close")
        trace.happened("open", how="softly")
    done = command(tmp_path, "--trace", str(file), "--only", "Door")
    assert done.exit_code == 0, done.output
    assert "door.Door allows all 3 events" in done.output
    assert "steps: open 2, close 1\n" in done.output


def test_a_file_with_no_step_is_not_finished(tmp_path: Path) -> None:
    done = command(tmp_path, "--trace", write_trace(tmp_path, HEAD), "--only", "Door")
    assert done.exit_code == 2
    assert "nothing is confirmed: no event came" in " ".join(done.output.split())
    file = tmp_path / "run.jsonl"
    with record(file) as trace:
        trace.happened("open", how="softly")
    done = command(tmp_path, "--trace", str(file), "--only", "Door")
    assert (done.exit_code, "steps: open 1; never: close\n" in done.output) == (0, True)
    done = command(tmp_path, "--trace", str(file), "--only", "Door", "--json")
    assert json.loads(done.output)["steps"] == {"open": 1}


def test_the_first_event_of_a_file_that_is_not_allowed_is_told(tmp_path: Path) -> None:
    file = tmp_path / "run.jsonl"
    with record(file) as trace:
        trace.happened("open", how="softly")
        trace.happened("open", how="softly")
        trace.happened("close")
    done = command(tmp_path, "--trace", str(file), "--only", "Door")
    assert done.exit_code == 1
    assert "open(how='softly') (event 2 of the trace)" in done.output
    done = command(tmp_path, "--trace", str(file), "--only", "Door", "--json")
    document = json.loads(done.output)
    assert (document["spec"], document["events"]) == ("door.Door", 2)
    assert len(document["counterexample"]["steps"]) == 2


def test_a_primitive_can_be_recorded(tmp_path: Path) -> None:
    file = tmp_path / "run.jsonl"
    semaphore = Semaphore(2, name="permits")
    with record(file, semaphore, observed=lambda one: {"value": one.value}):
        semaphore.acquire_nowait()
    first, *events = map(json.loads, file.read_text(encoding="utf-8").splitlines())
    assert first == {"format": "structsync.trace/1"}
    assert [one["kind"] for one in events] == ["requested", "granted"]
    assert events[0] == {
        "kind": "requested",
        "details": {"n": 1},
        "primitive": "permits",
        "request": 1,
        "state": {"value": 1},
    } | {name: events[0][name] for name in events[0] if name == "request"}


def test_what_json_does_not_know_is_not_recorded(tmp_path: Path) -> None:
    with (
        pytest.raises(ValueError, match=r"open\(how=\{1\}\) cannot be recorded"),
        record(tmp_path / "run.jsonl") as trace,
    ):
        trace.happened("open", how={1})
    semaphore = Semaphore(2)
    with (
        pytest.raises(ValueError, match="in numbers, strings"),
        record(tmp_path / "run.jsonl", semaphore, observed=lambda one: {"value": {1}}),
    ):
        semaphore.acquire_nowait()


HEAD = '{"format": "structsync.trace/1"}'


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        (['{"format": "other"}'], "is no trace: its first line is"),
        ([HEAD, '{"kind": "clo'], "line 2, is no JSON"),
        ([HEAD, "[1]"], "line 2, is no JSON object"),
        ([HEAD, "{}"], "line 2, is no event: it has no kind"),
        ([HEAD, '{"kind": "close", "speck": 1}'], "it does not know speck"),
        ([HEAD, '{"kind": "close", "state": 1}'], "it has state = 1"),
        ([HEAD, '{"kind": "close", "request": true}'], "it has request = True"),
    ],
)
def test_what_is_no_trace_is_told_with_its_line(
    lines: list[str], text: str, tmp_path: Path
) -> None:
    done = command(tmp_path, "--trace", write_trace(tmp_path, *lines), "--only", "Door")
    assert done.exit_code == 64
    assert text in " ".join(done.output.split())


def test_a_file_that_is_no_text_is_no_trace(tmp_path: Path) -> None:
    file = tmp_path / "run.jsonl"
    file.write_bytes(b"\xff\xfe\xff")
    done = command(tmp_path, "--trace", str(file), "--only", "Door")
    assert done.exit_code == 64
    assert "cannot be read as a trace" in done.output


def test_an_empty_file_is_no_trace(tmp_path: Path) -> None:
    file = tmp_path / "run.jsonl"
    file.touch()
    done = command(tmp_path, "--trace", str(file), "--only", "Door")
    assert done.exit_code == 64
    assert "is no trace: it is empty" in done.output


def test_a_trace_is_held_against_one_specification(tmp_path: Path) -> None:
    trace = write_trace(tmp_path, HEAD)
    done = command(tmp_path, "--trace", trace)
    assert done.exit_code == 64
    assert "choose it by --only, among door.Door, door.Gate" in done.output
    done = command(tmp_path, "--trace", trace, "--only", "Gaet")
    assert "among door.Gate, door.Door" in done.output


def test_names_of_the_package_come_from_where_they_are_at_home() -> None:
    from structsync import checking

    assert checking.validate is validate
    assert {"validate", "check"} <= {*dir(checking)}
    with pytest.raises(AttributeError, match="has no attribute 'validtae'"):
        checking.validtae  # type: ignore[attr-defined]  # noqa: B018 - the mistake is the test


def test_an_event_of_a_file_that_is_no_action_is_told(tmp_path: Path) -> None:
    file = tmp_path / "run.jsonl"
    with record(file) as trace:
        trace.happened("opne")
    done = command(tmp_path, "--trace", str(file), "--only", "Door")
    assert done.exit_code == 64
    assert "Door has no action 'opne'; the nearest: open" in " ".join(done.output.split())


@pytest.mark.parametrize(
    "line",
    [
        "def explain(self, event): return 1 // 0",
        "def observed(self): return 1 // 0",
        "close = action(when=lambda self: 1 // 0)(Door.close)",
    ],
)
def test_a_specification_that_cannot_follow_a_file_is_told_with_its_event(
    tmp_path: Path, line: str
) -> None:
    file = tmp_path / "run.jsonl"
    with record(file) as trace:
        trace.happened("open", how="softly", state={"is_open": True})
        trace.happened("close")
    spec = tmp_path / "worse.py"
    spec.write_text(f"{SPEC}\nclass Worse(Door):\n    {line}\n", encoding="utf-8")
    done = CliRunner().invoke(main, ["check", str(spec), "--trace", str(file), "--only", "Worse"])
    assert done.exit_code == 64, done.output
    said = " ".join(done.output.split())
    assert "worse.Worse: ZeroDivisionError:" in said
    assert re.search(r"when event [12] of the trace, \w+\(.*\), was followed", said)


# ==== the example ====

EXAMPLE = Path(__file__).parents[2] / "examples" / "checked_pool"


def example(program: str) -> str:
    """Run a program beside the example, which is no module of these tests."""
    ran = subprocess.run(
        [sys.executable, "-c", program], cwd=EXAMPLE, capture_output=True, text=True, check=True
    )
    return ran.stdout


def test_the_pool_of_the_tutorial_is_green_and_the_wrong_one_is_found(tmp_path: Path) -> None:
    file = tmp_path / "run.jsonl"
    program = f"""
import traced, connections, structsync.checking
traced.recorded(connections.ForgetfulPool, {str(file)!r})
print(traced.traced(connections.Pool))
try:
    traced.traced(connections.ForgetfulPool)
except structsync.checking.TraceRefuted as error:
    print(error)
"""
    told = example(program)
    assert told.startswith("6\n")
    assert "waiting is 1, and 0 in the specification" in told
    assert file.read_text() == (EXAMPLE / "forgetful.jsonl").read_text()
    done = CliRunner().invoke(main, ["check", str(EXAMPLE / "pool_spec.py"), "--trace", str(file)])
    assert done.exit_code == 1


@pytest.mark.unmeasured
def test_the_wrong_pool_is_found_by_each_use_of_the_specification() -> None:
    program = """
from pathlib import Path
import connections, pool_spec, test_pool_explored, test_pool_machine
from hypothesis import Phase, settings
from hypothesis.stateful import run_state_machine_as_test
from structsync.checking import check_fault, load, machine
from structsync.testing import ExplorationFailed, MachineFailed

(fault,) = load(Path("pool_spec.py")).faults.values()
print("checked", check_fault(fault).caught)
test_pool_machine.Pool = test_pool_explored.Pool = connections.ForgetfulPool
try:
    run_state_machine_as_test(
        machine(pool_spec.PoolSpec, test_pool_machine.PoolAdapter),
        settings=settings(phases=[Phase.generate], database=None, derandomize=True, deadline=None),
    )
except MachineFailed as error:
    print("machine", error)
try:
    test_pool_explored.test_every_schedule_is_one_that_the_specification_allows()
except ExplorationFailed as error:
    print("explored", error)
"""
    told = example(program)
    assert "checked True" in told
    assert "machine after " in told
    assert "explored" in told
    assert "TraceRefuted" in told

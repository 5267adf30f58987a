"""A schedule as data: it comes back as it was, and so does what older versions stored."""

import json
from dataclasses import replace
from typing import Any

import pytest

from structsync.report import Counterexample, dumps, from_json, to_json, to_trace_events

from .schedules import DEADLOCK, EVERY, SPEC

NEW_IN_3 = {"story", "reasons"}
NEW_IN_STEPS = {"deviation", "parked", "woke", "injected", "stack"}
NEW = {"blocked", "token", "replay", "summary", "covered", "actors", *NEW_IN_3}


def as_version_1(shown: Counterexample) -> dict[str, Any]:
    """Return what the version before schedules stored."""
    stored: dict[str, Any] = json.loads(dumps(shown))
    stored["format"] = "structsync.counterexample/1"
    for name in NEW:
        del stored[name]
    for step in stored["steps"]:
        for name in NEW_IN_STEPS:
            del step[name]
    return stored


@pytest.mark.parametrize("shown", [*EVERY.values()], ids=[*EVERY])
def test_what_is_stored_comes_back(shown: Counterexample) -> None:
    again = from_json(json.loads(dumps(shown)))
    assert again == shown
    hashable = (again.blocked, again.actors, *(one.woke for one in again.steps))
    assert hash(hashable), "lists came back where tuples were stored"


def test_a_document_of_version_1_still_loads() -> None:
    assert from_json(as_version_1(SPEC)) == SPEC


def test_a_document_of_version_2_still_loads() -> None:
    stored = json.loads(dumps(DEADLOCK))
    stored["format"] = "structsync.counterexample/2"
    for name in NEW_IN_3:
        del stored[name]
    for step in stored["steps"]:
        del step["stack"]
    for one in stored["blocked"]:
        del one["source"], one["waits_for"]
    blocked = tuple(replace(one, source="", waits_for=()) for one in DEADLOCK.blocked)
    assert from_json(stored) == replace(DEADLOCK, story=(), reasons=(), blocked=blocked)


def test_a_new_document_names_its_version() -> None:
    assert to_json(DEADLOCK)["format"] == "structsync.counterexample/3"


def test_a_document_of_a_later_version_is_refused_with_both_formats() -> None:
    later = {**to_json(SPEC), "format": "structsync.counterexample/4"}
    with pytest.raises(ValueError, match=r"counterexample/3', not 'structsync.counterexample/4'"):
        from_json(later)


def test_trace_events_have_a_row_per_task_and_an_arrow_per_wake_up() -> None:
    events = to_trace_events(DEADLOCK)["traceEvents"]
    rows = {one["args"]["name"]: one["tid"] for one in events if one["ph"] == "M"}
    assert list(rows) == ["main", "worker#0", "worker#1", "worker#2", "-"]
    steps = [one for one in events if one["ph"] == "X"]
    assert [one["name"] for one in steps[:4]] == [
        "exits",
        "worker:194  await checkpoint()",
        "wait:61  await self.event.wait()",
        "CANCEL worker#1",
    ]
    assert steps[6]["name"] == "CLOCK"
    starts = [one for one in events if one["ph"] == "s"]
    ends = [one for one in events if one["ph"] == "f"]
    woken = sum(len(step.woke) for step in DEADLOCK.steps)
    assert len(starts) == len(ends) == len({one["id"] for one in starts}) == woken
    assert [one["id"] for one in starts] == [one["id"] for one in ends]
    assert (starts[0]["tid"], ends[0]["tid"]) == (rows["main"], rows["worker#0"])
    json.dumps(events)


def test_a_task_that_is_woken_and_never_runs_gets_no_arrow() -> None:
    shown = replace(DEADLOCK, steps=DEADLOCK.steps[:1])
    assert shown.steps[0].woke == ("worker#0",)
    assert not [one for one in to_trace_events(shown)["traceEvents"] if one["ph"] in "sf"]

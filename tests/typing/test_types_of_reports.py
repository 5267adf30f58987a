"""What a report is made of, and what it is turned into, to a type checker."""

from __future__ import annotations

from typing import Any, assert_type

from rich.console import RenderableType

from structsync.report import (
    Blocked,
    Counterexample,
    Sentence,
    Step,
    dumps,
    from_json,
    to_html,
    to_json,
    to_text,
    to_trace_events,
)

STUCK = Counterexample(
    spec="Lamp",
    refuted="is_lit",
    kind="eventually",
    start={"is_on": "False"},
    steps=(Step("switch", (("to", "off"),), {"is_on": "False"}, actor="a"),),
    blocked=(Blocked("a", why="waits for a Lock", waits_for=("b",)),),
    story=(Sentence("a waits forever", step=1),),
)


def test_a_report_has_several_forms_and_comes_back_from_one() -> None:
    stored = assert_type(to_json(STUCK), dict[str, Any])
    assert assert_type(from_json(stored), Counterexample) == STUCK
    assert assert_type(dumps(STUCK), str)
    assert assert_type(to_html(STUCK), str).startswith("<!")
    assert_type(to_text(STUCK), RenderableType)
    assert_type(to_trace_events(STUCK), dict[str, Any])


def test_its_parts_have_types() -> None:
    assert_type(STUCK.steps, tuple[Step, ...])
    assert_type(STUCK.steps[0].arguments, tuple[tuple[str, str], ...])
    assert_type(STUCK.blocked[0].waits_for, tuple[str, ...])
    assert_type(STUCK.story[0].step, int | None)
    assert_type(STUCK.length(), str)

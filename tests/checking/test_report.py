"""One counterexample, three renderings; the page needs nothing but itself."""

import io
import json
import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest
from rich.console import Console

from structsync.report import (
    Counterexample,
    Step,
    dumps,
    from_json,
    to_html,
    to_text,
    to_trace_events,
)

FINITE = Counterexample(
    spec="semaphore.SemaphoreSpec",
    refuted="nothing_grantable_waits",
    kind="invariant",
    start={"value": "1", "line": "()"},
    steps=(
        Step("acquire", (("who", "a"),), {"value": "0", "line": "()"}, actor="a"),
        Step("acquire", (("who", "b"),), {"value": "0", "line": "('b',)"}, actor="b"),
        Step("tick", (), {"value": "0", "line": "('b',)"}, note="nothing <happens>"),
    ),
    claim="Every request that fits & waits is granted.",
    detail="b waits although <1> permit is free",
)


def looping(cycle_start: int) -> Counterexample:
    return Counterexample(
        "s.S", "ends", "leads_to", {"n": "0"}, FINITE.steps, cycle_start=cycle_start
    )


class Page(HTMLParser):
    """Collects what a browser would fetch, and the tags that are open."""

    VOID = frozenset({"meta", "line", "path", "rect"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.open: list[str] = []
        self.fetched: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.fetched += [f"{k}={v}" for k, v in attrs if k in ("src", "href", "xlink:href")]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.parametrize("shown", [FINITE, looping(0), looping(2), looping(3)])
def test_the_page_is_one_document_that_fetches_nothing(shown: Counterexample) -> None:
    text = to_html(shown)
    page = Page(text)
    assert page.open == []
    assert (page.tags.count("html"), page.tags.count("script"), page.tags.count("rect")) == (
        1,
        1,
        3,
    )
    assert not page.fetched
    assert not re.search(r"https?:|url\(|@import|<script[^>]", text)
    assert "prefers-color-scheme: dark" in text


def test_the_page_shows_text_as_text() -> None:
    text = to_html(FINITE)
    assert "although &lt;1&gt; permit" in text
    assert "nothing &lt;happens&gt;" in text
    assert "(spec)" in text


def test_a_long_call_is_cut_in_the_drawing_and_whole_in_the_table() -> None:
    call = Step("acquire", (("who", "x" * 80),), {"n": "1"}, actor="x")
    text = to_html(Counterexample("s.S", "p", "invariant", {"n": "0"}, (call,)))
    assert "…</text>" in text
    assert f'<td class="call">acquire(who={"x" * 80})' in text


def test_a_failure_in_the_first_state_needs_no_drawing() -> None:
    text = to_html(Counterexample("s.S", "p", "invariant", {"n": "0"}, (), start_note="here"))
    assert "<svg" not in text
    assert "refuted in the first state" in text
    assert "here" in text


def rendered(shown: Counterexample) -> str:
    console = Console(width=100, record=True, file=io.StringIO())
    console.print(to_text(shown))
    return console.export_text()


def test_the_table_shows_what_each_step_changed() -> None:
    text = rendered(FINITE)
    assert "is refuted in 3 steps" in text
    assert re.search(r"2 +acquire\(who=b\) +line \('b',\)", text)
    assert re.search(r"3 +tick\(\) +\(nothing\)", text)
    assert "Every request that fits & waits" in text
    assert "although <1> permit" in text


@pytest.mark.parametrize(
    ("cycle_start", "ending"),
    [(0, "then steps 1 to 3 repeat"), (2, "then step 3 repeats"), (3, "then nothing more happens")],
)
def test_the_table_says_how_it_goes_on(cycle_start: int, ending: str) -> None:
    assert ending in rendered(looping(cycle_start))


def test_one_step_is_not_called_steps() -> None:
    assert Counterexample("s.S", "p", "step", {}, FINITE.steps[:1]).length() == "in 1 step"


@pytest.mark.parametrize("shown", [FINITE, looping(1)])
def test_what_is_stored_as_json_comes_back(shown: Counterexample) -> None:
    assert from_json(json.loads(dumps(shown))) == shown


def test_json_of_another_format_is_refused() -> None:
    with pytest.raises(ValueError, match="has the format"):
        from_json({"format": "structsync.counterexample/0"})


def test_what_no_file_can_hold_is_shown_as_its_escape() -> None:
    """As in the name of a file that is no UTF-8."""
    strange = "caf\udce9"
    step = replace(FINITE.steps[0], state={strange: strange}, arguments=(("file", strange),))
    shown = replace(FINITE, detail=f"no such file: {strange}", steps=(step,))
    for text in (to_html(shown), rendered(shown), dumps(shown)):
        assert "caf\\udce9" in text.replace("\\\\", "\\")
        assert text.encode()
    assert from_json(json.loads(dumps(shown))) == shown


SPOILED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "a list": (lambda one: [one], "is a JSON object"),
    "text": (lambda one: "text", "is a JSON object"),
    "nothing": (lambda one: None, "is a JSON object"),
    "no spec": (lambda one: one.pop("spec") and one, "spec is missing"),
    "something else": (lambda one: {**one, "speck": 1}, "speck is not known"),
    "a number for a name": (lambda one: {**one, "spec": 1}, "spec cannot be 1"),
    "a truth value for a number": (
        lambda one: {**one, "cycle_start": True},
        "cycle_start cannot be True",
    ),
    "no steps": (lambda one: {**one, "steps": 3}, "steps cannot be 3"),
    "a step that is none": (lambda one: {**one, "steps": [3]}, r"steps\[0\] cannot be 3"),
    "a step without a state": (
        lambda one: {**one, "steps": [{"action": "a", "arguments": []}]},
        r"steps\[0\].state is missing",
    ),
    "an argument without a value": (
        lambda one: {**one, "steps": [{"action": "a", "arguments": [["n"]], "state": {}}]},
        r"steps\[0\].arguments\[0\] cannot be",
    ),
    "a state of numbers": (lambda one: {**one, "start": {"n": 1}}, r"start\['n'\] cannot be 1"),
}


@pytest.mark.parametrize("name", SPOILED)
def test_json_that_is_no_counterexample_is_refused_with_the_place(name: str) -> None:
    spoil, message = SPOILED[name]
    with pytest.raises(ValueError, match=message):
        from_json(spoil(json.loads(dumps(FINITE))))


def test_trace_events_give_each_actor_a_row() -> None:
    events = to_trace_events(FINITE)["traceEvents"]
    rows = {one["args"]["name"]: one["tid"] for one in events if one["ph"] == "M"}
    assert set(rows) == {"a", "b", "-"}
    assert [one["name"] for one in events if one["ph"] == "X" and one["tid"] == rows["b"]] == [
        "acquire(who=b)"
    ]
    json.dumps(events)

"""What the tutorial on exploring says in words about the schedule that it shows is still so."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from structsync.report import Counterexample, from_json

from ..children import structsync_command  # noqa: TID252 - the one home of how a child is started

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def shown() -> Counterexample:
    """The failure that the page shows."""
    target = "examples/bounded_queue/test_explored.py"
    ran = structsync_command("explore", target, "--json", cwd=ROOT)
    assert ran.returncode == 1, ran.stderr
    (explored,) = json.loads(ran.stdout)["explored"]
    return from_json(explored["failure"]["counterexample"])


def untrue(shown: Counterexample) -> list[str]:
    """Return the sentences of the page that do not hold of a schedule."""
    stars = [number for number, step in enumerate(shown.steps) if step.deviation]
    if len(stars) != 1:
        return ["this schedule has one star"]
    before, star, after = (
        shown.steps[: stars[0]],
        shown.steps[stars[0]],
        shown.steps[stars[0] + 1 :],
    )
    waiting = [step.actor for step in before if "not_full.wait()" in step.parked]
    blocked = {one.task: one.why for one in shown.blocked}
    sentences = {
        "both producers found the queue full": sorted(waiting) == ["main", "patient#0"],
        "then the first consumer took the item": before[-1].actor == "consumer#0",
        "the other consumer is ahead in the line for the lock": before[-1].woke == ("consumer#1",),
        "it is cancelled": (star.turn, star.actor) == ("CANCEL scope main~1", "main"),
        "the other consumer waits": after[0].parked.endswith("await self.not_empty.wait()"),
        "patient waits for room": "queue.not_full" in blocked.get("patient#0", ""),
        "replayed in trio.run: same": "replayed in trio.run: same" in shown.summary,
        "possible in trio's own order": "possible in trio's own order: yes" in shown.summary,
    }
    return [sentence for sentence, holds in sentences.items() if not holds]


def test_the_schedule_is_the_one_that_the_page_tells_about(shown: Counterexample) -> None:
    assert untrue(shown) == []


def test_another_schedule_would_be_noticed(shown: Counterexample) -> None:
    assert untrue(replace(shown, steps=shown.steps[:-4], blocked=()))
    assert untrue(replace(shown, blocked=shown.blocked[:1], summary=""))

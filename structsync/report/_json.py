"""A counterexample as JSON, for machines and for storing."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from structsync.report._model import Counterexample, Step

FORMAT = "structsync.counterexample/1"


def to_json(shown: Counterexample) -> dict[str, Any]:
    """Return a counterexample as a dictionary that `json.dumps` takes."""
    return {"format": FORMAT, **asdict(shown)}


def from_json(stored: dict[str, Any]) -> Counterexample:
    """Return the counterexample that `to_json` stored.

    Raises:
        ValueError: it is not one, or was stored by another version.
    """
    if stored.get("format") != FORMAT:
        raise ValueError(
            f"a stored counterexample has the format {FORMAT!r}, not {stored.get('format')!r}"
        )
    rest = {name: value for name, value in stored.items() if name not in ("format", "steps")}
    steps = tuple(
        Step(**{**one, "arguments": tuple((name, value) for name, value in one["arguments"])})
        for one in stored["steps"]
    )
    return Counterexample(steps=steps, **rest)


def dumps(shown: Counterexample) -> str:
    """Return a counterexample as the text of a JSON file."""
    return json.dumps(to_json(shown), indent=2, ensure_ascii=False) + "\n"


def to_trace_events(shown: Counterexample) -> dict[str, Any]:
    """Return a counterexample as trace events for Perfetto and chrome://tracing.

    There is no clock in a counterexample: each step lasts one millisecond, in the row of its actor.
    """
    rows = {actor: row for row, actor in enumerate(dict.fromkeys(s.actor for s in shown.steps), 1)}
    names = [
        {"ph": "M", "pid": 1, "tid": row, "name": "thread_name", "args": {"name": actor or "-"}}
        for actor, row in rows.items()
    ]
    steps = [
        {
            "ph": "X",
            "pid": 1,
            "tid": rows[step.actor],
            "ts": 1000 * number,
            "dur": 1000,
            "name": step.call,
            "args": dict(step.state),
        }
        for number, step in enumerate(shown.steps)
    ]
    return {"traceEvents": names + steps, "otherData": {"refuted": shown.refuted}}

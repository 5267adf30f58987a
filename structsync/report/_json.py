"""A counterexample as JSON, for machines and for storing."""

from __future__ import annotations

import json
from dataclasses import asdict
from itertools import count
from typing import Any

from ._model import Blocked, Counterexample, Step

FORMAT = "structsync.counterexample/2"
# The first had no schedules; all that came since has a default.
READABLE = ("structsync.counterexample/1", FORMAT)


def to_json(shown: Counterexample) -> dict[str, Any]:
    """Return a counterexample as a dictionary that `json.dumps` takes."""
    return {"format": FORMAT, **asdict(shown)}


def from_json(stored: dict[str, Any]) -> Counterexample:
    """Return the counterexample that `to_json` stored.

    Raises:
        ValueError: it is not one, or was stored by another version.
    """
    if stored.get("format") not in READABLE:
        raise ValueError(
            f"a stored counterexample has the format {' or '.join(map(repr, READABLE))}, not "
            f"{stored.get('format')!r}: store it again with this version of structsync"
        )
    values = {name: value for name, value in stored.items() if name != "format"}
    values["steps"] = tuple(map(_step, stored["steps"]))
    values["blocked"] = tuple(
        Blocked(**{**one, "where": tuple(one["where"])}) for one in stored.get("blocked", ())
    )
    values["actors"] = tuple(stored.get("actors", ()))
    return Counterexample(**values)


def _step(stored: dict[str, Any]) -> Step:
    arguments = tuple((name, value) for name, value in stored["arguments"])
    return Step(**{**stored, "arguments": arguments, "woke": tuple(stored.get("woke", ()))})


def dumps(shown: Counterexample) -> str:
    """Return a counterexample as the text of a JSON file."""
    return json.dumps(to_json(shown), indent=2, ensure_ascii=False) + "\n"


def to_trace_events(shown: Counterexample) -> dict[str, Any]:
    """Return a counterexample as trace events for Perfetto and chrome://tracing.

    There is no clock in a counterexample: each step lasts one millisecond, in the row of its actor.
    An arrow leads from a step to each task that it woke.
    """
    actors = dict.fromkeys((*shown.columns, *(step.actor for step in shown.steps)))
    rows = {actor: row for row, actor in enumerate(actors, 1)}
    events: list[dict[str, Any]] = [
        {"ph": "M", "pid": 1, "tid": row, "name": "thread_name", "args": {"name": actor or "-"}}
        for actor, row in rows.items()
    ]
    arrows = count(1)
    for index, step in enumerate(shown.steps):
        here = {"pid": 1, "tid": rows[step.actor], "ts": 1000 * index}
        ran = step.turn if step.injected else step.parked or step.call
        events.append({"ph": "X", **here, "dur": 1000, "name": ran, "args": dict(step.state)})
        for name in step.woke:
            if (turn := shown.next_turn(name, index)) is None:
                continue
            there = {"pid": 1, "tid": rows[name], "ts": 1000 * turn}
            arrow = {"name": "wakes", "cat": "wakes", "id": next(arrows)}
            # "e": it ends at the step that encloses this moment, not at the one after it.
            events += [{"ph": "s", **here, **arrow}, {"ph": "f", "bp": "e", **there, **arrow}]
    return {"traceEvents": events, "otherData": {"refuted": shown.refuted}}

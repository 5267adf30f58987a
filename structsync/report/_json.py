"""A counterexample as JSON, for machines and for storing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import MISSING, asdict, fields, is_dataclass
from itertools import count
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from ._model import Counterexample

FORMAT = "structsync.counterexample/3"
# The first had no schedules, the second did not tell them in a few lines; all that came since has a default.
READABLE = ("structsync.counterexample/1", "structsync.counterexample/2", FORMAT)


def to_json(shown: Counterexample) -> dict[str, Any]:
    """Return a counterexample as a dictionary that `json.dumps` takes."""
    return {"format": FORMAT, **asdict(shown)}


def from_json(stored: dict[str, Any]) -> Counterexample:
    """Return the counterexample that `to_json` stored.

    Raises:
        ValueError: it is none, or was stored by another version.
    """
    if not isinstance(stored, dict):
        raise ValueError(f"a stored counterexample is a JSON object, not {stored!r}")
    if stored.get("format") not in READABLE:
        raise ValueError(
            f"a stored counterexample has the format {' or '.join(map(repr, READABLE))}, not "
            f"{stored.get('format')!r}: store it again with this version of structsync"
        )
    values = {name: value for name, value in stored.items() if name != "format"}
    made: Counterexample = _made(Counterexample, values, "")
    return made


_PLAIN = (None, UnionType, Union)


def _made(kind: Any, value: Any, where: str) -> Any:
    """Return a JSON value as what a field is annotated to be.

    Raises:
        ValueError: it cannot be that.
    """
    origin, inner = get_origin(kind), get_args(kind)
    if origin is tuple and isinstance(value, list | tuple):
        if inner[-1] is ...:
            return tuple([_made(inner[0], one, f"{where}[{n}]") for n, one in enumerate(value)])
        if len(inner) == len(value):
            return tuple([_made(*pair, where) for pair in zip(inner, value, strict=True)])
    elif origin is Mapping and isinstance(value, dict):
        return {name: _made(inner[1], one, f"{where}[{name!r}]") for name, one in value.items()}
    elif origin in _PLAIN and isinstance(value, kind) and (kind is bool or type(value) is not bool):
        return value
    elif is_dataclass(kind) and isinstance(value, dict):
        return _instance(kind, value, where)
    raise ValueError(f"this is no stored counterexample: {where.lstrip('.')} cannot be {value!r}")


def _instance(kind: Any, values: dict[str, Any], where: str) -> Any:
    hints, known = get_type_hints(kind), {one.name: one for one in fields(kind)}
    absent = [name for name, one in known.items() if one.default is MISSING and name not in values]
    if wrong := [*absent, *(values.keys() - known)]:
        text = "is missing" if absent else "is not known"
        raise ValueError(
            f"this is no stored counterexample: {where}.{wrong[0]} {text}".replace(" .", " ")
        )
    return kind(
        **{name: _made(hints[name], one, f"{where}.{name}") for name, one in values.items()}
    )


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

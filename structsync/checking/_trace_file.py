"""A trace in a file: a line that says the format, then one JSON object in a line for each event.

::

    {"format": "structsync.trace/1"}
    {"kind": "requested", "primitive": "pool", "task": "a", "request": 1, "details": {"n": 2}}
    {"kind": "granted", "primitive": "pool", "task": "a", "request": 1, "state": {"value": 0}}

Only ``kind`` must be there; the others are the attributes of `TraceEvent`. Lists are read as tuples.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args

from ._errors import SpecError
from ._events import TraceEvent

FORMAT = "structsync.trace/1"

_NUMBER = int | float | None
_KINDS: dict[str, Any] = {
    "kind": str,
    "details": dict,
    "task": str | None,
    "primitive": str,
    "request": int | None,
    "state": dict,
    "time": _NUMBER,
}


def header() -> str:
    """Return the first line of a trace."""
    return json.dumps({"format": FORMAT}) + "\n"


def line_of(event: TraceEvent) -> str:
    """Return an event as a line of a trace.

    Raises:
        ValueError: it has a value that JSON does not know.
    """
    told = {one.name: getattr(event, one.name) for one in fields(event)}
    told |= {name: dict(told[name]) for name in ("details", "state")}
    kept = {name: value for name, value in told.items() if value not in (None, {}, "")}
    try:
        return json.dumps(kept, allow_nan=False) + "\n"
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{event} cannot be recorded: {error}; tell its details and its state in numbers, "
            "strings, tuples and dictionaries of them"
        ) from None


def read_events(file: Path) -> Iterator[TraceEvent]:
    """Yield the events of a recorded trace.

    Raises:
        SpecError: the file cannot be read, or is not a trace.
    """
    number = 0
    try:
        with file.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                told = _object(file, number, line)
                if number > 1:
                    yield _event(file, number, told)
                elif told.get("format") != FORMAT:
                    raise SpecError(
                        f'{file} is no trace: its first line is {{"format": "{FORMAT}"}}, and '
                        f"not {line.strip()[:80]}"
                    )
    except (OSError, UnicodeDecodeError) as error:
        raise SpecError(f"{file} cannot be read as a trace: {error}") from None
    if not number:
        raise SpecError(
            f'{file} is no trace: it is empty, and the first line of one is {{"format": "{FORMAT}"}}'
        )


def _object(file: Path, number: int, line: str) -> dict[str, Any]:
    try:
        told = json.loads(line)
    except ValueError as error:
        raise SpecError(f"{file}, line {number}, is no JSON: {error}") from None
    if not isinstance(told, dict):
        raise SpecError(f"{file}, line {number}, is no JSON object: {line.strip()[:80]}")
    return told


def _event(file: Path, number: int, told: Mapping[str, Any]) -> TraceEvent:
    unknown = [name for name in told if name not in _KINDS]
    wrong = [name for name in told if name not in unknown and not _fits(told[name], _KINDS[name])]
    if "kind" not in told or unknown or wrong:
        problem = (
            f"does not know {', '.join(unknown)}"
            if unknown
            else f"has {wrong[0]} = {told[wrong[0]]!r}"
            if wrong
            else "has no kind"
        )
        raise SpecError(
            f"{file}, line {number}, is no event: it {problem}; an event has {', '.join(_KINDS)}"
        )
    return TraceEvent(**{name: _immutable(value) for name, value in told.items()})


def _fits(value: Any, kind: Any) -> bool:
    return not isinstance(value, bool) and isinstance(value, get_args(kind) or kind)


def _immutable(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_immutable, value))
    if isinstance(value, dict):
        return {name: _immutable(one) for name, one in value.items()}
    return value

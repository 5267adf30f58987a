"""A run for machines and for keeping: one JSON document, one picture per counterexample."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any

from structsync.report import Counterexample, dumps, to_html, to_json

from ._suite import Run
from ._verdict import FaultResult, PropertyResult, Result

FORMAT = "structsync.check/1"


def document(runs: Sequence[Run], differences: Sequence[str], code: int) -> dict[str, Any]:
    """Return all results of a run as a dictionary that `json.dumps` takes."""
    return {
        "format": FORMAT,
        "exit_code": code,
        "specs": [_spec(one) for run in runs for one in run.results],
        "faults": [_fault(one) for run in runs for one in run.faults],
        "not_started": [name for run in runs for name in run.not_started],
        "manifest_differences": list(differences),
    }


def write_reports(folder: Path, shown: Sequence[Counterexample]) -> list[Path]:
    """Write an HTML and a JSON file for each counterexample and return the HTML files."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    taken: set[str] = set()
    for one in shown:
        stem = _free(re.sub(r"[^\w.-]+", "_", f"{one.spec}.{one.refuted}"), taken)
        page = folder / f"{stem}.html"
        page.write_text(to_html(one), encoding="utf-8")
        (folder / f"{stem}.json").write_text(dumps(one), encoding="utf-8")
        written.append(page)
    return written


def _free(stem: str, taken: set[str]) -> str:
    """Return the name of a file, numbered if another one of this run has it."""
    names = (stem if n == 1 else f"{stem}.{n}" for n in count(1))
    free = next(name for name in names if name.casefold() not in taken)
    taken.add(free.casefold())  # not every system tells upper from lower case
    return free


def _spec(result: Result) -> dict[str, Any]:
    return {
        "spec": result.spec,
        "states": result.states,
        "transitions": result.transitions,
        "depth": result.depth,
        "seconds": result.seconds,
        "bytes_per_state": result.bytes_per_state,
        "stopped_by": result.stopped_by,
        "properties": [_property(one) for one in result.properties],
    }


def _property(one: PropertyResult) -> dict[str, Any]:
    return {
        "name": one.name,
        "kind": one.kind,
        "verdict": one.verdict.value,
        "detail": one.detail,
        "counterexample": one.counterexample and to_json(one.counterexample),
    }


def _fault(one: FaultResult) -> dict[str, Any]:
    return {
        "name": one.name,
        "spec": one.spec,
        "refuted_by": one.refuted_by,
        "caught": one.caught,
        "verdict": one.verdict.value,
        "steps": one.steps,
        "detail": one.detail,
        "states": one.states,
        "transitions": one.transitions,
        "seconds": one.seconds,
        "counterexample": one.counterexample and to_json(one.counterexample),
    }

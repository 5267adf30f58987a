"""What is checked, counted in the repository itself: no number on the pages is typed."""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]

Table = tuple[list[str], list[list[str]]]


def specs() -> Table:
    """One row for each specification on record, and their sum."""
    entries = _manifest()["spec"]
    rows = [
        [name, _number(len(one["properties"])), _number(one["states"]), _number(one["transitions"])]
        for name, one in sorted(entries.items())
    ]
    sums = [
        _number(sum(len(one["properties"]) for one in entries.values())),
        *(
            _number(sum(one[what] for one in entries.values()))
            for what in ("states", "transitions")
        ),
    ]
    return ["specification", "properties", "states", "transitions"], [*rows, ["together", *sums]]


def faults() -> Table:
    """One row for each planted fault on record."""
    rows = [
        [name, one["refuted_by"], _number(one["steps"])]
        for name, one in sorted(_manifest()["fault"].items())
    ]
    return ["planted fault", "refuted by", "steps of the counterexample"], rows


def tests() -> Table:
    """One row for each folder of tests; a parametrized test counts once."""
    folders = {file.parent for file in (ROOT / "tests").rglob("test_*.py")}
    rows = [
        [
            folder.relative_to(ROOT).as_posix(),
            _number(len([*folder.glob("test_*.py")])),
            _number(_tests_in(folder)),
        ]
        for folder in sorted(folders)
    ]
    return ["folder", "files", "test functions"], rows


def _manifest() -> dict[str, Any]:
    return tomllib.loads((ROOT / "specs" / "manifest.toml").read_text(encoding="utf-8"))


def _tests_in(folder: Path) -> int:
    kinds = ast.FunctionDef | ast.AsyncFunctionDef
    return sum(
        isinstance(node, kinds) and node.name.startswith("test_")
        for file in folder.glob("test_*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
    )


def _number(value: int) -> str:
    return f"{value:,}"

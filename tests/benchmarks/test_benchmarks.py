"""Every row of the benchmarks runs; what it measures is for a quiet machine, not for a test."""

import ast
import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROWS = [
    "control",
    "contended",
    "uncontended",
    "budget",
    "core",
    "cancelled",
    "memory",
    "monitor",
    "guards",
    "coordination",
    "atomic",
    "synchronizer",
    "observers",
    "groups",
    "growth",
    "checker",
    "explorer",
]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command; the project's root comes last, so that the package under test is measured."""
    program = "import sys; from benchmarks.__main__ import main; main(sys.argv[1:])"
    path = os.pathsep.join([*filter(None, sys.path), str(ROOT)])
    return subprocess.run(
        [sys.executable, "-P", "-W", "error", "-c", program, *arguments],
        env={**os.environ, "PYTHONPATH": path},
        check=True,
        capture_output=True,
        text=True,
    )


def rows_in_the_source() -> list[str]:
    tree = ast.parse((ROOT / "benchmarks" / "_rows.py").read_text())
    return [
        ast.literal_eval(node.args[0])
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "Row"
    ]


def test_every_row_is_tested_here() -> None:
    assert list(dict.fromkeys(rows_in_the_source())) == ROWS  # a name may stand for several rows


@pytest.mark.slow  # half a minute, for a tool that is run on one version
@pytest.mark.parametrize("row", ROWS)
def test_a_row_gives_finite_numbers(row: str, tmp_path: Path) -> None:
    run("--quick", row, "--json", str(tmp_path / "figures.json"))
    figures = json.loads((tmp_path / "figures.json").read_text())["figures"]
    assert {figure["row"] for figure in figures} == {row}
    assert all(0 < figure["median"] < math.inf for figure in figures)


def test_the_table_names_the_target_and_what_became_of_it() -> None:
    shown = run("--quick", "memory").stdout
    assert "<= 1.050" in shown
    assert "met" in shown or "missed" in shown

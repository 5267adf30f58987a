"""Every row of the benchmarks runs; what it measures is for a quiet machine, not for a test."""

import ast
import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.distributed.servers import program

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
    "guard",
    "observing",
    "inspector",
    "groups",
    "buffers",
    "pools",
    "threads",
    "server",
    "contest",
    "growth",
    "products",
    "searches",
    "mechanisms",
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


class Quick(NamedTuple):
    """What a run of all rows at tiny sizes has printed, and its figures."""

    printed: str
    figures: list[dict[str, Any]]


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Quick:
    file = tmp_path_factory.mktemp("quick") / "figures.json"
    ran = run("--quick", "--json", str(file))
    return Quick(ran.stdout, json.loads(file.read_text())["figures"])


@pytest.mark.nightly  # a minute, for a tool that no user runs
@pytest.mark.parametrize("row", ROWS)
def test_a_row_gives_finite_numbers(row: str, quick: Quick) -> None:
    if row == "server":
        program()  # or it is skipped, because there is none
    medians = [figure["median"] for figure in quick.figures if figure["row"] == row]
    assert medians
    assert all(0 < median < math.inf for median in medians)


@pytest.mark.nightly
def test_the_table_names_the_target_and_what_became_of_it(quick: Quick) -> None:
    assert "<= 1.050" in quick.printed
    assert "met" in quick.printed or "missed" in quick.printed

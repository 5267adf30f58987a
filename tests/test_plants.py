"""Each fault in `plants` is looked for: by the sweeps over schedules, by the machines, or by both."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
PLANTS = TESTS / "plants"
SEEKERS = (
    TESTS / "schedules" / "test_planted_faults.py",
    TESTS / "stateful" / "test_the_machines_find_planted_faults.py",
)


def planted(file: Path) -> list[str]:
    """Return the faults of a module: functions of one argument, which is where they are planted."""
    functions = [
        one for one in ast.parse(file.read_text()).body if isinstance(one, ast.FunctionDef)
    ]
    return [
        f"{file.stem}.{one.name}"
        for one in functions
        if [arg.arg for arg in one.args.args] == ["patch"] and not one.name.startswith("_")
    ]


def looked_for(file: Path) -> set[str]:
    """Return each "module.name" that a test speaks of."""
    return {
        ast.unparse(node)
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    }


@pytest.mark.parametrize("file", sorted(PLANTS.glob("*.py")), ids=lambda file: file.stem)
def test_each_fault_is_looked_for(file: Path) -> None:
    faults = planted(file)
    assert faults
    sought = set().union(*map(looked_for, SEEKERS))
    assert [fault for fault in faults if fault not in sought] == []


def test_a_fault_that_nobody_looks_for_is_named(tmp_path: Path) -> None:
    file = tmp_path / "lock.py"
    file.write_text("def a_release_is_forgotten(patch): ...\ndef _helper(patch): ...\n")
    assert planted(file) == ["lock.a_release_is_forgotten"]
    assert not {*planted(file)} & set().union(*map(looked_for, SEEKERS))

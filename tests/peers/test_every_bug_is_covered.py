"""The catalogue: which bugs of other libraries the tests of this folder are about, and which not.

Each id stands for one published bug, by class: H head cancelled, N notification, P permit lost in a
race, O overtaking or granted twice, D stuck mechanism, B barrier, C close, A arguments and accounting.
A test names the bugs that it is about in its docstring, as ``id, source``.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

HIGHEST = {"H": 10, "N": 15, "P": 19, "O": 12, "D": 9, "B": 2, "C": 5, "A": 7}
CATALOGUE = {f"{kind}{number}" for kind, top in HIGHEST.items() for number in range(1, top + 1)}

NOT_YET = {
    "D7": "tox-dev/filelock#675, a false alarm of a deadlock detector; there is no detector yet",
    "N15": "e2b-dev/infra#3629, a broadcast from another thread between check and wait; calls from "
    "threads are refused, and the façade for them is not there yet",
}

ID = re.compile(r"\b([A-Z]\d{1,2}), \S")


def bugs_of(source: str) -> set[str]:
    """The ids in the docstrings of the tests of a module."""
    tests = [
        node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.name.startswith("test_")
    ]
    return {bug for test in tests for bug in ID.findall(ast.get_docstring(test) or "")}


def covered() -> set[str]:
    files = Path(__file__).parent.glob("test_*.py")
    return set().union(*(bugs_of(path.read_text()) for path in files))


def test_every_bug_of_the_catalogue_is_covered_or_left_out_with_a_reason() -> None:
    assert CATALOGUE - NOT_YET.keys() - covered() == set()


def test_no_bug_is_both_covered_and_left_out() -> None:
    assert covered() & NOT_YET.keys() == set()


def test_no_bug_is_unknown() -> None:
    assert (covered() | NOT_YET.keys()) - CATALOGUE == set()


@pytest.mark.parametrize(
    ("source", "bugs"),
    [
        ('def test_a():\n    """H1, golang/go#37852: it slept."""', {"H1"}),
        ('async def test_a():\n    """P1, asyncio#270; P4, anyio#387: lost."""', {"P1", "P4"}),
        ('def test_a():\n    """As in H1."""', set()),
        ('def helper():\n    """H1, golang/go#37852: it slept."""', set()),
        ("# H1, golang/go#37852\ndef test_a(): ...", set()),
    ],
)
def test_only_the_docstring_of_a_test_covers_a_bug(source: str, bugs: set[str]) -> None:
    assert bugs_of(source) == bugs

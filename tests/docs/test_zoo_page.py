"""The page about the zoo shows what is on record, and every limit that a test pins."""

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]

FOUND = """
["late bug"]
source = "S2, second"
mechanism = "It comes late."
finds = "deadlock"
executions = 1234
deviations = 3
steps = 8
fixed_states = 56
fixed_executions = 78
cancels = 1

["early bug"]
source = "S1, first"
mechanism = "It comes early."
finds = "error"
executions = 1
deviations = 0
steps = 4
fixed_states = 5
fixed_executions = 6
cancels = 0
"""

LIMITS = """
@pytest.mark.xfail(strict=True, raises=AssertionError, reason="The search does " "not look there.")
@pytest.mark.usefixtures("something")
def test_a_bug_in_the_dark() -> None: ...

def test_that_the_bug_is_there() -> None: ...
"""


@pytest.fixture
def record(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[ModuleType]:
    """The module that makes tables, looking at a repository with two exhibits and one limit."""
    monkeypatch.syspath_prepend(ROOT / "docs" / "ext")
    module = importlib.import_module("record")
    monkeypatch.setattr(module, "ROOT", tmp_path)
    zoo = tmp_path / "tests" / "zoo"
    zoo.mkdir(parents=True)
    (zoo / "found.toml").write_text(FOUND, encoding="utf-8")
    (zoo / "test_what_it_cannot_see.py").write_text(LIMITS, encoding="utf-8")
    yield module
    del sys.modules["record"]


def test_each_bug_has_a_row_with_its_source(record: ModuleType) -> None:
    assert record.zoo()[1] == [
        ["early bug", "S1, first", "It comes early."],
        ["late bug", "S2, second", "It comes late."],
    ]


def test_each_bug_has_a_row_with_its_numbers_under_their_heads(record: ModuleType) -> None:
    heads, rows = record.hunts()
    assert dict(zip(heads, rows[1], strict=True)) == {
        "bug": "late bug",
        "found as": "deadlock",
        "executions until then": "1,234",
        "steps": "8",
        "of them deviations": "3",
        "states of the fix": "56",
        "executions of the fix": "78",
    }


def test_each_expected_miss_has_a_row_with_its_reason_and_other_tests_have_none(
    record: ModuleType,
) -> None:
    assert record.unseen()[1] == [["a bug in the dark", "The search does not look there."]]


def test_the_real_page_has_rows_in_each_table(
    record: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record, "ROOT", ROOT)
    for table in (record.zoo, record.hunts, record.unseen):
        heads, rows = table()
        assert len(rows) >= 8
        assert {len(row) for row in rows} == {len(heads)}

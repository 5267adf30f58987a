"""The numbers on the pages are those on record, and follow them."""

import importlib
import shutil
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from ..children import structsync_command  # noqa: TID252 - the one home of how a child is started

ROOT = Path(__file__).parents[2]


@pytest.fixture
def record(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[ModuleType]:
    """The module that counts, looking at a repository with one specification and two tests."""
    monkeypatch.syspath_prepend(ROOT / "docs" / "ext")
    module = importlib.import_module("record")
    monkeypatch.setattr(module, "ROOT", tmp_path)
    specs, tests = tmp_path / "specs", tmp_path / "tests" / "core"
    for folder in (specs, tests):
        folder.mkdir(parents=True)
    shutil.copy(ROOT / "examples" / "baton" / "baton_spec.py", specs)
    structsync_command("check", str(specs), "--update-manifest", cwd=tmp_path).check_returncode()
    (tests / "test_a.py").write_text(
        '"""What is tested."""\ndef test_a(): ...\ndef test_b(): ...\n'
    )
    yield module
    del sys.modules["record"]


def test_each_specification_has_a_row_and_the_last_row_is_the_sum(record: ModuleType) -> None:
    heads, rows = record.specs()
    assert heads == ["specification", "properties", "states", "transitions"]
    assert [row[0] for row in rows] == ["baton_spec.BatonSpec", "total"]
    assert rows[0][1:] == rows[1][1:]


def test_a_different_record_makes_different_numbers(record: ModuleType, tmp_path: Path) -> None:
    _, before = record.specs()
    manifest = tmp_path / "specs" / "manifest.toml"
    manifest.write_text(manifest.read_text().replace("states = 24", "states = 1234"))
    _, after = record.specs()
    assert (before[-1][2], after[-1][2]) == ("24", "1,234")


def test_each_planted_fault_has_a_row(record: ModuleType) -> None:
    _, rows = record.faults()
    assert [row[:2] for row in rows] == [
        ["baton_spec.HelpfulRing", "every_worker_gets_its_turn"],
        ["baton_spec.RingThatDoesNotClose", "one_task_has_the_baton"],
    ]


def test_each_program_has_a_row_with_what_it_is_made_of(record: ModuleType, tmp_path: Path) -> None:
    examples = ROOT / "examples"
    folder = tmp_path / "examples" / "programs"
    folder.mkdir(parents=True)
    (folder / "mistakes.toml").write_text(
        '[booking]\nmistake = "m"\nfound = "deadlock"\n'
        '[weighted_fair_queue]\nmistake = "n"\nfound = "error"\n'
    )
    shutil.copy(examples / "programs" / "booking.py", folder)
    shutil.copy(examples / "weighted_fair_queue.py", folder.parent)
    heads, (booking, fair) = record.programs()
    assert len(heads) == len(booking)
    assert booking[0].startswith("programs/booking.py: Seats in a theatre")
    assert booking[1:] == [
        "LockMap, acquire_all",
        "a seat is sold once and no task waits forever",
        "m: deadlock",
    ]
    assert fair[0].startswith("weighted_fair_queue.py: ")


def test_test_functions_are_counted_by_folder(record: ModuleType) -> None:
    _, rows = record.tests()
    assert rows == [["tests/core", "1", "2"]]


def test_the_tables_of_mutants_are_those_of_the_last_result(
    record: ModuleType, tmp_path: Path
) -> None:
    folder = tmp_path / "tests" / "mutation"
    folder.mkdir()
    (folder / "last.json").write_text(
        """{
        "date": "2026-01-01", "seed": "2025-12-31", "python": "3.13.1",
        "scores": [{"part": "core", "nets": ["checker"], "noticed": 3, "of": 4, "total": 1000,
                    "interval": [30.1, 95.4], "target": 85}],
        "parts": {"core": {"run": 5, "equivalent": 1, "noticed": {"checker: a property": 3}}},
        "survivors": [{"id": "_core/a.py:1:2:x", "inside": "f", "before": "a", "after": "b"}]
        }"""
    )
    assert record.mutation()[1] == [
        ["the pure cores", "checker", "3", "4", "75.0 %", "30.1 to 95.4 %", "85 %", "1,000"]
    ]
    assert record.mutation_nets()[1] == [
        ["checker: a property", "3"],
        ["equivalent, with a reason on record", "1"],
    ]
    assert record.mutation_survivors()[1] == [["_core/a.py", "f", "a", "b"]]
    assert record.mutation_when()[1] == [["2026-01-01", "2025-12-31", "3.13.1"]]


def test_a_dependency_has_its_reason_beside_it(record: ModuleType, tmp_path: Path) -> None:
    lines = ["", "dependencies = [", '    "trio>=0.27.0",  # it parks', "]", '    "late>=1", # no']
    (tmp_path / "pyproject.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert record.dependencies()[1] == [["trio", "0.27.0", "it parks"]]


def test_each_dependency_of_the_package_has_a_row(
    record: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record, "ROOT", ROOT)
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    assert [row[0] for row in record.dependencies()[1]] == [one.split(">")[0] for one in declared]

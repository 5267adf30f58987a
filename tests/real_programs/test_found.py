"""Released libraries are explored, in the versions on record; what was refuted is shown without us."""

from __future__ import annotations

import csv
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from .__main__ import RECORD
from ._rows import Row
from .table import HEADER, ROWS, explored, verdict_of

HERE = Path(__file__).parent
SCRIPTS = sorted(HERE.glob("plainly/*.py"))


def _name(row: Row) -> str:
    return f"{row.library} {row.what}"


@pytest.mark.parametrize("row", ROWS, ids=map(_name, ROWS))
def test_the_verdict_is_the_one_on_record(row: Row) -> None:
    found = explored(row)
    why = "" if found is None else f"{found.covered}; {found.failure and found.failure.message}"
    verdict = verdict_of(found)
    assert verdict == row.verdict or (row.verdict, verdict) == ("not finished", "confirmed"), why


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_plain_program_shows_it_without_us(script: Path) -> None:
    done = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("shown: ")


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_plain_program_is_plain(script: Path) -> None:
    assert "structsync" not in script.read_text()


def test_whatever_is_refuted_has_a_plain_program_and_a_judgement() -> None:
    refuted = [row for row in ROWS if row.verdict == "refuted"]
    assert sorted(row.script for row in refuted) == [script.name for script in SCRIPTS]
    assert all(row.judgement for row in ROWS if row.verdict != "confirmed")


def test_the_record_is_of_these_rows_and_versions() -> None:
    with RECORD.open(newline="", encoding="utf-8") as file:
        header, *lines = csv.reader(file)
    assert header == HEADER
    expected = [
        [f"{row.library} {version(row.library)}", row.what, row.holds, row.verdict, row.judgement]
        for row in ROWS
    ]
    assert [[*line[:4], line[-1]] for line in lines] == expected

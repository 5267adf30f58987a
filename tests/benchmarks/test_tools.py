"""What stands around the rows: ratios on record, instructions counted, curves drawn."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def printed(program: str, **environment: str) -> list[str]:
    """Run a program that imports the benchmarks; the root comes last, as in test_benchmarks.py."""
    path = os.pathsep.join([*filter(None, sys.path), str(ROOT)])
    ran = subprocess.run(
        [sys.executable, "-P", "-W", "error", "-c", program],
        env={**os.environ, "PYTHONPATH": path, **environment},
        check=True,
        capture_output=True,
        text=True,
    )
    return ran.stdout.splitlines()


LINES = """if True:
    from datetime import date
    from benchmarks._measure import Figure
    from benchmarks._recorded import read, record, worse, write
    from benchmarks._report import Line
    from benchmarks._rows import AtLeast, AtMost, Row

    def line(*rounds, target=AtMost(1.0), compared=True):
        row = Row("row", "what", target, lambda _: [])
        return Line(row, Figure("case", rounds, compared))
"""


def test_a_ratio_is_worse_if_its_middle_half_is_over_the_tolerance() -> None:
    program = f"""{LINES}
    medians = {{"row: what: case": 1.0}}
    print(*worse([line(1.2, 1.2, 1.2, 1.2), line(1.1, 1.2, 1.4, 9.0)], medians))
    print(*worse([line(1.3, 1.4, 1.4, 1.5)], medians))
    print(*worse([line(1.0)], {{}}))
    """
    well, worse, unknown = printed(program)
    assert well == ""
    assert worse == "row: what: case: 1.400, where 1.000 on record + 25% is tolerated"
    assert unknown == "row: what: case is not on record: --record writes it"


def test_only_what_does_not_depend_on_the_machine_is_compared() -> None:
    program = f"""{LINES}
    lines = [line(9.0, target=AtLeast(1)), line(9.0, target=None), line(9.0, compared=False)]
    print(worse(lines, {{}}), record(lines, date(2026, 1, 2))["medians"])
    """
    assert printed(program) == ["[] {}"]


def test_what_is_recorded_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / "recorded.json"
    program = f"""{LINES}
    from pathlib import Path
    write([line(1.0, 2.0, 3.0)], date(2026, 1, 2), Path({str(file)!r}))
    print(read(Path({str(file)!r})))
    write([], date(2026, 1, 2), Path({str(file)!r}))  # what is not measured stays as it is
    print(read(Path({str(file)!r})))
    """
    assert printed(program) == ["{'row: what: case': 2.0}"] * 2
    assert json.loads(file.read_text())["date"] == "2026-01-02"


def test_the_record_names_no_row_that_is_gone() -> None:
    program = """if True:
        from benchmarks._recorded import read
        from benchmarks._rows import ROWS
        known = {f"{row.name}: {row.what}: " for row in ROWS}
        print([key for key in read() if not any(key.startswith(start) for start in known)])
        print(len(read()) > 5)
    """
    assert printed(program) == ["[]", "True"]


def test_instructions_are_the_difference_of_two_counts(tmp_path: Path) -> None:
    """A program beside valgrind's that counts 1,000 and 7 for each operation."""
    valgrind = tmp_path / "valgrind"
    valgrind.write_text('#!/bin/sh\neval n=\\${$#}\necho "Collected : $((1000 + 7 * n))" >&2\n')
    valgrind.chmod(valgrind.stat().st_mode | stat.S_IXUSR)
    program = "from benchmarks._instructions import each\nprint(each('a program'))"
    path = os.pathsep.join([str(tmp_path), os.environ["PATH"]])
    assert printed(program, PATH=path) == ["7.0"]
    program = "from benchmarks._instructions import cases\nprint(len([*cases()]))"
    assert printed(program, PATH=path) == ["6"]
    assert printed(program, PATH=str(tmp_path / "nothing")) == ["0"]


@pytest.mark.slow  # for a tool that is run on one version
def test_every_curve_is_measured_and_finite() -> None:
    program = """if True:
        from benchmarks._curves import curves, draw
        from benchmarks._measure import Effort
        quick = Effort(1, quick=True)
        for curve in curves(quick):
            points = draw(curve, quick).document()["points"]
            figures = [value for each in points.values() for point in each for value in point]
            print(curve.name, len(points) > 0, all(0 < one < 1e6 for one in figures))
    """
    names = ["waiters", "blocked", "objects", "workers", "sessions"]
    names += ["primary-names", "primary-sessions", "primary-waiters"]
    assert printed(program) == [f"{name} True True" for name in names]


@pytest.mark.slow
@pytest.mark.skipif(not find_spec("matplotlib"), reason="it draws the curves, and is not installed")
def test_the_same_figures_give_the_same_picture(tmp_path: Path) -> None:
    program = f"""if True:
        from pathlib import Path
        from benchmarks import _plots
        from benchmarks._curves import Curve, Drawn
        drawn = Drawn(Curve("a", "A title", "tasks", (1, 10), {{}}), {{"x": [(1, 2, 1, 3), (10, 3, 2, 4)]}})
        for name in ("first", "second"):
            _plots.write([drawn], Path({str(tmp_path)!r}, name))
    """
    printed(program)
    first, second = (tmp_path / name / "a.svg" for name in ("first", "second"))
    assert first.read_bytes() == second.read_bytes()
    assert "A title" in first.read_text()

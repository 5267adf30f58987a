"""A report is as wide as the terminal: on the command line, in pytest, and as the text of an error."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from types import SimpleNamespace
from typing import Any

import pytest

from structsync.testing import ExplorationFailed, explore
from structsync.testing._pytest.failure_repr import FailureRepr

from ..children import environment  # noqa: TID252 - the one home of how a child is started
from .conftest import abba

#: A line that is never broken: half of a command replays nothing.
WHOLE = ("structsync explore", "explore(...", "pytest ", "E   pytest ")


def failed() -> ExplorationFailed:
    with pytest.raises(ExplorationFailed) as caught:
        explore(abba, cancels=0).check()
    return caught.value


def too_wide(text: str, width: int) -> list[str]:
    return [line for line in text.splitlines() if len(line) > width and not line.startswith(WHOLE)]


@pytest.mark.parametrize("width", [60, 80, 100, 160])
def test_the_text_of_an_error_is_as_wide_as_the_terminal(
    monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    error = failed()
    assert too_wide(str(error), width) == []
    assert max(map(len, str(error).splitlines())) > 0.6 * min(width, 120)
    assert str(error) == error.text(width)


def test_a_report_that_is_wider_than_its_terminal_would_be_noticed() -> None:
    assert too_wide(failed().text(160), 80)


def written(error: BaseException, width: int) -> str:
    lines: list[str] = []
    writer: Any = SimpleNamespace(fullwidth=width, line=lambda text, **_: lines.append(text))
    FailureRepr(None, error, crash=None).toterminal(writer)  # type: ignore[arg-type]
    return "\n".join(lines)


@pytest.mark.parametrize("width", [60, 80, 160])
def test_pytest_gets_lines_that_fit_beside_its_margin(width: int) -> None:
    text = written(failed(), width)
    assert too_wide(text.replace("E   explore(", "explore("), width) == []
    assert text.startswith(
        "E   DEADLOCK  abba\nE     plain FIFO order, and nothing is cancelled:\n"
    )


def test_pytest_shows_any_other_error_as_it_is() -> None:
    assert written(ValueError("wrong\nusage"), 20) == "E   wrong\nE   usage"


PROGRAM = """
    import trio
    from structsync.testing import explore

    @explore(cancels=0)
    async def test_counts():
        total = 0

        async def add():
            nonlocal total
            seen = total
            await trio.lowlevel.checkpoint()
            total = seen + 1

        async with trio.open_nursery() as nursery:
            nursery.start_soon(add)
            nursery.start_soon(add)
        assert total == 2
"""


@pytest.mark.unmeasured
@pytest.mark.parametrize(
    ("module", "arguments"),
    [
        ("structsync.cli", ["explore", "test_program.py"]),
        ("pytest", ["-p", "no:cacheprovider", "-q", "test_program.py"]),
    ],
)
def test_every_command_keeps_to_the_width_and_tells_the_assertion(
    tmp_path: Path, module: str, arguments: list[str]
) -> None:
    (tmp_path / "test_program.py").write_text(dedent(PROGRAM), encoding="utf-8")
    ran = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        cwd=tmp_path,
        env={**os.environ, **environment(), "COLUMNS": "66"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 1, ran.stderr
    report = ran.stdout.partition("ERROR  ")[2].partition("replay:")[0]
    assert too_wide(report, 66) == []
    words = " ".join(report.replace("E   ", "").split())
    assert "AssertionError at test_program.py:18 in test_counts: assert total == 2" in words
    assert "where total = 1" in words
    assert "1 executions" not in ran.stdout

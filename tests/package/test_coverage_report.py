"""What has to have run, with a server at hand and without one."""

from pathlib import Path

import pytest

from structsync import distributed

from . import coverage_report


def test_without_a_server_what_speaks_to_one_is_left_out_and_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "")
    assert coverage_report.command()[-2:] == ["--omit", coverage_report.NEEDS_A_SERVER]
    assert "not counted" in capsys.readouterr().out


@pytest.mark.parametrize("program", coverage_report.PROGRAMS)
def test_with_a_server_everything_counts(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, program: str
) -> None:
    (tmp_path / program).touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert coverage_report.command()[-1] == "report"


def test_what_is_left_out_is_there() -> None:
    engine = Path(distributed.__file__).with_name("redis") / "engine.py"
    assert engine.match(coverage_report.NEEDS_A_SERVER)

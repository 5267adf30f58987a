"""What a shell completes after `structsync`: commands, options, files, and the names of examples."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from structsync import _examples
from structsync.cli import main


def completed(*words: str) -> list[str]:
    """Return what bash is told; the last of the words is the one that has begun."""
    asked = {
        "_STRUCTSYNC_COMPLETE": "bash_complete",
        "COMP_WORDS": " ".join(["structsync", *words]),
        "COMP_CWORD": str(len(words)),
    }
    return CliRunner(env=asked).invoke(main, [], prog_name="structsync").output.split()


def test_commands_and_options_are_completed() -> None:
    assert completed("ex") == ["plain,examples", "plain,explore"]
    assert completed("explore", "--se") == ["plain,--search", "plain,--seconds", "plain,--seed"]
    assert completed("explore", "--order", "a") == ["plain,any"]


# The shell looks for the files itself.
@pytest.mark.parametrize("command", ["check", "explore", "merge-shards"])
def test_names_of_files_are_left_to_the_shell(command: str) -> None:
    assert completed(command, "tests/te") == ["file,tests/te"]


def test_names_of_examples_are_completed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert completed("examples", "sing") == ["plain,single_flight"]
    assert "plain,pool.py" in completed("examples", "courier", "")
    monkeypatch.setattr(_examples, "shipped_folder", lambda: None)
    assert completed("examples", "") == []

"""`structsync examples` lists the programs and copies them, for users who have only the wheel."""

from __future__ import annotations

import importlib.metadata
import shutil
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from structsync import _examples
from structsync.cli import main

EXAMPLES = Path(__file__).parents[2] / "examples"


def run(*arguments: str) -> Result:
    return CliRunner(env={"COLUMNS": "80"}).invoke(main, ["examples", *arguments])


def test_every_program_is_listed_with_its_first_sentence() -> None:
    printed = run().output
    words = " ".join(printed.split())
    for path in EXAMPLES.glob("*.py"):
        assert path.name in words
    assert "courier/" in words
    assert "single_flight/" in words
    assert "A cache that fetches each key once" in words
    assert "programs/ Programs of many kinds" in words
    assert max(map(len, printed.splitlines())) <= 80


def test_a_program_and_a_folder_are_copied_as_they_are(tmp_path: Path) -> None:
    done = run("pool", "courier", "--to", str(tmp_path / "new"))
    assert done.exit_code == 0, done.output
    assert done.output.split() == [str(tmp_path / "new" / name) for name in ("pool.py", "courier")]
    copied = (tmp_path / "new" / "pool.py").read_bytes()
    assert copied == (EXAMPLES / "pool.py").read_bytes()
    assert (tmp_path / "new" / "courier" / ".github" / "workflows" / "tests.yml").is_file()


def test_a_name_that_is_taken_leaves_everything_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "pool.py").write_text("mine")
    refused = run("courier", "pool.py", "--to", str(tmp_path))
    assert refused.exit_code == 64
    assert "pool.py exists already" in refused.output
    assert [path.name for path in tmp_path.iterdir()] == ["pool.py"]
    assert (tmp_path / "pool.py").read_text() == "mine"


def test_what_is_named_twice_is_copied_once(tmp_path: Path) -> None:
    done = run("courier", "pool", "courier", "pool.py", "--to", str(tmp_path))
    assert done.exit_code == 0, done.output
    assert done.output.split() == [str(tmp_path / name) for name in ("courier", "pool.py")]


def test_a_folder_that_cannot_be_written_is_an_error_of_the_command(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    refused = run("pool", "--to", str(tmp_path / "file" / "new"))
    assert refused.exit_code == 64
    assert "Not a directory" in refused.output
    assert "; name another --to" in " ".join(refused.output.split())


def test_an_unknown_name_is_answered_with_the_nearest(tmp_path: Path) -> None:
    refused = run("poool", "--to", str(tmp_path))
    assert refused.exit_code == 64
    assert "there is no example 'poool'; the nearest: pool.py" in refused.output


# ==== where they are ====


def test_in_a_source_tree_they_are_beside_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "examples").mkdir()
    (tmp_path / "examples" / "README.md").touch()
    monkeypatch.setattr(_examples, "__file__", str(tmp_path / "structsync" / "_examples.py"))
    assert _examples.shipped_folder() == tmp_path / "examples"


class Installed(importlib.metadata.PackagePath):
    """A file of the wheel, as it lies in the environment."""

    environment: Path

    def locate(self) -> Path:
        return self.environment / self.name


def test_an_installed_wheel_has_them_in_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    readme = Installed("../../../share/structsync/examples/README.md")
    readme.environment = tmp_path
    monkeypatch.setattr(_examples, "__file__", str(tmp_path / "nowhere" / "_examples.py"))
    monkeypatch.setattr(importlib.metadata, "files", lambda _: [Installed("a.py"), readme])
    assert _examples.shipped_folder() == tmp_path


def test_a_copy_of_the_library_without_them_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_examples, "__file__", str(tmp_path / "nowhere" / "_examples.py"))
    monkeypatch.setattr(importlib.metadata, "files", lambda _: None)
    refused = run()
    assert refused.exit_code == 1
    assert "comes without its examples" in refused.output


def test_a_folder_is_named_by_the_first_module_with_a_sentence(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLES / "courier", tmp_path / "courier")
    (tmp_path / "courier" / "courier" / "__init__.py").write_text("")
    assert _examples._first_sentence(tmp_path / "courier")
    (tmp_path / "bare").mkdir()
    (tmp_path / "bare" / "a.py").touch()
    with pytest.raises(AssertionError, match="no module with a docstring"):
        _examples._first_sentence(tmp_path / "bare")


def test_the_help_shows_every_command_in_a_section() -> None:
    printed = CliRunner().invoke(main, ["--help"]).output.partition("Check and explore:")[2]
    assert isinstance(main, click.Group)
    assert all(f"\n  {name} " in printed for name in main.commands)
    assert "..." not in printed, "a description is cut off"


def test_the_command_alone_prints_its_help_and_is_no_success() -> None:
    alone, asked = CliRunner().invoke(main, []), CliRunner().invoke(main, ["--help"])
    assert (alone.exit_code, alone.output) == (64, asked.output)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_shell_is_told_how_to_complete(shell: str) -> None:
    asked = {"_STRUCTSYNC_COMPLETE": f"{shell}_source"}
    done = CliRunner().invoke(main, prog_name="structsync", env=asked)
    assert done.exit_code == 0
    assert "_STRUCTSYNC_COMPLETE" in done.output

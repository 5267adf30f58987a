"""The programs of many kinds do what they print, hold in every schedule, and a mistake in one of them is found.

Each file has an ``@explore`` test of its own; that is what is run here, first as it stands, then with the mistake
that ``examples/programs/mistakes.toml`` describes.
"""

from __future__ import annotations

import importlib.util
import runpy
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from structsync.checking import Verdict
from structsync.testing import explore

from .test_examples import promised

EXAMPLES = Path(__file__).parents[2] / "examples"
MISTAKES = tomllib.loads((EXAMPLES / "programs" / "mistakes.toml").read_text(encoding="utf-8"))
PROGRAMS = {file.stem: file for file in sorted((EXAMPLES / "programs").glob("*.py"))}
#: They stand among the other examples, which test_examples.py runs.
ELSEWHERE = {name: EXAMPLES / f"{name}.py" for name in ("pipeline", "weighted_fair_queue")}
ALL = PROGRAMS | ELSEWHERE

Load = Callable[[Path], ModuleType]


@pytest.fixture
def load() -> Iterator[Load]:
    """Import a file, for one test."""
    name = "program_of_the_examples"

    def loaded(file: Path) -> ModuleType:
        spec = importlib.util.spec_from_file_location(name, file)
        assert spec is not None
        assert spec.loader is not None
        module = sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    yield loaded
    sys.modules.pop(name, None)


def explored(module: ModuleType) -> Any:
    """Return the one test of a program."""
    (test,) = [value for name, value in vars(module).items() if name.startswith("test_")]
    assert hasattr(test, "__structsync_explored__")
    return test


def with_mistake(source: str, mistake: dict[str, str]) -> str:
    old, new = mistake["old"], mistake["new"]
    assert source.count(old) == 1, f"{old!r} stands {source.count(old)} times"
    return source.replace(old, new)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_prints_what_its_docstring_promises(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    # In this process: the other examples are started as a user starts them, and these are many.
    runpy.run_path(str(PROGRAMS[name]), run_name="__main__")
    assert capsys.readouterr().out == promised(PROGRAMS[name].read_text(encoding="utf-8"))


def test_there_are_eighteen_and_each_has_its_mistake() -> None:
    assert len(ALL) >= 18
    assert sorted(MISTAKES) == sorted(ALL)


@pytest.mark.parametrize("name", ALL)
def test_a_program_holds_in_every_schedule(name: str, load: Load) -> None:
    found = explore(explored(load(ALL[name])))
    assert found.failure is None, found.failure.message
    assert found.verdict is Verdict.CONFIRMED, found.unfinished


@pytest.mark.parametrize("name", ALL)
def test_a_mistake_in_it_is_found(name: str, load: Load, tmp_path: Path) -> None:
    mistake = MISTAKES[name]
    file = tmp_path / f"{name}.py"
    file.write_text(with_mistake(ALL[name].read_text(encoding="utf-8"), mistake), encoding="utf-8")
    failure = explore(explored(load(file))).failure
    assert failure is not None
    assert failure.kind == mistake["found"], failure.message

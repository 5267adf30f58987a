"""A toy package with one net, small enough for the whole command."""

from __future__ import annotations

import dataclasses
import importlib
import sys
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from .command import Session, parser
from .lines import TOOL
from .nets import Watch
from .project import Project, Target

TOY = '''
"""A module with one function that is watched well, and one that is not."""


def larger(a, b):
    """Return the larger one."""
    if a > b:
        return a
    return b


def looked_at_only(a):
    return a + 1


def count_down(n):
    while n:
        try:
            n = n - 1
        except BaseException:
            pass
    return n


def shy(a):
    return -a


def waits(seconds=0):
    return None


def no_task_calls(a):
    return not a
'''


class ToyNet:
    """Functions that return whether all is well."""

    name = "toy"
    parts: tuple[str, ...] = ("core",)
    needs: tuple[str, ...] = ()
    traces: bool = False
    inspecting: tuple[str, ...] = ("how it looks",)

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.others: dict[str, Callable[[], bool]] = {}

    def run(self, names: Sequence[str] | None, watch: Watch) -> None:
        sys.path.insert(0, str(self._folder))
        with watch.shared():
            toy = importlib.import_module("toy.core.maths")
        items: dict[str, Callable[[], bool]] = {
            "larger": lambda: toy.larger(1, 2) == 2 and toy.larger(2, 1) == 2,
            "looked at": lambda: isinstance(toy.looked_at_only(1), int),
            "count down": lambda: toy.count_down(3) == 0,
            "how it looks": lambda: toy.waits.__defaults__ == (0,),
            "not while lines are looked at": lambda: toy.shy(1) == -1 and not _is_watched(),
            **self.others,
        }
        for name in names or items:
            with watch.item(name):
                is_well = items[name]()
            if not is_well:
                watch.red(name, "it is not so")


def _is_watched() -> bool:
    return sys.version_info >= (3, 12) and sys.monitoring.get_tool(TOOL) is not None


@pytest.fixture
def project(tmp_path: Path) -> Project:
    package = tmp_path / "toy"
    (package / "core").mkdir(parents=True)
    for folder in (package, package / "core"):
        (folder / "__init__.py").touch()
    (tmp_path / "tests").mkdir()
    (package / "core" / "maths.py").write_text(textwrap.dedent(TOY))
    return Project(
        package=package,
        parts={"core": ("core/",)},
        nets=[ToyNet(tmp_path)],
        targets=[Target("core", frozenset({"toy"}), 50)],
        sources=[package],
        tests=[tmp_path / "tests"],
        root=tmp_path,
        equivalents=tmp_path / "equivalent.toml",
    )


Run = Callable[..., tuple[int, str]]


@pytest.fixture
def command(project: Project, tmp_path: Path) -> Run:
    """Run the command over the toy; return its exit status and what it printed."""

    def run(*arguments: str) -> tuple[int, str]:
        said: list[str] = []
        options = parser().parse_args([*arguments, "--jobs", "1", "--state", str(tmp_path / "s")])
        anew = dataclasses.replace(project)  # which reads its sources again
        return Session(anew, options, said.append).run(), "\n".join(said)

    return run

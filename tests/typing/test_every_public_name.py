"""Each public name has a line in this folder that both checkers judge, with nothing unknown for a strict one."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterable
from pathlib import Path
from typing import TypeVar

import pytest

import structsync
from tests.public_names import PUBLIC

#: What each package has for its users, besides ``structsync`` itself.
PACKAGES = [
    "checking",
    "checking.invariants",
    "distributed",
    "lowlevel",
    "otel",
    "report",
    "testing",
    "threads",
]
FILES = sorted(Path(__file__).parent.glob("test_types_of_*.py"))


def named(trees: Iterable[ast.Module]) -> set[str]:
    """Return the names that are used there, besides being imported."""
    nodes = [node for tree in trees for node in ast.walk(tree)]
    plain = {node.id for node in nodes if isinstance(node, ast.Name)}
    return plain | {node.attr for node in nodes if isinstance(node, ast.Attribute)}


def names_of(package: str) -> set[str]:
    """Return the names that a package defines or passes on for its users."""
    found = importlib.import_module(f"structsync.{package}")
    home = "structsync" if hasattr(found, "__path__") else found.__name__
    return {
        name
        for name in getattr(found, "__all__", dir(found))
        if not name.startswith("_")
        and not isinstance(getattr(found, name), TypeVar)
        and getattr(getattr(found, name), "__module__", "").startswith(home)
    }


USED = named(ast.parse(file.read_text(encoding="utf-8")) for file in FILES)


def test_every_public_name_is_judged_by_the_checkers() -> None:
    assert {*PUBLIC} - USED == set()


@pytest.mark.parametrize("package", PACKAGES)
def test_so_is_every_name_of_the_other_packages(package: str) -> None:
    assert names_of(package)
    assert names_of(package) - USED == set()


def test_each_package_for_users_is_looked_at() -> None:
    private_or_tools = {"cli", "observing", "specs"}
    folder = Path(structsync.__file__).parent
    there = {one.stem for one in folder.iterdir() if not one.name.startswith(("_", "py.typed"))}
    assert there - private_or_tools == {package.partition(".")[0] for package in PACKAGES}


def test_a_name_that_is_only_imported_is_not_judged() -> None:
    assert named([ast.parse("from structsync import Lock, Latch\nLatch(1)")]) == {"Latch"}

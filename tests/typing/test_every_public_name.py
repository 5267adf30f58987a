"""Each public name has a line in this folder that both checkers judge, with nothing unknown for a strict one."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterable
from pathlib import Path
from typing import TypeVar

import pytest

from structsync._naming import PUBLIC

FILES = sorted(Path(__file__).parent.glob("test_types_of_*.py"))


def named(trees: Iterable[ast.Module]) -> set[str]:
    """Return the names that are used there, besides being imported."""
    nodes = [node for tree in trees for node in ast.walk(tree)]
    plain = {node.id for node in nodes if isinstance(node, ast.Name)}
    return plain | {node.attr for node in nodes if isinstance(node, ast.Attribute)}


def names_of(module: str) -> set[str]:
    """Return the names that it says are public; or else those that a package passes on, or a module defines."""
    found = importlib.import_module(module)
    if hasattr(found, "__all__"):
        return {*found.__all__}
    home = "structsync" if hasattr(found, "__path__") else module
    return {
        name
        for name in dir(found)
        # not what is private, nor what pytest adds to code whose asserts it rewrites
        if name[0].isalpha()
        and not isinstance(getattr(found, name), TypeVar)
        and getattr(getattr(found, name), "__module__", home).startswith(home)
    }


@pytest.mark.parametrize("module", [*sorted(PUBLIC), "structsync.checking.invariants"])
def test_every_public_name_is_judged_by_the_checkers(module: str) -> None:
    used = named(ast.parse(file.read_text(encoding="utf-8")) for file in FILES)
    assert names_of(module)
    assert names_of(module) - used == set()


def test_a_name_that_is_only_imported_is_not_judged() -> None:
    assert named([ast.parse("from structsync import Lock, Latch\nLatch(1)")]) == {"Latch"}

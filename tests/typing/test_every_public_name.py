"""Each public name has a line in this folder that both checkers judge, with nothing unknown for a strict one."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from inspect import isfunction
from pathlib import Path

import pytest

from structsync._naming import PUBLIC
from structsync.checking import invariants
from tests.public_names import listed

FILES = sorted(Path(__file__).parent.glob("test_types_of_*.py"))


def named(trees: Iterable[ast.Module]) -> set[str]:
    """Return the names that are used there, besides being imported."""
    nodes = [node for tree in trees for node in ast.walk(tree)]
    plain = {node.id for node in nodes if isinstance(node, ast.Name)}
    return plain | {node.attr for node in nodes if isinstance(node, ast.Attribute)}


USED = named(ast.parse(file.read_text(encoding="utf-8")) for file in FILES)


@pytest.mark.parametrize("module", sorted(PUBLIC))
def test_every_public_name_is_judged_by_the_checkers(module: str) -> None:
    assert listed(module)
    assert {*listed(module)} - USED == set()


def test_so_is_every_invariant() -> None:
    found = {name for name in listed(invariants.__name__) if isfunction(getattr(invariants, name))}
    assert found
    assert found - USED == set()


def test_a_name_that_is_only_imported_is_not_judged() -> None:
    assert named([ast.parse("from structsync import Lock, Latch\nLatch(1)")]) == {"Latch"}

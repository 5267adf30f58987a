"""Each public name has a line in this folder that both checkers judge."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from pathlib import Path

import structsync
from tests.public_names import PUBLIC

FILES = sorted(Path(__file__).parent.glob("test_types_of_*.py"))


def named(trees: Iterable[ast.Module]) -> set[str]:
    """Return the names that are used there, besides being imported."""
    nodes = [node for tree in trees for node in ast.walk(tree)]
    plain = {node.id for node in nodes if isinstance(node, ast.Name)}
    return plain | {node.attr for node in nodes if isinstance(node, ast.Attribute)}


def test_every_public_name_is_judged_by_the_checkers() -> None:
    used = named(ast.parse(file.read_text(encoding="utf-8")) for file in FILES)
    assert {*PUBLIC, *structsync.lowlevel.__all__} - used == set()


def test_a_name_that_is_only_imported_is_not_judged() -> None:
    assert named([ast.parse("from structsync import Lock, Latch\nLatch(1)")]) == {"Latch"}

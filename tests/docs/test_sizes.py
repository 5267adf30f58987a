"""The table that compares searches shows what is true of them, and says where it stops counting."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

EXT = Path(__file__).parents[2] / "docs" / "ext"


@pytest.fixture
def sizes(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The module that measures; Sphinx has docs/ext on its path, the tests have not."""
    monkeypatch.syspath_prepend(EXT)
    yield importlib.import_module("sizes")
    del sys.modules["sizes"]


@pytest.fixture
def small(sizes: ModuleType, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The same, with one program that takes no time."""
    monkeypatch.setattr(sizes, "PROGRAMS", {"small": (sizes.workers(3, 1), 0)})
    return sizes


def test_each_program_has_a_row_with_a_number_under_each_head(small: ModuleType) -> None:
    heads, rows = small.sizes()
    assert [row[0] for row in rows] == ["small"]
    assert [len(row) for row in rows] == [len(heads)]


def test_each_reduction_leaves_something_out(small: ModuleType) -> None:
    ((_, plain, _, symmetric, states),) = small.sizes()[1]
    assert int(plain) > int(symmetric) >= int(states)


def test_a_search_that_was_not_finished_is_not_told_as_a_number(
    small: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(small, "MOST", 5)
    ((_, *counts),) = small.sizes()[1]
    assert all(count.startswith("more than ") for count in counts)

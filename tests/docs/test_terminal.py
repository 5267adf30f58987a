"""The picture of the explorer's report shows what the explorer prints today."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

EXT = Path(__file__).parents[2] / "docs" / "ext"


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The module that draws; Sphinx has docs/ext on its path, the tests have not."""
    monkeypatch.syspath_prepend(EXT)
    yield importlib.import_module("terminal")
    del sys.modules["terminal"]


def test_the_pictures_show_what_the_explorer_prints(terminal: ModuleType) -> None:
    text = terminal.printed()
    for name, theme in terminal.THEMES.items():
        kept = (terminal.PICTURES / f"explored-{name}.svg").read_text(encoding="utf-8")
        assert terminal.words_of(kept) == terminal.words_of(terminal.svg(text, theme)), (
            "python docs/ext/terminal.py makes the pictures anew"
        )


def test_a_picture_of_another_run_is_noticed(terminal: ModuleType) -> None:
    made = terminal.svg("LEAK  elsewhere.py", terminal.LIGHT)
    assert terminal.words_of(made) == ["LEAK", "elsewhere.py"]


def test_a_picture_fetches_nothing(terminal: ModuleType) -> None:
    assert "url(http" not in terminal.svg("text", terminal.LIGHT)

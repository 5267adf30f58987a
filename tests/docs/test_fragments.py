"""The page of releases shows what the next one will say."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType

import pytest

EXT = Path(__file__).parents[2] / "docs" / "ext"

PYPROJECT = """
[tool.towncrier]
directory = "news"

[[tool.towncrier.type]]
directory = "feature"
name = "Features"

[[tool.towncrier.type]]
directory = "doc"
name = "Documentation"
"""


@pytest.fixture
def fragments(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(EXT)
    monkeypatch.delitem(sys.modules, "fragments", raising=False)
    return importlib.import_module("fragments")


def test_fragments_stand_under_their_titles_in_the_order_of_their_subjects(
    tmp_path: Path, fragments: ModuleType
) -> None:
    (tmp_path / "pyproject.toml").write_text(PYPROJECT)
    (tmp_path / "news").mkdir()
    assert fragments.unreleased(tmp_path) == "Nothing waits for a release."
    (tmp_path / "news" / "+z.feature.rst").write_text("**Apples:** are\nnew.\n")
    (tmp_path / "news" / "7.feature.rst").write_text("**Pears:** too.\n")
    (tmp_path / "news" / "README.rst").write_text("not a fragment\n")
    assert fragments.unreleased(tmp_path) == (
        ".. rubric:: Features\n\n* **Apples:** are\n  new.\n\n* **Pears:** too.\n"
    )


def test_every_fragment_of_the_repository_is_shown(fragments: ModuleType) -> None:
    text = fragments.unreleased()
    news = EXT.parent / "news"
    named = [file for file in news.glob("*.rst") if file.name != "README.rst"]
    assert text.count("\n* ") == len(named)

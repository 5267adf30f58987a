"""What the next release will say: the fragments in ``docs/news``, under the titles that towncrier gives them."""

from __future__ import annotations

import textwrap
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def unreleased(root: Path = ROOT) -> str:
    """Return the fragments of a repository as RST, each kind under its title."""
    pyproject = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))
    towncrier = pyproject["tool"]["towncrier"]
    parts = [
        f".. rubric:: {kind['name']}\n\n" + "\n".join(map(_bullet, texts))
        for kind in towncrier["type"]
        if (texts := _texts(root / towncrier["directory"], kind["directory"]))
    ]
    return "\n".join(parts) or "Nothing waits for a release."


def _texts(folder: Path, kind: str) -> list[str]:
    return sorted(file.read_text("utf-8") for file in folder.glob(f"*.{kind}.rst"))


def _bullet(text: str) -> str:
    return "* " + textwrap.indent(text.strip(), "  ").removeprefix("  ") + "\n"

"""The picture of what the explorer prints, made from a real run: ``python docs/ext/terminal.py``.

A page and the README show it; a test runs the explorer again and compares the words.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from html import unescape
from io import StringIO
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import DIMMED_MONOKAI, TerminalTheme
from rich.text import Text

ROOT = Path(__file__).parents[2]
PICTURES = ROOT / "docs" / "static"
COLUMNS = 90

#: On white, with colors that are dark enough to be read there.
LIGHT = TerminalTheme(
    (255, 255, 255),
    (36, 41, 47),
    [
        (36, 41, 47),
        (207, 34, 46),
        (17, 99, 41),
        (125, 78, 0),
        (9, 105, 218),
        (130, 80, 223),
        (27, 124, 131),
        (87, 96, 106),
    ],
)
THEMES = {"light": LIGHT, "dark": DIMMED_MONOKAI}

#: How long it took is another at each run.
_TOOK = re.compile(r"\n[^\n]* executions in [^\n]*\n\Z")
_FONT = re.compile(r"\s*@font-face \{.*?\}", re.DOTALL)
_LINE = re.compile(r"<text [^>]*clip-path[^>]*>(.*?)</text>")


def program() -> str:
    """Return the explored test of the README, the one home of it."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks: list[str] = re.findall(r"^```python\n(.*?)^```$", readme, re.MULTILINE | re.DOTALL)
    (found,) = [block for block in blocks if "@explore" in block]
    return found


def printed() -> str:
    """Return what ``structsync explore test_permits.py`` prints of it, with its colors."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "test_permits.py").write_text(program(), encoding="utf-8")
        ran = subprocess.run(
            [sys.executable, "-m", "structsync", "explore", "test_permits.py"],
            cwd=folder,
            env={**os.environ, "COLUMNS": str(COLUMNS), "FORCE_COLOR": "1", "NO_COLOR": ""},
            capture_output=True,
            text=True,
            check=False,
        )
    assert "LEAK" in ran.stdout, ran.stdout + ran.stderr
    return _TOOK.sub("", ran.stdout)


def svg(text: str, theme: TerminalTheme) -> str:
    """Return a picture of a terminal with this text."""
    console = Console(width=COLUMNS, record=True, file=StringIO())
    console.print(Text.from_ansi(text), soft_wrap=False)
    made = console.export_svg(title="structsync explore test_permits.py", theme=theme)
    # A picture fetches nothing: the reader's own monospaced font will do.
    return _FONT.sub("", made).replace("Fira Code, monospace", "ui-monospace, monospace")


def words_of(picture: str) -> list[str]:
    """Return the words that can be read in a picture."""
    return " ".join(unescape(line).replace("\xa0", " ") for line in _lines(picture)).split()


def _lines(picture: str) -> Iterator[str]:
    for found in _LINE.finditer(picture):
        yield found[1]


def main() -> None:
    """Make the pictures anew."""
    text = printed()
    for name, theme in THEMES.items():
        (PICTURES / f"explored-{name}.svg").write_text(svg(text, theme), encoding="utf-8")


if __name__ == "__main__":
    main()

"""The folder that reports go to, before there is one to write."""

from __future__ import annotations

import tempfile
from pathlib import Path


def make(folder: Path) -> None:
    """Make a folder and try to write into it: before a search, which may be long, and not when something is found.

    Raises:
      OSError: if it cannot be made, or not be written into.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=folder):
        pass

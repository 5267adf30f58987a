"""Where the sources are: of the package that is tested, and of the project."""

from pathlib import Path

import structsync

ROOT = Path(__file__).parents[1]
PACKAGE = Path(structsync.__file__).parent


def sources(folder: Path) -> list[Path]:
    found = sorted(folder.rglob("*.py"))
    assert found, f"no Python file in {folder}: this test would be green by emptiness"
    return found

"""The explored test in the README fails as the README says, and passes with its bug repaired."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from ..children import environment  # noqa: TID252 - the one home of how a child is started

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


def program() -> str:
    """Return the explored test."""
    blocks: list[str] = re.findall(r"^```python\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    (found,) = [block for block in blocks if "@explore" in block]
    return found


def messages(folder: Path, source: str) -> list[str]:
    """Return why the tests of a file fail, as pytest tells it at the end."""
    (folder / "test_readme.py").write_text(source, encoding="utf-8")
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "test_readme.py"],
        cwd=folder,
        env={**environment(), "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert re.search(r"1 (passed|failed) in", ran.stdout), ran.stdout + ran.stderr
    return re.findall(r"^FAILED \S+ - (.*)$", ran.stdout, re.MULTILINE)


def test_the_explored_test_fails_with_the_message_of_the_readme(tmp_path: Path) -> None:
    (message,) = messages(tmp_path, program())
    assert f"fails with `{message}`" in " ".join(README.split())


def test_the_explored_test_passes_when_its_permit_is_given_back_in_any_case(tmp_path: Path) -> None:
    body = """        async with permits:
            await trio.sleep(1)
"""
    repaired = re.sub(r"        await permits.*?release\(\)\n", body, program(), flags=re.DOTALL)
    assert repaired != program()
    assert messages(tmp_path, repaired) == []

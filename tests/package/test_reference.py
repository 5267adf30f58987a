"""The reference has an entry for every public name, of whichever module users import it from."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

from structsync._naming import PUBLIC
from tests.public_names import listed

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
ENTRY = re.compile(
    r"^\.\. (?:py:|auto)?(class|data|exception|function|module|currentmodule):: ([\w.]+)",
    re.MULTILINE,
)


def documented(page: str) -> set[str]:
    """Return the full names of the entries of a page."""
    module, found = "", set[str]()
    for kind, name in ENTRY.findall(page):
        if kind.endswith("module"):
            module = name
            found.add(name)
        else:
            found.add(name if name.startswith("structsync.") else f"{module}.{name}")
    return found


def undocumented(module: str, entries: set[str]) -> list[str]:
    """Return the public names of a module that have no entry, under this name or that of where they are from."""
    package = importlib.import_module(module)
    missing = []
    for name in listed(module):
        thing = getattr(package, name)
        origin = f"{getattr(thing, '__module__', '')}.{getattr(thing, '__qualname__', '')}"
        if not {f"{module}.{name}", origin} & entries:
            missing.append(name)
    return missing


@pytest.mark.parametrize("module", sorted(PUBLIC))
def test_every_public_name_is_in_the_reference(module: str) -> None:
    entries = set[str]().union(*(documented(page.read_text()) for page in REFERENCE.glob("*.rst")))
    assert undocumented(module, entries) == []


def test_a_public_name_without_an_entry_is_found() -> None:
    page = ".. module:: structsync.report\n\n.. autoclass:: Step()\n.. autofunction:: dumps\n"
    assert documented(page) == {f"structsync.report{one}" for one in ("", ".Step", ".dumps")}
    missing = undocumented("structsync.report", documented(page))
    assert "Blocked" in missing
    assert not {"Step", "dumps"} & {*missing}


def test_an_entry_of_another_module_is_none() -> None:
    page = ".. currentmodule:: structsync.checking\n\n.. autoclass:: Progress()\n"
    assert "Progress" in undocumented("structsync.testing", documented(page))

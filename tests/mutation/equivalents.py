"""Mutants that no check can notice, each with the reason why.

An entry is matched by what is changed, not by its line, so that it survives changes elsewhere; one that
matches nothing is an error.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from pathlib import Path

from .mutants import Mutant

_KEYS = {"file", "inside", "before", "after", "reason"}


class StaleEntry(Exception):
    """An entry of the list is wrong, or matches no mutant any more."""


def equivalents(path: Path, mutants: Iterable[Mutant]) -> dict[str, str]:
    """Return the reasons by the ids of the mutants on the list.

    Raises:
      StaleEntry: if an entry matches no mutant, has no reason, or has other keys than it should.
    """
    if not path.exists():
        return {}
    known: dict[tuple[str, ...], list[str]] = {}
    for one in mutants:
        known.setdefault((one.file, one.inside, one.before, one.after), []).append(one.id)
    found: dict[str, str] = {}
    for entry in tomllib.loads(path.read_text(encoding="utf-8")).get("equivalent", []):
        if set(entry) != _KEYS or not entry["reason"].strip():
            raise StaleEntry(f"an entry has the keys {sorted(_KEYS)}, all of them, not {entry}")
        ids = known.get(tuple(entry[key] for key in ("file", "inside", "before", "after")))
        if not ids:
            raise StaleEntry(f"no mutant matches any more: {entry}")
        found |= dict.fromkeys(ids, entry["reason"])
    return found

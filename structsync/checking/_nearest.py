"""Which names may have been meant."""

from __future__ import annotations

from collections.abc import Collection
from difflib import SequenceMatcher
from heapq import nlargest

#: So many names are enough to choose from.
MOST = 5


def nearest(wanted: str, names: Collection[str]) -> list[str]:
    """Return the few names that are most like what was wanted, or a part of which is."""
    return nlargest(MOST, names, key=lambda name: _likeness(wanted.lower(), name.lower()))


def _likeness(wanted: str, name: str) -> float:
    parts = [name, *name.replace("[", ".").rstrip("]").split(".")]
    return max(SequenceMatcher(None, wanted, part).ratio() for part in parts)

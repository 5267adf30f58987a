"""How much memory the operating system has given to this process."""

from __future__ import annotations

import mmap
from pathlib import Path

#: Where Linux tells it; other systems tell only the largest amount there ever was.
_STATM = Path("/proc/self/statm")

#: With fewer states, most of what a process grows by is none of the search's.
LARGE = 20_000


def resident() -> int | None:
    """Return the bytes of this process that are in memory; None where the system does not tell."""
    try:
        return int(_STATM.read_text().split()[1]) * mmap.PAGESIZE
    except OSError:
        return None


def grown_by(counted: float, states: int, before: int | None) -> float:
    """Return by how many bytes this process has grown for each state, at least what was counted."""
    now = resident()
    if states < LARGE or now is None or before is None:
        return counted
    return max(counted, (now - before) / states)

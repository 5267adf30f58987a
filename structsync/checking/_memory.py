"""How much memory the operating system has given to this process."""

from __future__ import annotations

import mmap
from pathlib import Path

#: Where Linux tells it; other systems tell only the largest amount there ever was.
_STATM = Path("/proc/self/statm")


def resident() -> int | None:
    """Return the bytes of this process that are in memory; None where the system does not tell."""
    try:
        return int(_STATM.read_text().split()[1]) * mmap.PAGESIZE
    except OSError:
        return None

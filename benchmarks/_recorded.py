"""Ratios on record, and whether those of today are worse.

A figure is worse if the whole middle half of its rounds lies more than the tolerance above the median on
record. Rates and seconds are not compared: they belong to the machine.
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterable, Mapping
from datetime import date
from pathlib import Path
from typing import Any

from ._report import Line, versions
from ._rows import AtMost

FILE = Path(__file__).with_name("recorded.json")
TOLERANCE = 0.25
#: Rows whose targets are seconds or rates.
OF_THE_MACHINE = {"checker", "contest", "explorer", "server"}


def key(line: Line) -> str:
    return f"{line.row.name}: {line.row.what}: {line.figure.case}"


def is_ratio(line: Line) -> bool:
    """Return whether a figure has a target, and one that a slower machine meets as well."""
    of_the_machine = line.row.name in OF_THE_MACHINE or not isinstance(line.row.target, AtMost)
    return line.figure.compared and not of_the_machine


def record(
    lines: Iterable[Line], today: date, before: Mapping[str, float] | None = None
) -> dict[str, Any]:
    """Return what is kept: medians, those of other rows from before, with the date and the machine."""
    medians = {key(line): round(line.figure.median, 4) for line in lines if is_ratio(line)}
    return {
        "date": today.isoformat(),
        "machine": f"{platform.system()}, {platform.machine()}, {os.cpu_count()} cores",
        **versions(),
        "medians": dict(sorted({**(before or {}), **medians}.items())),
    }


def worse(lines: Iterable[Line], medians: Mapping[str, float]) -> list[str]:
    """Return a sentence for each figure that is worse than on record, or is not on record."""
    found = []
    for line in filter(is_ratio, lines):
        before, (low, _) = medians.get(key(line)), line.figure.spread
        if before is None:
            found.append(f"{key(line)} is not on record: --record writes it")
        elif low > before * (1 + TOLERANCE):
            limit = f"{before:.3f} on record + {TOLERANCE:.0%}"
            found.append(f"{key(line)}: {line.figure.median:.3f}, where {limit} is tolerated")
    return found


def read(file: Path = FILE) -> Mapping[str, float]:
    """Return the medians on record; none without a file."""
    medians: dict[str, float] = json.loads(file.read_text())["medians"] if file.exists() else {}
    return medians


def write(lines: Iterable[Line], today: date, file: Path = FILE) -> None:
    file.write_text(json.dumps(record(lines, today, read(file)), indent=1) + "\n")

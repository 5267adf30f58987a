"""Explore all rows and write the record that the page shows: ``python -m tests.real_programs``."""

from __future__ import annotations

import csv
from pathlib import Path

from .table import HEADER, ROWS, line

RECORD = Path(__file__).with_name("record.csv")


def main() -> None:
    """Explore one row after the other, and write the record anew."""
    lines = [HEADER, *(line(row) for row in ROWS)]
    with RECORD.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(lines)


if __name__ == "__main__":
    main()

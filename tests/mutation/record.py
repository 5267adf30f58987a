"""The last result, for the documentation: ``last.json`` is the only home of its numbers."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from .score import Score, who_noticed
from .trial import Result

LAST = Path(__file__).parent / "last.json"


def write(
    path: Path,
    results: Collection[Result],
    scores: Sequence[Score],
    equivalent: Mapping[str, str],
    about: Mapping[str, Any],
) -> None:
    """Write what the pages show."""
    parts = {}
    for part in sorted({one.target.part for one in scores}):
        mine = [one for one in results if one.part == part]
        parts[part] = {
            "run": len(mine),
            "equivalent": sum(one.id in equivalent for one in mine),
            "noticed": dict(who_noticed([one for one in mine if one.id not in equivalent])),
        }
    survivors = [
        {"id": one.id, "inside": one.inside, "before": one.before, "after": one.after}
        for one in sorted(results, key=lambda one: one.id)
        if not one.is_noticed and one.id not in equivalent
    ]
    shown = [
        {
            "part": one.target.part,
            "nets": sorted(one.target.nets),
            "noticed": one.noticed,
            "of": one.of,
            "total": one.total,
            "interval": [round(bound, 1) for bound in one.interval],
            "target": one.target.percent,
        }
        for one in scores
    ]
    data = {**about, "scores": shown, "parts": parts, "survivors": survivors}
    path.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")

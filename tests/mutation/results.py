"""Results on disk, one JSON object per line, so that an interrupted run goes on where it ended."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from .trial import Result


class Store:
    """The results so far; those that rest on something that has changed since are forgotten.

    Args:
      evidence: what a result rests on, by the item that noticed the mutant (empty: none did).
    """

    def __init__(self, path: Path, evidence: Callable[[str], str]) -> None:
        self._path = path
        self._evidence = evidence
        self.results: dict[str, Result] = {}
        path.parent.mkdir(parents=True, exist_ok=True)
        for line in path.read_text().splitlines() if path.exists() else []:
            try:
                read = json.loads(line)
            except ValueError:  # the last line, if its writer was killed
                break
            if read.pop("evidence", None) == evidence(read["item"]):
                self.results[read["id"]] = Result(**read)
        self._write(list(self.results.values()), "w")

    def add(self, result: Result) -> None:
        """Keep a result."""
        self.results[result.id] = result
        self._write([result], "a")

    def _write(self, results: list[Result], mode: str) -> None:
        with self._path.open(mode) as file:
            for one in results:
                entry = {**one.as_json(), "evidence": self._evidence(one.item)}
                file.write(json.dumps(entry) + "\n")

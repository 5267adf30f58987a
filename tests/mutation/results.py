"""Results on disk, one JSON object per line, so that an interrupted run goes on where it ended."""

from __future__ import annotations

import json
from pathlib import Path

from .trial import Result


class Store:
    """The results of one state of the sources; those of another state are forgotten."""

    def __init__(self, path: Path, digest: str) -> None:
        self._path = path
        self.results: dict[str, Result] = {}
        path.parent.mkdir(parents=True, exist_ok=True)
        head, *lines = path.read_text().splitlines() if path.exists() else [""]
        if head == json.dumps({"digest": digest}):
            for line in lines:
                try:
                    read = json.loads(line)
                except ValueError:  # the last line, if its writer was killed
                    break
                self.results[read["id"]] = Result(**read)
        self._write([{"digest": digest}, *(one.as_json() for one in self.results.values())], "w")

    def add(self, result: Result) -> None:
        """Keep a result."""
        self.results[result.id] = result
        self._write([result.as_json()], "a")

    def _write(self, entries: list[dict[str, object]], mode: str) -> None:
        with self._path.open(mode) as file:
            file.writelines(json.dumps(one) + "\n" for one in entries)

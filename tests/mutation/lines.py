"""Which lines of the package run, one item of a net at a time (needs Python 3.12: ``sys.monitoring``)."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import CodeType

TOOL = 3  # of those that Python has no name for, as coverage and debuggers have


class Recorder:
    """Collects the lines that run; each counts once until they are taken.

    Args:
      once: whether a line is looked at only until it has run, which is faster. Not where what runs is traced
          by others as well: to look away takes events from them, so that CrossHair lost its way.
    """

    def __init__(self, package: Path, folders: tuple[str, ...], *, once: bool = True) -> None:
        self._after = sys.monitoring.DISABLE if once else None
        self._package = package.resolve()
        self._folders = folders
        self._names: dict[str, str] = {}
        self._ran: set[tuple[str, int]] = set()
        monitoring = sys.monitoring
        monitoring.use_tool_id(TOOL, "mutation")
        monitoring.register_callback(TOOL, monitoring.events.LINE, self._line)

    def watch(self, file: Path, code: CodeType) -> CodeType:
        """Watch the code of a module, if it is one that is changed."""
        path = file.resolve()
        if path.is_relative_to(self._package):
            name = path.relative_to(self._package).as_posix()
            if name.startswith(self._folders):
                self._names[code.co_filename] = name
                for one in _with_inner(code):
                    sys.monitoring.set_local_events(TOOL, one, sys.monitoring.events.LINE)
        return code

    def take(self) -> set[tuple[str, int]]:
        """Return the lines that ran since the last time, as files and numbers."""
        ran, self._ran = self._ran, set()
        sys.monitoring.restart_events()
        return {(self._names[file], line) for file, line in ran}

    def _line(self, code: CodeType, line: int) -> object:
        self._ran.add((code.co_filename, line))
        return self._after


def _with_inner(code: CodeType) -> Iterator[CodeType]:
    yield code
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield from _with_inner(one)

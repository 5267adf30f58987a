"""How pytest shows the end of an explored test that failed."""

from __future__ import annotations

import contextlib
import dataclasses
from pathlib import Path
from typing import Any

import pytest
import trio

from structsync.testing._result import ExplorationFailed

#: Code that runs tests, and is neither a test nor tested: the explorer, and trio's loop.
_EXPLORER = Path(__file__).parents[1]
_RUNNERS = (Path(trio.__file__).parent / "_core" / "_run.py", Path(contextlib.__file__))


#: How pytest begins the lines of an error.
_MARGIN = "E   "


class FailureRepr:
    """A failure as pytest prints it: the error of the test, then the schedule that leads to it.

    What pytest would print instead are the frames of the explorer, and the text of an error with a
    group as its cause twice.
    """

    def __init__(self, cause: Any, error: BaseException, crash: _Crash) -> None:
        self._cause = cause
        self._error = error
        self._text = str(error)
        self.reprcrash = crash

    @classmethod
    def of(cls, item: pytest.Item, error: BaseException) -> FailureRepr:
        """Return how the end of an explored test is shown."""
        cause = alone(error.__cause__)
        style: Any = item.config.getoption("tbstyle", "auto")
        info = pytest.ExceptionInfo.from_exception(cause) if cause else None
        # Without a frame of the user the text has it all.
        shown = (
            info
            and _frames_of_the_user(info)
            and info.getrepr(
                style="long" if style == "auto" else style,
                showlocals=bool(item.config.getoption("showlocals", False)),
                tbfilter=_frames_of_the_user,
            )
        )
        failure = error.exploration.failure if isinstance(error, ExplorationFailed) else None
        message = f"{failure.kind}: {failure.message}" if failure else str(error)
        path, line, _ = item.reportinfo()
        return cls(shown, error, _Crash(str(path), (line or 0) + 1, message))

    def toterminal(self, writer: Any) -> None:
        """Write it; the name is pytest's."""
        if self._cause:
            self._cause.toterminal(writer)
            writer.line("")
        text = self._text
        if isinstance(self._error, ExplorationFailed):
            text = self._error.text(writer.fullwidth - len(_MARGIN))
        for line in text.splitlines():
            writer.line(f"{_MARGIN}{line}".rstrip(), red=True, bold=True)

    def __str__(self) -> str:
        # What pytest-xdist hands on; the first line stands in the short summary.
        parts = (self.reprcrash.message, self._cause and str(self._cause), self._text)
        return "\n\n".join(filter(None, parts))


@dataclasses.dataclass(frozen=True, slots=True)
class _Crash:
    """The place and message of a failure, by the names that pytest asks for."""

    path: str
    lineno: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.lineno}: {self.message}"


def alone(error: BaseException | None) -> BaseException | None:
    """Return what a group holds, if it is one error: a nursery wraps each in a group."""
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error


def _frames_of_the_user(info: pytest.ExceptionInfo[BaseException]) -> Any:
    return info.traceback.filter(lambda entry: not _is_internal(Path(entry.path))).filter(info)


def _is_internal(path: Path) -> bool:
    return _EXPLORER in path.parents or path in _RUNNERS

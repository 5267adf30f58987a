"""One explored test, as its caller wants it: pytest with its options, or a program.

What is requested from outside (a token to replay, a shorter time, a folder for reports) is no argument
of the test, which is called as any other test function is. It stands in a context variable here;
the plugin sets it round each test, and without the plugin it is empty.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import inspect
import re
import sys
import warnings
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any

from structsync.checking._verdict import Verdict
from structsync.report import Counterexample, dumps, to_html
from structsync.report._words import counted

from . import _exploration
from ._errors import NotExhaustiveWarning
from ._execution.execution import AsyncTest
from ._execution.fixtures import Placeholder, refuse_what_finalizes, with_fixtures
from ._execution.own import standing_for
from ._parallel.program import NotPortable
from ._result import Exploration
from ._settings import Settings

if TYPE_CHECKING:
    import pytest  # not there at run time if tests are run without it

    from ._search.runs import Progress

#: Seconds of a search before it is shown, and from one time to the next.
_FIRST_LIVE, _EVERY_LIVE, _EVERY_LOG = 2.0, 0.2, 10.0

#: A name longer than this may not fit into a file system together with what is added to it.
_LONGEST_STEM = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """What is requested from outside of the run of a test.

    Attributes:
      name: what to call the test, if not by the name of its function.
      changes: settings that win over those of the test.
      replay: the token of the only schedule to run.
      progress: is called now and then with how far the search has come.
      command: makes the command that replays a token.
      fixtures: what is set up in each execution, in this order.
      explored: is called with the result.
      is_suite: whether it is requested for all tests of a suite, so that what cannot be done with one of them
          is left out there.
      set_up: what was set up for the test in this process, and in no other.
    """

    name: str | None = None
    changes: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    replay: str | None = None
    progress: Callable[[Progress], None] | None = None
    command: Callable[[str], str] | None = None
    fixtures: Sequence[Placeholder] = ()
    explored: Callable[[Exploration], None] | None = None
    is_suite: bool = False
    set_up: Sequence[str] = ()


_current: ContextVar[Session] = ContextVar("structsync explores", default=Session())  # noqa: B039 - frozen


@contextlib.contextmanager
def running(session: Session) -> Iterator[None]:
    """Give the explored tests that are called inside the block what is requested from outside."""
    token = _current.set(session)
    try:
        yield
    finally:
        _current.reset(token)


class ProgressLine:
    """Shows on a terminal, or in a log, how far a search has come that takes long.

    A terminal gets one line, from the second second on, that is gone when the search ends; a log
    gets a line every ten seconds. What the test itself prints is not touched: the line is written
    while pytest captures nothing.
    """

    def __init__(
        self,
        name: str,
        reporter: pytest.TerminalReporter | None,
        uncaptured: Callable[[], AbstractContextManager[None]],
        start_again: Callable[[], None],
    ) -> None:
        self._name = name
        self._reporter = reporter
        self._uncaptured = uncaptured
        self._start_again = start_again
        self._shown_at = 0.0
        self._is_shown = False

    def update(self, seen: Progress) -> None:
        """Say how far the search has come, if it is time for that."""
        if self._reporter is None:
            return
        live = self._reporter.isatty()
        wait = _EVERY_LOG if not live else _EVERY_LIVE if self._is_shown else _FIRST_LIVE
        # A failure is told at once, but for one that is over before anything would be shown.
        if seen.seconds - self._shown_at < (_FIRST_LIVE if seen.failure else wait):
            return
        self._is_shown, self._shown_at = True, seen.seconds
        line = f"exploring {self._name}: {counted(seen.executions, 'execution')}, "
        if seen.failure:
            line += f"found {seen.failure}; looking for a smaller schedule"
        else:
            line += f"{counted(seen.states, 'state')}, "
            line += f"{seen.executions / max(seen.seconds, 1e-9):,.0f}/s, {seen.seconds:.0f} s"
        with self._uncaptured():
            self._reporter.ensure_newline()
            if live:
                self._reporter.rewrite(line[: get_terminal_size().columns - 1], erase=True)
            else:
                self._reporter.write_line(line)
            self._reporter.flush()

    def end(self) -> None:
        """Take the line from the terminal; let the test begin its own line again."""
        if self._reporter is None or not self._is_shown:
            return
        self._is_shown = False
        with self._uncaptured():
            if self._reporter.isatty():
                self._reporter.rewrite("", erase=True)
            if self._reporter.hasmarkup:
                self._reporter.write("\r\x1b[A")  # up: what begins again ends this line first
            self._start_again()


def run_test(
    fn: Callable[..., Awaitable[object]],
    settings: Settings,
    args: Sequence[object],
    kwargs: Mapping[str, object],
    name: str,
) -> Exploration:
    """Explore a test that was called with these arguments, as the current session asks for it.

    A search that ended early warns, unless the test demands an exhaustive one and fails by itself:
    it must not look like one that saw everything.

    Raises:
      ReplayError: the session has a token that does not fit the test.
      ExploreUsageError: the test cannot be explored.
      NondeterminismError: something besides the schedule decides what the test does.
    """
    __tracebackhide__ = True
    session = _current.get()
    asked = dataclasses.replace(settings, **session.changes)
    if session.replay is not None:
        # One schedule is never exhaustive, and is not expected to be.
        asked = dataclasses.replace(asked, exhaustive=False)
    with _unseen_by_its_runner(args):
        found, alone = _found(fn, args, kwargs, asked, name)
    if alone is not None:
        found = dataclasses.replace(found, alone=alone)
    if session.command:
        found = with_command(found, session.command)
    if session.explored:
        session.explored(found)
    if found.verdict is Verdict.UNFINISHED and not asked.exhaustive and session.replay is None:
        _warn(fn, found)
    return found


@contextlib.contextmanager
def _unseen_by_its_runner(args: Sequence[object]) -> Iterator[None]:
    """Take from a ``unittest.TestCase`` what its runner is told by: all of that would be in each state."""
    case: Any = sys.modules.get("unittest.case")
    instance: Any = args[0] if args else None
    if case is None or not isinstance(instance, case.TestCase):
        yield
        return
    told, instance._outcome = instance._outcome, None
    try:
        yield
    finally:
        instance._outcome = told


def write_report(folder: Path, found: Exploration) -> list[Path]:
    """Write the failure as HTML and as JSON into a folder; return the files, none without a failure.

    The same test always gets the same names, and different tests different ones.
    """
    if found.failure is None:
        return []
    folder.mkdir(parents=True, exist_ok=True)
    shown = found.failure.counterexample
    readable = re.sub(r"[^\w.-]+", "_", found.test)[-_LONGEST_STEM:].strip("_.")
    digest = hashlib.blake2b(found.test.encode(), digest_size=3).hexdigest()
    written = []
    renderings: dict[str, Callable[[Counterexample], str]] = {"html": to_html, "json": dumps}
    for suffix, render in renderings.items():
        file = folder / f"{readable}.{digest}.{suffix}"
        file.write_text(render(shown), encoding="utf-8")
        written.append(file)
    return written


def written(folder: Path, found: Exploration) -> list[str]:
    """Write the failure, and return its page, or why it was not written: the failure itself is to be seen."""
    try:
        return [str(file) for file in write_report(folder, found)[:1]]
    except OSError as error:
        return [f"not written: {error}"]


def _execution(
    fn: Callable[..., Awaitable[object]],
    args: Sequence[object],
    kwargs: Mapping[str, object],
    fixtures: Sequence[Placeholder],
) -> Callable[..., Awaitable[object]]:
    """Return the program of one execution, which takes the handle if the test does."""
    signature = inspect.signature(fn)
    others = [one for name, one in signature.parameters.items() if name != _exploration.HANDLE]
    given = signature.replace(parameters=others).bind(*args, **kwargs).arguments
    if not (given or fixtures):
        return fn
    is_method = bool(args) and getattr(type(args[0]), fn.__name__, None) is not None
    instance = args[0] if is_method else None
    refuse_what_finalizes(instance)
    if len(others) < len(signature.parameters):

        async def execution_with_handle(x: object) -> object:
            return await with_fixtures(fixtures, fn, {**given, _exploration.HANDLE: x}, instance)

        return standing_for(fn, execution_with_handle)

    async def execution() -> object:
        return await with_fixtures(fixtures, fn, given, instance)

    return standing_for(fn, execution)


def _found(
    fn: Callable[..., Awaitable[object]],
    args: Sequence[object],
    kwargs: Mapping[str, object],
    asked: Settings,
    name: str,
) -> tuple[Exploration, str | None]:
    """Explore a test; also say why in one process, if more were asked for all tests of a suite."""
    __tracebackhide__ = True
    session = _current.get()
    alone: str | None = None
    if asked.workers > 1 and session.set_up and session.replay is None:
        alone = f"fixtures were set up in it ({', '.join(session.set_up)})"
    while True:
        try:
            found = _exploration.run(
                _execution(fn, args, kwargs, session.fixtures),
                asked if alone is None else dataclasses.replace(asked, workers=1),
                build=partial(_built, fn, args, kwargs, session.fixtures),
                replay=session.replay,
                progress=session.progress,
                name=session.name or name,
            )
        except NotPortable as error:
            if not session.is_suite:
                raise
            alone = str(error)
        else:
            return found, alone


def _built(
    fn: Callable[..., Awaitable[object]],
    args: Sequence[object],
    kwargs: Mapping[str, object],
    fixtures: Sequence[Placeholder],
) -> AsyncTest:
    """Return the same by its name for the explorer, in whichever process."""
    return _exploration.with_handle(_execution(fn, args, kwargs, fixtures))


def with_command(found: Exploration, command: Callable[[str], str]) -> Exploration:
    if found.failure is None:
        return found
    shown = dataclasses.replace(found.failure.counterexample, replay=command(found.failure.token))
    failure = dataclasses.replace(found.failure, counterexample=shown)
    return dataclasses.replace(found, failure=failure)


def _warn(fn: Callable[..., Awaitable[object]], found: Exploration) -> None:
    """Warn at the line of the test, where no other frame of the call stack points."""
    code = inspect.unwrap(fn).__code__
    warnings.warn_explicit(
        f"{found.test}: {found.covered}; raise the budget, or make the test smaller",
        NotExhaustiveWarning,
        filename=code.co_filename,
        lineno=code.co_firstlineno,
        module=fn.__module__,
    )

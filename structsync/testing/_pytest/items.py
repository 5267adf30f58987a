"""Explored tests as pytest runs them: in a session, with fixtures in each execution, shown well.

For pytest such a test is a plain function. What its options ask for stands in the session of
`_runner.py` while it runs; its async fixtures pytest sees as the placeholders of `fixtures.py`.
The plugin registers this module when it meets the first explored test.
"""

from __future__ import annotations

import contextlib
import os
import shlex
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from structsync.testing._errors import (
    ExploreUsageError,
    NondeterminismError,
    NotExhaustive,
    ReplayError,
)
from structsync.testing._execution.fixtures import Placeholder
from structsync.testing._result import Exploration, ExplorationFailed
from structsync.testing._runner import ProgressLine, Session, running, written

from .collect import changes, is_explored
from .failure_repr import FailureRepr
from .fixtures import (
    belongs_to_an_execution,
    placeholder,
    refuse_pytest_trio,
    refuse_state,
)

#: Errors that say all that there is to say; the frames that raised them are the explorer's.
COMPLETE_ERRORS = (
    ExplorationFailed,
    ExploreUsageError,
    NondeterminismError,
    NotExhaustive,
    ReplayError,
)

_PLACEHOLDERS = pytest.StashKey[list[Placeholder]]()
_CURRENT = pytest.StashKey[pytest.Item]()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    item.config.stash[_CURRENT] = item
    item.stash[_PLACEHOLDERS] = []


# Not pytest_pyfunc_call, which pytest asks for no test of a unittest.TestCase.
@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    if not is_explored(item):
        return (yield)
    assert isinstance(item, pytest.Function)
    for name, value in item.funcargs.items():
        refuse_state(name, value)
    line = progress_line(item)
    try:
        with running(_session(item, line)):
            return (yield)
    finally:
        line.end()


def progress_line(item: pytest.Item) -> ProgressLine:
    plugins = item.config.pluginmanager
    # The one is missing in the workers of pytest-xdist, the other where capturing is switched off.
    reporter: Any = (
        plugins.get_plugin("terminalreporter") if item.config.get_verbosity() >= 0 else None
    )
    capturing = plugins.get_plugin("capturemanager")
    uncaptured = capturing.global_and_fixture_disabled if capturing else contextlib.nullcontext

    def start_again() -> None:
        reporter.pytest_runtest_logstart(item.nodeid, item.location)

    return ProgressLine(item.nodeid, reporter, uncaptured, start_again)


def _session(item: pytest.Function, line: ProgressLine) -> Session:
    fixtures = item.stash[_PLACEHOLDERS]

    def explored(found: Exploration) -> None:
        pass_on_ctrl_c(item, found)
        note(item, found)

    return Session(
        name=item.nodeid,
        changes=changes(item.config),
        replay=item.config.getoption("explore_replay"),
        progress=line.update,
        command=lambda token: _command(item, token),
        fixtures=fixtures,
        explored=explored,
        is_suite=True,
        set_up=_set_up(item),
    )


def _set_up(item: pytest.Function) -> list[str]:
    """Return the fixtures that were set up in this process, and no execution sets up anew."""
    callspec = getattr(item, "callspec", None)
    elsewhere = {"request", *(callspec.params if callspec else ())}
    elsewhere.update(one.name for one in item.stash[_PLACEHOLDERS])
    return [name for name in item.fixturenames if name not in elsewhere]


def _command(item: pytest.Item, token: str) -> str:
    path = os.path.relpath(item.path, item.config.invocation_params.dir)
    test = "::".join([Path(path).as_posix(), *item.nodeid.split("::")[1:]])
    return f"pytest {shlex.quote(test)} --explore-replay {shlex.quote(token)}"


def pass_on_ctrl_c(item: pytest.Item, found: Exploration) -> None:
    """Let pytest end, too: the search took the signal, in order to end well."""
    if found.interrupted:
        item.session.shouldstop = "Ctrl-C"


def note(item: pytest.Item, found: Exploration) -> None:
    """Keep what was found for the summary, in the one place that reaches JUnit files and xdist."""
    noted = [("explored", found.covered), ("explored_verdict", found.verdict.value)]
    if found.failure:
        noted.append(("explored_failure", found.failure.kind))
        noted.append(("explored_replay", found.failure.counterexample.replay))
    item.user_properties.extend(noted)
    folder = item.config.getoption("explore_report")
    if folder is not None:
        # A relative folder is one of where pytest was started, wherever a test has gone since.
        place = item.config.invocation_params.dir / folder
        item.user_properties += [("explored_report", file) for file in written(place, found)]


# ==== fixtures ====


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_fixture_setup(
    fixturedef: pytest.FixtureDef[object], request: pytest.FixtureRequest
) -> Generator[None, object, object]:
    __tracebackhide__ = True
    item = request.config.stash.get(_CURRENT, None)
    if item is None or not is_explored(item):
        return (yield)
    name, function = fixturedef.argname, fixturedef.func
    refuse_pytest_trio(name, function)
    arguments = [request.getfixturevalue(one) for one in fixturedef.argnames]
    if not belongs_to_an_execution(function, arguments):
        return (yield)
    if fixturedef.scope != "function":
        raise ExploreUsageError(
            f"the async fixture {name!r} has the scope {fixturedef.scope!r}, but an explored test "
            "sets it up anew in each execution: leave the scope out, or write a plain function"
        )

    def make(**arguments: object) -> Placeholder:
        made = placeholder(name, function, arguments, request.instance)
        item.stash[_PLACEHOLDERS].append(made)
        return made

    # pytest and its other plugins see a plain function, which is nothing special to them.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fixturedef, "func", make)
        return (yield)


# Innermost: for all others, a conftest too, the report is what it is in the end.
@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    error = call.excinfo.value if call.excinfo else None
    full = item.config.getoption("fulltrace", False)
    if report.failed and is_explored(item) and isinstance(error, COMPLETE_ERRORS) and not full:
        report.longrepr = FailureRepr.of(item, error)  # type: ignore[assignment] # anything printable
    return report

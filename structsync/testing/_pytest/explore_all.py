"""``--explore-all``: every async test of a suite once more, as an item of its own that explores it.

The plain item stays as it is. Beside ``test_x`` there is ``test_x[explored]``, with parameters
``test_x[a-explored]``: a test of its own for selection, for pytest-xdist, for marks, and in every report, so
that a failure in some schedule is not taken for one of the plain run.

It is made by a parameter that the function does not take. For pytest-trio and anyio it is a sync function,
which is no business of theirs; their fixtures are set up as `all_fixtures.py` says. The plugin registers this
module when the option is given.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable, Generator
from typing import Any, NoReturn

import pytest
import trio
from _pytest.skipping import evaluate_xfail_marks

from structsync.testing._errors import ExploreUsageError
from structsync.testing._execution.fixtures import Placeholder
from structsync.testing._existing import SETTINGS, ExistingTest, run_existing
from structsync.testing._runner import ProgressLine, with_command
from structsync.testing._search.existing import NotExplored

from .all_fixtures import copied_parameters, made_for_executions, start_over
from .all_summary import ALL, NOT_EXPLORED, summary
from .collect import EXISTING, changes, is_existing
from .failure_repr import FailureRepr, alone
from .fixtures import refuse_state
from .items import COMPLETE_ERRORS, note, pass_on_ctrl_c, progress_line
from .replay_command import replay_command

#: The parameter; no fixture has this name.
_PARAMETER = "structsync explores"
_ASYNC = pytest.StashKey[Callable[..., Any]]()
_REASON = pytest.StashKey[str]()
_PARAMETERS = pytest.StashKey[list[Placeholder]]()
_PLACEHOLDERS = pytest.StashKey[list[Placeholder]]()
_CURRENT = pytest.StashKey[pytest.Item]()

# ==== which tests ====


@pytest.hookimpl(trylast=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if inspect.iscoroutinefunction(_innermost(metafunc.function)):
        metafunc.fixturenames.append(_PARAMETER)
        metafunc.parametrize(_PARAMETER, [False, True], ids=[pytest.HIDDEN_PARAM, "explored"])


def _innermost(function: Any) -> Any:
    """Return the function behind Hypothesis' ``@given``."""
    return getattr(getattr(function, "hypothesis", None), "inner_test", function)


@pytest.hookimpl(trylast=True)  # when pytest-trio and every conftest have set their marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    kept = []
    for item in items:
        if isinstance(item, pytest.Function) and _is_second(item):
            if not _runs_in_trio(item):
                continue
            _prepare(item)
        kept.append(item)
    items[:] = kept


def _is_second(item: pytest.Function) -> bool:
    return hasattr(item, "callspec") and item.callspec.params.get(_PARAMETER) is True


def _runs_in_trio(item: pytest.Function) -> bool:
    if item.get_closest_marker("trio") is not None:
        return True
    # What anyio runs has this fixture, by a mark or because all of its async tests have it.
    backend = item.callspec.params.get("anyio_backend")
    name = backend[0] if isinstance(backend, tuple) else backend
    return "anyio_backend" in item.fixturenames and name == "trio"


def _prepare(item: pytest.Function) -> None:
    """Make a sync function of the item, and keep the async one."""
    function: Any = item.obj
    item.stash[EXISTING] = True
    item.stash[_ASYNC] = function
    item.stash[_PARAMETERS] = copied_parameters(item.callspec.params)
    others = [mark.kwargs.get("run") for mark in item.iter_markers("trio")]
    if hasattr(function, "hypothesis"):
        item.stash[_REASON] = (
            "Hypothesis chooses its examples, and no token has them: call explore() inside of it"
        )
    elif run := next((one for one in others if one not in (None, trio.run)), None):
        item.stash[_REASON] = f"it is run by {getattr(run, '__module__', '')}.{run.__qualname__}()"

    def explored(**arguments: object) -> None:
        """Not called: pytest_pyfunc_call below does."""

    functools.update_wrapper(explored, inspect.unwrap(function), updated=())
    del vars(explored)["__wrapped__"]
    vars(explored)["place_as"] = inspect.unwrap(function)
    vars(explored)["_trio_test_runner_wrapped"] = True  # else pytest-trio demands an async one
    item.obj = explored


# ==== running one ====


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    item.config.stash[_CURRENT] = item
    item.stash[_PLACEHOLDERS] = []


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_fixture_setup(
    fixturedef: pytest.FixtureDef[object], request: pytest.FixtureRequest
) -> Generator[None, object, object]:
    __tracebackhide__ = True
    item = request.config.stash.get(_CURRENT, None)
    if item is None or not is_existing(item):
        return (yield)
    made = made_for_executions(fixturedef, request)
    if made is None:
        return (yield)
    if fixturedef.scope != "function":
        _skip(
            item,
            f"the async fixture {made.name!r} has the scope {fixturedef.scope!r}, and cannot be set up "
            "in each execution",
        )
    item.stash[_PLACEHOLDERS].append(made)
    # pytest and its other plugins see a plain function, which is nothing special to them.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fixturedef, "func", lambda **_: made)
        return (yield)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    __tracebackhide__ = True
    if not is_existing(pyfuncitem):
        return None
    line = progress_line(pyfuncitem)
    try:
        _explore(pyfuncitem, line)
    except (NotExplored, ExploreUsageError) as reason:
        _give_up(pyfuncitem, reason)
    finally:
        line.end()
    return True


def _explore(item: pytest.Function, line: ProgressLine) -> None:
    __tracebackhide__ = True
    if reason := item.stash.get(_REASON, None):
        raise NotExplored(reason)
    found = run_existing(
        _as_test(item),
        dataclasses.replace(SETTINGS, **{**changes(item.config), "exhaustive": False}),
        sweep=bool(item.config.getoption("explore_sweep")),
        replay=item.config.getoption("explore_replay"),
        progress=line.update,
    )
    pass_on_ctrl_c(item, found)
    if found.failure is None and evaluate_xfail_marks(item) is not None:
        raise NotExplored("it is expected to fail, and does not fail here")
    found = with_command(found, lambda token: replay_command(item, token))
    item.user_properties.append((ALL, found.verdict.value))
    note(item, found)
    found.check()


def _as_test(item: pytest.Function) -> ExistingTest:
    function = item.stash[_ASYNC]
    # The fixtures and parameters of the test function itself; pytest calls it with these.
    arguments = {name: item.funcargs[name] for name in item._fixtureinfo.argnames}
    if inspect.ismethod(function):
        function = function.__func__
        first = next(iter(inspect.signature(function).parameters))
        arguments = {first: item.instance, **arguments}
    for name, value in item.funcargs.items():
        refuse_state(name, value)
    parameters = [one for one in item.stash[_PARAMETERS] if one.name in arguments]
    arguments |= {one.name: one for one in parameters}
    return ExistingTest(
        name=item.nodeid,
        function=function,
        arguments=arguments,
        instance=item.instance,
        fixtures=[*parameters, *item.stash[_PLACEHOLDERS]],
        start_over=functools.partial(start_over, item.funcargs),
    )


def _give_up(item: pytest.Item, reason: Exception) -> NoReturn:
    """Let pytest know that a test is not explored: it is expected to fail, or we skip it."""
    __tracebackhide__ = True
    error = alone(reason.__cause__)
    if error is not None and evaluate_xfail_marks(item) is not None:
        raise error
    _skip(item, str(reason))


def _skip(item: pytest.Item, reason: str) -> NoReturn:
    __tracebackhide__ = True
    item.user_properties.append((NOT_EXPLORED, reason))
    # Shown at the line of the test, not at this one.
    raise pytest.skip.Exception(f"not explored: {reason}", _use_item_location=True)


# Innermost, as for tests that are decorated.
@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    error = call.excinfo.value if call.excinfo else None
    full = item.config.getoption("fulltrace", False)
    if report.failed and is_existing(item) and isinstance(error, COMPLETE_ERRORS) and not full:
        report.longrepr = FailureRepr.of(item, error)  # type: ignore[assignment] # anything printable
    return report


# ==== what is shown ====


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Print how many tests were explored, which failed, and which were not explored, with the reasons."""
    lines = summary(
        _noted(terminalreporter),
        verbose=config.get_verbosity() > 0,
        width=config.get_terminal_writer().fullwidth,
    )
    terminalreporter.section("existing tests explored")
    for colour, line in lines:
        terminalreporter.write_line(line, **{colour: True})


def _noted(reporter: pytest.TerminalReporter) -> dict[str, dict[str, object]]:
    """Return what the reports of each test say of its exploration."""
    reports = [one for some in reporter.stats.values() for one in some]
    found = {}
    for report in reports:
        if isinstance(report, pytest.TestReport):
            noted = dict(report.user_properties)
            if ALL in noted or NOT_EXPLORED in noted:
                found[report.nodeid] = noted
    return found

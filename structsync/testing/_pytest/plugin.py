"""The pytest plugin: an explored test is an ordinary test with options, fixtures and a summary.

For pytest it is a plain function, so that nothing else has to know of it. Here are the options,
which tests are explored, and, at the end, what was covered; `items.py` runs such a test.

Every user who has structsync installed pays for what this module imports, in each run of pytest.
"""

from __future__ import annotations

import inspect
import sys
from pathlib import Path
from typing import Any

import pytest

from . import hangs
from .all_summary import ALL
from .collect import BOUNDS, is_existing, is_explored
from .summary_lines import entry

#: How verdicts look, by their names: the reports of pytest carry nothing else.
_COLOURS = {"confirmed": "green", "refuted": "red", "not finished": "yellow"}


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("structsync", "schedule explorer (structsync)")
    group.addoption(
        "--explore-replay",
        metavar="TOKEN",
        help="Run only the schedule of this token, in the one explored test that is selected.",
    )
    group.addoption(
        "--explore-seconds",
        type=float,
        metavar="N",
        help="End each exploration, not finished, after this time.",
    )
    group.addoption(
        "--explore-executions",
        type=int,
        metavar="N",
        help="End each exploration, not finished, after this many executions.",
    )
    group.addoption(
        "--explore-order",
        choices=("any", "trio"),
        help="any: each runnable task may go next; trio: in batches, as trio's scheduler does.",
    )
    group.addoption(
        "--explore-workers",
        type=int,
        metavar="N",
        help="Explore each test that is large enough in this many processes.",
    )
    group.addoption(
        "--explore-report",
        type=Path,
        metavar="DIR",
        help="Write an HTML and a JSON file for each failure into this folder.",
    )
    group.addoption(
        "--explore-exhaustive",
        action="store_true",
        help="Fail a test whose exploration ended before everything was seen.",
    )
    group.addoption(
        "--explore-all",
        action="store_true",
        help="Run each async test of pytest-trio once more, as test_x[explored]: under other schedules.",
    )
    group.addoption(
        "--explore-sweep",
        action="store_true",
        help="With --explore-all: also cancel each test from outside, at each of its steps in turn.",
    )
    group.addoption(
        "--explore-seed",
        type=int,
        metavar="N",
        help="Other random schedules, where a search does not try them all.",
    )
    parser.addini(
        "explore_exhaustive", type="bool", default=False, help="As --explore-exhaustive, always."
    )
    hangs.add_options(parser, group)


def pytest_configure(config: pytest.Config) -> None:
    hangs.configure(config)
    for name in (*BOUNDS, "workers"):
        value = config.getoption(f"explore_{name}")
        if value is not None and not value > 0:
            raise pytest.UsageError(
                f"--explore-{name} must be > 0, not {value:g}: leave the option out, and each test "
                "has a bound of its own"
            )
    if config.getoption("explore_all"):
        if not hasattr(pytest, "HIDDEN_PARAM"):
            raise pytest.UsageError("--explore-all needs pytest 8.4 or newer")
        # Late, because what it imports takes long.
        from . import explore_all

        config.pluginmanager.register(explore_all)
    elif config.getoption("explore_sweep"):
        raise pytest.UsageError(
            "--explore-sweep belongs to --explore-all; a decorated test has @sweep()"
        )
    if (folder := config.getoption("explore_report")) is not None:
        _make(config.invocation_params.dir / folder)


def _make(folder: Path) -> None:
    # Here, because else each run of pytest would import what reports are made with.
    from structsync.report._folder import make

    try:
        make(folder)
    except OSError as error:
        raise pytest.UsageError(
            f"--explore-report must be a folder that can be made: {error}"
        ) from error


# ==== which tests ====


def _is_result(obj: object) -> bool:
    """Return whether this is an Exploration, if that class has been imported."""
    module = sys.modules.get("structsync.testing._result")
    # By its type: what is a proxy, such as those of web frameworks, may raise anything when it is looked at.
    return module is not None and issubclass(type(obj), module.Exploration)


def _is_decorated(obj: object) -> bool:
    try:
        return hasattr(obj, "__structsync_explored__")
    except Exception:  # noqa: BLE001 - whatever it is, it is none of ours
        return False


def pytest_pycollect_makeitem(
    collector: pytest.Module | pytest.Class, name: str, obj: object
) -> None:
    if _is_result(obj) and collector.funcnamefilter(name):
        from structsync.testing._result import EXPLORED_AT_ONCE

        raise collector.CollectError(f"{name} {EXPLORED_AT_ONCE}")
    if _is_decorated(obj):
        inner: Any = getattr(obj, "__func__", obj)
        # The place of the test is that of the user's function, for pytest's messages and for IDEs.
        inner.place_as = inspect.unwrap(inner.__structsync_explored__[0])
        # The mark "trio" on a whole module is not meant for a test that is not async any more;
        # pytest-trio leaves alone what says that it was wrapped already.
        inner._trio_test_runner_wrapped = True


def pytest_itemcollected(item: pytest.Item) -> None:
    if is_explored(item):
        # Late, because what it imports takes long, and few runs of pytest have a test for it.
        from . import items

        if not item.config.pluginmanager.is_registered(items):
            item.config.pluginmanager.register(items)


def pytest_collection_finish(session: pytest.Session) -> None:
    if session.config.getoption("explore_replay") is None:
        return
    selected = [one.nodeid for one in session.items if is_explored(one) or is_existing(one)]
    if len(selected) != 1:
        some = "".join(f"\n  {name}" for name in selected[:5]) + ("\n  ..." * (len(selected) > 5))
        is_all = session.config.getoption("explore_all")
        hint = "" if selected or is_all else "; one that --explore-all has explored needs that, too"
        raise pytest.UsageError(
            f"--explore-replay is for one explored test, and {len(selected)} are selected: give "
            f"the id of the test, as the report of the failure does{hint}{some}"
        )


# ==== what is shown ====


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Print what each test has covered; with -q, only of those that are not confirmed."""
    ran = [one for some in terminalreporter.stats.values() for one in some]
    ended = [one for one in ran if isinstance(one, pytest.TestReport) and one.when == "call"]
    lines = []
    width = config.get_terminal_writer().fullwidth
    for report in sorted(ended, key=lambda one: one.start):
        noted = dict(report.user_properties)
        verdict = str(noted.get("explored_verdict", ""))
        if ALL in noted or not verdict:
            continue
        if verdict == "confirmed" and config.get_verbosity() < 0:
            continue
        found = f"{noted['explored_failure']}; " if verdict == "refuted" else ""
        covered = f"{found}{noted['explored']}"
        lines.append((verdict, entry(verdict, report.nodeid, covered, width)))
        if "explored_report" in noted:
            lines.append((verdict, f"{'':12}  report: {noted['explored_report']}"))
    if lines:
        terminalreporter.section("schedules explored")
    for verdict, line in lines:
        terminalreporter.write_line(line, **{_COLOURS[verdict]: True})

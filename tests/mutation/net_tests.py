"""The test suite, in the process: an item is one test.

Few files are collected first, those whose tests take least; the others follow if these notice nothing.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from .nets import Watch

#: How many files are collected together, one group after the other.
_GROUPS = (3, 12)


class TestsNet:
    """The tests of some folders."""

    __test__ = False
    name = "tests"
    parts: tuple[str, ...] = ("core", "shell")
    needs: tuple[str, ...] = (
        "hypothesis.stateful",
        "pytest_timeout",
        "pytest_trio.plugin",
        "trio.testing",
    )
    traces: bool = False
    inspecting: tuple[str, ...] = ("tests/shell/test_interrupt_protection.py::",)

    def __init__(self, root: Path, folders: Sequence[str], options: Sequence[str] = ()) -> None:
        self._root = root
        self._folders = folders
        self._options = options

    def run(self, names: Sequence[str] | None, watch: Watch) -> None:
        os.environ["HYPOTHESIS_PROFILE"] = "ci"
        if names is None:
            self._pytest(self._folders, None, watch)
            return
        files: dict[str, list[str]] = {}
        for one in names:
            files.setdefault(one.partition("::")[0], []).append(one)
        for group in _groups(list(files)):
            wanted = {name for file in group for name in files[file]}
            self._pytest(group, [name for name in names if name in wanted], watch)

    def _pytest(self, targets: Sequence[str], order: Sequence[str] | None, watch: Watch) -> None:
        arguments = [
            *("-c", str(self._root / "pyproject.toml"), "--rootdir", str(self._root)),
            *("-q", "--tb=no", "-p", "no:cacheprovider", "--timeout=0"),
            # what was imported before the fork cannot be rewritten any more, and need not be
            *("-W", "ignore::pytest.PytestAssertRewriteWarning"),
            *self._options,
            *(str(self._root / one) for one in targets),
        ]
        pytest.main(arguments, plugins=[_Plugin(order, watch)])


class _Plugin:
    """Orders the tests and tells the watch of them."""

    def __init__(self, order: Sequence[str] | None, watch: Watch) -> None:
        self._order = None if order is None else {name: place for place, name in enumerate(order)}
        self._watch = watch

    @pytest.hookimpl(wrapper=True)
    def pytest_collection(self) -> Generator[None, Any, Any]:
        from hypothesis import Phase, settings

        # What fails is red; the smallest example is of no interest.
        phases = (Phase.explicit, Phase.reuse, Phase.generate)
        settings.register_profile("mutation", settings.get_profile("ci"), phases=phases)
        settings.load_profile("mutation")
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self, collector: pytest.Collector) -> Generator[None, Any, Any]:
        """What a module runs when it is imported, each of its tests runs."""
        if not isinstance(collector, pytest.Module):
            return (yield)
        with self._watch.shared([collector.nodeid]):
            report = yield
        if report.failed:
            self._watch.red(collector.nodeid, "cannot be collected")
        return report

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        order = self._order
        if order is not None:
            items[:] = sorted(
                (one for one in items if one.nodeid in order), key=lambda one: order[one.nodeid]
            )

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        with self._watch.item(item.nodeid):
            return (yield)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._watch.red(report.nodeid, f"failed ({report.when})")


def _groups(files: list[str]) -> Iterator[list[str]]:
    for size in _GROUPS:
        if files:
            yield files[:size]
            files = files[size:]
    if files:
        yield files

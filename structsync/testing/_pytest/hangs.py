"""A test that hangs says why: by a guard against deadlocks, and by a table when its time is over."""

from __future__ import annotations

import signal
import sys
from collections.abc import Generator
from types import FrameType
from typing import Any

import pytest

from .collect import is_existing, is_explored

#: What the table is called in the report of a test.
SECTION = "structsync.show()"


def add_options(parser: pytest.Parser, group: pytest.OptionGroup) -> None:
    """Add what a user may ask for."""
    group.addoption(
        "--deadlock-guard",
        action="store_true",
        help="A test that would hang in a deadlock fails, with the tasks that wait for each other.",
    )
    group.addoption(
        "--no-show-on-timeout",
        action="store_true",
        help="When pytest-timeout ends a test, do not show which tasks hold and wait for what.",
    )
    parser.addini("deadlock_guard", type="bool", default=False, help="As --deadlock-guard, always.")
    parser.addini(
        "show_on_timeout",
        type="bool",
        default=True,
        help="When pytest-timeout ends a test, show which tasks hold and wait for what.",
    )


def configure(config: pytest.Config) -> None:
    """Do what was asked for."""
    if config.getoption("deadlock_guard") or config.getini("deadlock_guard"):
        config.pluginmanager.register(_Guarded(), "structsync_deadlock_guard")
    shows = config.getini("show_on_timeout") and not config.getoption("no_show_on_timeout")
    if shows and config.pluginmanager.hasplugin("timeout"):
        config.pluginmanager.register(_Shown(), "structsync_show_on_timeout")


class _Guarded:
    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, object, object]:
        # A deadlock is what the explorer looks for itself.
        if is_explored(item) or is_existing(item):
            return (yield)
        from structsync import deadlock_guard

        with deadlock_guard():
            return (yield)


class _Shown:
    @pytest.hookimpl(wrapper=True)
    def pytest_timeout_set_timer(
        self, item: pytest.Item, settings: Any
    ) -> Generator[None, object, object]:
        answer = yield
        if settings.method == "signal":
            _show_before(item)
        return answer


def _show_before(item: pytest.Item) -> None:
    """Look before pytest-timeout's handler does: it raises, and what waits is unwound then."""
    handler: Any = signal.getsignal(signal.SIGALRM)

    def show_and_end(number: int, frame: FrameType | None) -> None:
        __tracebackhide__ = True
        if text := _shown():
            item.add_report_section("call", SECTION, text)
        handler(number, frame)

    signal.signal(signal.SIGALRM, show_and_end)


def _shown() -> str:
    try:
        from structsync.observing.show import text_of
        from structsync.observing.snapshot import snapshot

        shown = snapshot()
        busy = any(one.waiters or one.holders for one in shown.primitives)
        return text_of(shown) if busy else ""
    except BaseException:  # noqa: BLE001 - whatever it is, the timeout is what the test failed by
        return f"it could not be shown: {sys.exception()!r}"

"""Settings that hold for the whole suite."""

import gc
import importlib.util
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis.internal.conjecture import providers

from . import outcomes
from .logged import no_error_only_logged
from .tiers import LATE, is_unmeasured, rows_of, tier_of

TESTS = Path(__file__).parent

# No deadline in any profile: an example runs a whole trio program, and a machine that is busy with
# something else is not a bug.
settings.register_profile("default", deadline=None)
# Derandomized: a red build must be red again when its author looks at it.
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
# New examples each night are the point; the blob replays what they find.
settings.register_profile("nightly", deadline=None, max_examples=2_000, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

# A shell starts a job in the background with Ctrl-C ignored, and so would every process that a test
# starts and interrupts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# "pip install -e ." leaves the specifications where they are; the wheel has them inside of the package.
if importlib.util.find_spec("structsync.specs") is None:
    _specs = Path(__file__).parents[1] / "specs"
    _found = importlib.util.spec_from_file_location("structsync.specs", _specs / "__init__.py")
    assert _found is not None
    assert _found.loader is not None
    sys.modules["structsync.specs"] = importlib.util.module_from_spec(_found)
    _found.loader.exec_module(sys.modules["structsync.specs"])


def pytest_configure(config: pytest.Config) -> None:
    outcomes.record_in(config)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Import no file whose tests would all be deselected: on most Pythons that is half of the suite."""
    only = rows_of(config.getoption("markexpr"))
    is_ours = collection_path.is_relative_to(TESTS)
    if not only or not is_ours or not collection_path.match("test_*.py"):
        return None
    return None if tier_of(collection_path) in only else True


def name_in_tests(item: pytest.Item) -> str:
    """Return the node ID of a test of this folder, below the folder."""
    file = item.path.relative_to(TESTS).as_posix()
    return f"{file}::{item.nodeid.partition('::')[2]}"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark each test with its tier, and one of each file that is measured once as its smoke test."""
    if "late" in config.getoption("markexpr"):
        names = {name_in_tests(item) for item in items if item.path.is_relative_to(TESTS)}
        files = {name.partition("::")[0] for name in names}
        if gone := sorted(one for one in LATE - names if one.partition("::")[0] in files):
            raise pytest.UsageError(f"tests/late.txt lists what is not there: {', '.join(gone)}")
    light = {item.path for item in items if item.get_closest_marker("light")}
    seen: set[Path] = set()
    for item in items:
        if not item.path.is_relative_to(TESTS):
            continue  # an example's test, named beside ours
        if name_in_tests(item) in LATE:
            item.add_marker("late")
        longer = [one for one in ("nightly", "late", "slow") if item.get_closest_marker(one)]
        if longer:
            continue
        tier = tier_of(item.path)
        item.add_marker(tier)
        if is_unmeasured(item.path):
            item.add_marker("unmeasured")
        chosen = item.path not in light or item.get_closest_marker("light")
        if tier == "once" and not is_unmeasured(item.path) and chosen and item.path not in seen:
            seen.add(item.path)
            item.add_marker("smoke")


def pytest_collection_finish() -> None:
    """Let collections pass over what is there by now: each would walk through every test of the suite."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """The same between two files, for what the last one has left: reports, caches, modules."""
    if nextitem is not None and nextitem.path != item.path:
        gc.collect()
        gc.freeze()


@pytest.fixture(autouse=True)
def no_error_is_only_logged(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a test in which an observer, or what a finalizer released, failed: that is only logged."""
    if "caplog" in request.fixturenames:  # which such a test looks into itself
        yield
        return
    with no_error_only_logged():
        yield


@pytest.fixture
def the_same_examples_whatever_is_imported(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Hypothesis also draws from the constants of all imported modules: other tests would decide."""
    known = providers._get_local_constants()
    none: Any = type(known.integers)
    nothing = type(known)(integers=none(), floats=none(), bytes=none(), strings=none())
    monkeypatch.setattr(providers, "_get_local_constants", lambda: nothing)
    providers.CONSTANTS_CACHE.cache.clear()
    yield
    providers.CONSTANTS_CACHE.cache.clear()

"""The copy of the package without hooks is the package, and really has none."""

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import structsync

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def copies() -> ModuleType:
    path = ROOT / "benchmarks" / "_copies.py"
    spec = importlib.util.spec_from_file_location("benchmarks_copies", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def kinds_observed(package: Any) -> list[str]:
    """What an observer of that copy is told about one acquire and one release."""
    seen: list[str] = []
    semaphore = package.Semaphore(1)
    with package.observe(lambda event: seen.append(event.kind)):
        semaphore.acquire_nowait()
        semaphore.release()
    return seen


def test_the_copy_without_hooks_calls_none(copies: ModuleType) -> None:
    assert kinds_observed(copies.without_hooks()) == []


def test_the_copy_with_hooks_tells_everything(copies: ModuleType) -> None:
    assert kinds_observed(copies.with_hooks()) == ["requested", "granted", "released"]


@pytest.mark.parametrize("make", ["with_hooks", "without_hooks"])
def test_a_copy_takes_the_same_way_through_the_core(copies: ModuleType, make: str) -> None:
    """A core that is not recognized as structsync's own would be guarded, and slower."""
    find: Callable[[], Any] = getattr(copies, make)
    assert "admits" not in vars(find().Semaphore(1)._core)


def test_loading_a_copy_leaves_the_package_as_it_was(copies: ModuleType) -> None:
    before = {name: module for name, module in sys.modules.items() if "structsync" in name}
    assert before["structsync"] is structsync
    copy = copies.without_hooks()
    assert {name: module for name, module in sys.modules.items() if "structsync" in name} == before
    assert copy is not structsync


def test_a_transform_that_finds_no_hook_is_refused(
    copies: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copies.DropHooks, "visit_If", copies.DropHooks.generic_visit)
    with pytest.raises(AssertionError, match="not recognized"):
        copies.without_hooks()

"""Ctrl-C cannot come between the statements of a method that changes a primitive (C2)."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from trio._core import _ki

import structsync
from structsync import _primitives, lowlevel
from structsync._runtime.request import RequestBase
from tests.public_names import PUBLIC

#: They read, or return something that does the work later.
CHANGES_NOTHING = {
    "Condition.locked",
    "Lock.locked",
    "RWLock.locked",
    "RWLock.reading",
    "RWLock.writing",
    "Buffer.get_claim",
    "Buffer.item",
    "Buffer.put_claim",
    "CapacityLimiter.claim",
    "Holding.item",
    "Lock.claim",
    "LockMap.claim",
    "RWLock.read_claim",
    "RWLock.write_claim",
    "RateLimiter.claim",
    "Semaphore.claim",
    "Semaphore.permits",
    "Histogram.at_most",
    "Histogram.quantile",
    "Metrics.primitives",
    "Metrics.row",
    "Metrics.to_prometheus",
    "Recording.to_trace_events",
    "Recording.write",
    "Snapshot.graph",
    "WaitGraph.to_dot",
    "WaitGraph.to_svg",
    "WaitGraph.to_text",
    "EntryMethod.when",  # while a class is made
    "ResourcePool.item",
    "Value.changes",
    "Monitor.entry",
    "Monitor.condition",
    "Job.result",
    "SyncPool.map",
    "TaskPool.map",
    # trio's nursery does it, and protects itself
    "Scope.start",
    "Scope.start_soon",
}


def is_protected(function: Any) -> bool:
    if hasattr(function, "__wrapped__"):  # as trio did it up to 0.27
        return True
    protected: Any = getattr(_ki, "_CODE_KI_PROTECTION_STATUS_WMAP", {})
    try:
        return bool(protected[function.__code__])
    except KeyError:
        return False


def methods() -> Iterator[tuple[str, Callable[..., object]]]:
    for name in PUBLIC:
        kind = getattr(structsync, name)
        if not inspect.isclass(kind) or issubclass(kind, structsync.Arbiter):
            continue  # an arbiter is changed inside the transitions of its primitive
        for method, function in inspect.getmembers(kind):  # those of a private base, too
            is_public = not method.startswith("_") or method in ("__aenter__", "__aexit__")
            is_ours = str(getattr(function, "__module__", "")).startswith("structsync")
            if inspect.isfunction(function) and is_public and is_ours and method != "statistics":
                yield f"{name}.{method}", function
            if isinstance(function, property) and function.fset is not None and method != "name":
                yield f"{name}.{method} (assigned)", function.fset


METHODS = dict(methods())

#: Those that change something; the others return a block or a claim.
FUNCTIONS = {
    name: function
    for name in {*lowlevel.__all__} - {"claim", "held"}
    if inspect.isfunction(function := getattr(lowlevel, name))
}


def methods_of_blocks() -> Iterator[tuple[str, Callable[..., object]]]:
    """Yield what blocks and loops call, of private classes too."""
    for module in pkgutil.iter_modules(_primitives.__path__, f"{_primitives.__name__}."):
        for name, kind in vars(importlib.import_module(module.name)).items():
            if inspect.isclass(kind) and kind.__module__.startswith("structsync"):
                for method in sorted(OF_BLOCKS & vars(kind).keys()):
                    function = vars(kind)[method]
                    # others return a coroutine that is protected
                    if method not in ("__aenter__", "__anext__") or inspect.iscoroutinefunction(
                        inspect.unwrap(function)
                    ):
                        yield f"{name}.{method}", function


OF_BLOCKS = {"__exit__", "__aenter__", "__aexit__", "__anext__", "aclose"}
BLOCKS = dict(methods_of_blocks()) | {
    "RequestBase.__enter__": RequestBase.__enter__,
    "RequestBase.__exit__": RequestBase.__exit__,
    "LockMap.__getitem__": structsync.LockMap.__getitem__,
}


@pytest.mark.parametrize("name", sorted(METHODS.keys() - CHANGES_NOTHING))
def test_a_method_that_changes_something_is_protected(name: str) -> None:
    assert is_protected(METHODS[name])


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_what_a_method_of_a_user_calls_is_protected(name: str) -> None:
    assert is_protected(FUNCTIONS[name])


@pytest.mark.parametrize("name", BLOCKS)
def test_what_blocks_and_loops_call_is_protected(name: str) -> None:
    assert is_protected(BLOCKS[name])


def test_what_is_said_to_change_nothing_exists() -> None:
    assert METHODS.keys() >= CHANGES_NOTHING
    assert len(METHODS) > 60, "the methods were not found"
    assert FUNCTIONS.keys() >= {"acquire", "acquire_nowait", "change", "release", "request"}
    assert BLOCKS.keys() > {"PoolManager.__aenter__", "AllOf.__aenter__", "_End.__exit__"}


def test_a_method_without_protection_is_seen() -> None:
    assert not is_protected(METHODS["Lock.claim"])

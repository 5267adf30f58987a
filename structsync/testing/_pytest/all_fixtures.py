"""Fixtures of an existing suite under ``--explore-all``: made anew in each execution, wherever that can be.

They were not written for that. What one execution leaves in a fixture the next one would find, so every
fixture of a test is set up inside the execution, the sync ones too, and so are ``setup_method`` and
``setup_function``. What stays outside is what pytest itself provides, what has a wider scope, and what asks pytest
for more while it is set up.
"""

from __future__ import annotations

import contextlib
import copy
import inspect
import types
from collections.abc import AsyncGenerator, Callable, Generator, Mapping
from typing import Any

import pytest
import trio

from structsync.testing._execution.fixtures import Placeholder

from .fixtures import belongs_to_an_execution, placeholder

#: Names in the code of a fixture that is bound to pytest's own time of setting up and tearing down.
_ASKS_PYTEST = frozenset({"addfinalizer", "getfixturevalue", "applymarker"})
#: Fixtures of pytest that collect what happens, and how they forget it again.
_FORGET = {"caplog": "clear", "recwarn": "clear", "capsys": "readouterr", "capfd": "readouterr"}


def made_for_executions(
    fixturedef: pytest.FixtureDef[object], request: pytest.FixtureRequest
) -> Placeholder | None:
    """Return the placeholder of a fixture that is made in each execution; None for any other."""
    name, function = fixturedef.argname, fixturedef.func
    arguments = {one: request.getfixturevalue(one) for one in fixturedef.argnames}
    if name == "nursery" and _package(function) == "pytest_trio":
        return Placeholder(name, _nursery, {}, for_each_user=True)
    if fixturedef.scope == "function" and name.startswith("_xunit_setup_"):
        around = {"setup": function, "instance": request.instance, "function": request.function}
        return Placeholder(name, _setup_and_teardown, around)
    inside = belongs_to_an_execution(function, [*arguments.values()])
    if inside or (fixturedef.scope == "function" and _can_be_repeated(name, function)):
        return placeholder(name, function, arguments, request.instance)
    return None


def _setup_and_teardown(
    setup: Callable[..., Generator[None]], instance: object, function: object
) -> Generator[None]:
    """Call what pytest makes of ``setup_method`` and its like, on the instance of one execution."""
    around = setup(types.SimpleNamespace(instance=instance, function=function))
    next(around)
    try:
        yield
    finally:  # also where the search abandons the execution
        next(around, None)


def copied_parameters(parameters: Mapping[str, object]) -> list[Placeholder]:
    """Return placeholders for the parameters that a test may change, as they are before any test has run."""
    found = []
    for name, value in parameters.items():
        if type(value) in (list, dict, set):
            with contextlib.suppress(Exception):  # what is in it cannot be copied
                found.append(Placeholder(name, copy.deepcopy, {"x": copy.deepcopy(value)}))
    return found


async def _nursery() -> AsyncGenerator[trio.Nursery]:
    """The nursery of pytest-trio: one for each user of the fixture, cancelled when that one has ended."""
    async with trio.open_nursery() as nursery:
        yield nursery
        nursery.cancel_scope.cancel()


def _can_be_repeated(name: str, function: Callable[..., Any]) -> bool:
    if _package(function) in ("_pytest", "pytest"):
        return name == "monkeypatch"
    code = getattr(inspect.unwrap(function), "__code__", None)
    return code is not None and not _ASKS_PYTEST.intersection(code.co_names)


def _package(function: Callable[..., Any]) -> str:
    return str(function.__module__).partition(".")[0]


def start_over(values: Mapping[str, object]) -> None:
    """Let the fixtures that all executions share forget the last one."""
    for name, method in _FORGET.items():
        if name in values:
            getattr(values[name], method)()

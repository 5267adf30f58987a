"""What an argument is that no task gives: the same wherever it has the same name."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import structsync
from tests.public_names import PUBLIC

DEFAULTS = {
    "ageing": 100,
    "checkpoint": "always",
    "n": 1,
    "ordered": True,
    "policy": "fifo",
    "priority": 0,
}


def public_functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield what users call, by its name: functions, classes and their methods."""
    for name in PUBLIC:
        one = getattr(structsync, name)
        if callable(one):
            yield name, one
        if isinstance(one, type):
            for attribute, method in vars(one).items():
                if not attribute.startswith("_") and inspect.isfunction(method):
                    yield f"{name}.{attribute}", method


def parameters() -> Iterator[tuple[str, inspect.Parameter]]:
    """Yield each parameter that has a default, with the name of what has it."""
    for name, function in public_functions():
        try:
            found = inspect.signature(function).parameters.values()
        except (TypeError, ValueError):  # an alias of a type has none
            continue
        yield from ((name, one) for one in found if one.default is not one.empty)


@pytest.mark.parametrize(("name", "default"), DEFAULTS.items())
def test_what_is_not_given_is_the_same_everywhere(name: str, default: object) -> None:
    defaults = {whose: one.default for whose, one in parameters() if one.name == name}
    assert len(defaults) > 1
    assert {whose for whose, one in defaults.items() if one != default} == set()

"""A mistake is written once: what a class of ``specs/*_faults.py`` has it in, the tests plant from there."""

from __future__ import annotations

from types import FunctionType
from typing import Any

import pytest


def plant(patch: pytest.MonkeyPatch, core: type, fault: Any) -> None:
    """Plant what a class of faults overrides in the core that ships, and not in a subclass of it.

    Raises:
      TypeError: if that cannot be done: it has an ``__init__`` or fields, or calls ``super()``.
    """
    for name, value in overrides(fault).items():
        if name == "__init__" or calls_super(value):
            raise TypeError(
                f"{fault.__name__}.{name} belongs to a subclass; write the mistake without "
                "__init__ and super(), or write a plant of its own"
            )
        patch.setattr(core, name, value)


def overrides(fault: type) -> dict[str, Any]:
    """Return the functions and properties of a class of faults."""
    return {
        name: value
        for name, value in vars(fault).items()
        if isinstance(value, FunctionType | property)
    }


def calls_super(value: object) -> bool:
    functions = [value] if isinstance(value, FunctionType) else [getattr(value, "fget", None)]
    return any("__class__" in one.__code__.co_freevars for one in functions if one is not None)

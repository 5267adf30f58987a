"""Planted faults: bugs on purpose, each of which a named property must refute."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any, TypeVar

from ._errors import SpecError
from ._language import Spec, fields_of
from ._model import property_names

C = TypeVar("C", bound=Callable[..., Any])

_MARK = "__structsync_faults__"


@dataclass(frozen=True, slots=True)
class Fault:
    """A bug planted in one field of a spec, and the property that must find it."""

    spec: type[Spec]
    field: str
    factory: Callable[..., Any]
    refuted_by: str
    max_trace: int

    @property
    def name(self) -> str:
        """The name of the decorated class or function."""
        return self.factory.__name__

    @property
    def module(self) -> str:
        """The module that plants the fault."""
        return self.factory.__module__

    @property
    def description(self) -> str:
        """The first line of the planted bug's docstring."""
        return (vars(self.factory).get("__doc__") or self.factory.__doc__ or "").split("\n")[0]


def fault(
    spec: type[Spec], field: str, *, refuted_by: str, max_trace: int = 10
) -> Callable[[C], C]:
    """Plant the decorated class or function as a bug in place of a field's factory.

    Args:
        spec: the specification that must notice.
        field: the field whose factory is replaced; the arguments given to `start` stay.
        refuted_by: the property that must be refuted.
        max_trace: how many steps its shortest counterexample may have; the search for it goes no
            deeper.
    """
    fields, names = tuple(fields_of(spec)), property_names(spec)
    if field not in fields:
        raise SpecError(
            f"a fault replaces a field of the spec, and {spec.__name__} has no field {field!r}; "
            f"its fields are {', '.join(fields) or '(none)'}"
        )
    if refuted_by not in names:
        raise SpecError(
            f"a fault is refuted by a property of the spec, and {spec.__name__} has no property "
            f"{refuted_by!r}; its properties are {', '.join(names)}"
        )
    if max_trace < 1:
        raise SpecError(f"max_trace must be >= 1, not {max_trace}; leave it out for ten")

    def plant(factory: C) -> C:
        known = vars(factory).get(_MARK, ())
        planted = Fault(spec, field, factory, refuted_by, max_trace)
        setattr(factory, _MARK, (*known, planted))
        return factory

    return plant


def faults_of(module: ModuleType) -> tuple[Fault, ...]:
    """Return the faults planted in a module, in the order of their definition."""
    return tuple(
        planted
        for value in vars(module).values()
        if hasattr(value, "__dict__") and getattr(value, "__module__", None) == module.__name__
        for planted in vars(value).get(_MARK, ())
    )

"""Planted faults: bugs on purpose, each of which a named property must refute."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any, TypeVar

from ._errors import SpecError
from ._language import Spec, fields_of
from ._rules import property_names

C = TypeVar("C", bound=Callable[..., Any])

_PLANTED = "__structsync_faults__"
_WAITING = "__structsync_faults_to_plant__"


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

    module = sys._getframe(1).f_globals
    waiting = module.setdefault(_WAITING, [])
    waiting.append(spec)

    def plant(factory: C) -> C:
        if not hasattr(factory, "__name__"):
            raise SpecError(
                f"a fault is a class or a function, so that it has a name, and {factory!r} is "
                "neither; write a def"
            )
        if spec in waiting:
            waiting.remove(spec)
        planted = Fault(spec, field, factory, refuted_by, max_trace)
        module.setdefault(_PLANTED, []).append(planted)
        return factory

    return plant


def faults_of(module: ModuleType) -> tuple[Fault, ...]:
    """Return the faults planted in a module, in the order of their definition.

    Raises:
        SpecError: a fault was announced and not planted.
    """
    for spec in vars(module).get(_WAITING, ()):
        raise SpecError(
            f"{module.__name__} calls fault({spec.__name__}, ...) and plants nothing; write it as a "
            "decorator, @fault(...), above the class or function with the bug"
        )
    return tuple(vars(module).get(_PLANTED, ()))

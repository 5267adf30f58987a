"""What a decorator of the language says about a function: `Declaration`, and how it is read."""

from __future__ import annotations

import dis
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from ._errors import SpecError

#: Where the values of a parameter come from: a constant, a field, or a function of the spec.
Domain = Iterable[Any] | Callable[[Any], Iterable[Any]]

#: A further condition of an action: of the spec, and of up to four parameters. Alternatives, and not "of
#: anything": a strict type checker knows then of which type the parameters of a lambda are.
Condition = (
    Callable[[Any], Any]
    | Callable[[Any, Any], Any]
    | Callable[[Any, Any, Any], Any]
    | Callable[[Any, Any, Any, Any], Any]
    | Callable[[Any, Any, Any, Any, Any], Any]
)

#: The kinds of properties that are judged over whole behaviours.
TEMPORAL = ("leads_to", "eventually", "always_eventually")

#: What an action may demand of a fair behaviour.
Fairness = bool | Literal["weak", "strong"]

#: What one property assumes of the actions beside what they say themselves; "together": with some value.
Assumption = Literal["weak", "strong", "weak together", "strong together"]

#: The attribute of a decorated function that holds its declaration.
MARK = "__structsync_declaration__"


@dataclass(frozen=True, slots=True)
class Declaration:
    """What a decorator of this module says about the function below it."""

    kind: str
    domains: Mapping[str, Domain] = field(default_factory=dict)
    when: Callable[..., Any] | None = None
    fair: Fairness = False
    fair_together: bool = False
    may_never_fire: str | None = None
    assuming: Mapping[str, Assumption] = field(default_factory=dict)
    """The fairness of actions that this property of behaviours needs besides, by their names."""
    abstract: type[Any] | None = None
    """The specification that is refined."""
    function: list[Callable[..., Any]] = field(default_factory=list)
    """The function that it was put on; a decorator above it makes another one."""


def declaration_of(value: object) -> Declaration | None:
    """Return what a decorator said about this function, if one did."""
    found = getattr(value, MARK, None)
    if not isinstance(found, Declaration):
        return None
    if found.function and found.function[0] is not value:
        raise SpecError(
            f"a decorator stands above @{found.kind} {found.function[0].__qualname__}, and what is "
            f"declared is not what would be checked; put @{found.kind} on top"
        )
    return found


def asserts(function: Callable[..., Any]) -> bool:
    """Return whether a function's own body contains an assert statement.

    Read off the byte code, which python -O leaves without it: a property that can then never fail
    is found out instead of passing.
    """
    return any(
        "ASSERTION_ERROR" in one.opname or "AssertionError" in (one.argrepr or "")
        for one in dis.get_instructions(function)
    )

"""What `forgets` names is for the properties of steps alone: what else reads it is found out.

In every state that a search stores it is what it was at first, so an invariant that reads it would hold or fail for that
first value alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import new_class
from typing import Any

from ._compiled import forgotten_by
from ._errors import ANY_ERROR, SpecError
from ._language import Snapshot, Spec
from ._model import Model
from ._rules import STEPS


class _Read(SpecError):
    """A field that is forgotten was read."""


def trap_of(model: Model) -> Trap | None:
    """Return a trap, if the spec forgets anything."""
    names = [*forgotten_by(model.live, model.fields)]
    return Trap(model, names) if names else None


class Trap:
    """A spec of which what is forgotten cannot be read."""

    def __init__(self, model: Model, names: Sequence[str]) -> None:
        self._model = model
        spec = model.spec_class
        twin = new_class(
            spec.__name__, (spec,), {}, lambda body: body.update(__module__=spec.__module__)
        )
        for name in names:
            setattr(twin, name, property(_refusing(name)))
        self._spec: Any = object.__new__(twin)
        self._spec.__dict__.update(vars(model.fresh()))

    def check(self, snapshot: Snapshot) -> None:
        """Raise if anything that is evaluated on a state alone reads what is forgotten."""
        model, spec = self._model, self._spec
        model.restore(spec, snapshot)
        for one in (*model.properties, *model.terminals):
            if one.kind not in STEPS:
                _ask(f"@{one.kind} {one.name}", one.judge, spec, *one.arguments)
        for action in model.actions:
            _ask(f"a domain or the `when` of {action.name}", model.enabled_of, action, spec)


def _refusing(name: str) -> Any:
    def refuse(spec: Spec) -> None:
        raise _Read(name)

    return refuse


def _ask(who: str, function: Any, *arguments: Any) -> None:
    try:
        function(*arguments)
    except _Read as error:
        raise SpecError(
            f"only properties of steps see what `forgets` names, and {who} reads {error}, which in "
            "every state is what it was at first; say it by a @step, or do not forget it"
        ) from None
    except ANY_ERROR:  # told where the search meets it
        pass

"""A finding of the search as a counterexample, step by step."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from structsync.report import Counterexample, Step

from ._declaration import declaration_of
from ._errors import ANY_ERROR
from ._finding import Finding
from ._language import Snapshot, Spec
from ._model import Model, Move
from ._rules import BUILT_IN, NO_ACTION_FAILS
from ._search import Search


def counterexample_of(search: Search, finding: Finding, spec_name: str) -> Counterexample:
    """Return the counterexample of a finding, with the state after each step.

    With `canonical`, the states shown are the representatives that the search stores.
    """
    model, view = search.model, search.view()
    reached = view.path(finding.state) if finding.lasso else view.way(finding.state)
    way = [(label, state, "") for label, state in reached]
    cycle_start, start_note = None, ""
    if finding.lasso:
        waiting = "obligation pending"
        if way:
            way[-1] = (*way[-1][:2], waiting)
        else:
            start_note = waiting
        way += [(label, view.snapshot(node), "") for label, node in finding.lasso.stem]
        cycle_start = len(way)
        way += [(label, view.snapshot(node), "") for label, node in finding.lasso.cycle]
    steps = [step_of(model, model.moves[a], _state(model, s), note) for a, s, note in way]
    if finding.move:
        steps.append(_last_step(search, finding, finding.move))
    kind, claim = claim_of(model.spec_class, finding.property)
    return Counterexample(
        spec=spec_name,
        refuted=finding.property,
        kind=kind,
        start=_state(model, search.graph.states[0]),
        steps=tuple(steps),
        claim=claim,
        detail=finding.detail,
        start_note=start_note,
        cycle_start=cycle_start,
    )


def claim_of(spec: type[Spec], name: str) -> tuple[str, str]:
    """Return the kind of a property, and what it says in the words of its author."""
    if name in BUILT_IN:
        return "built-in", BUILT_IN[name]
    function = getattr(spec, name)
    word = declaration_of(function)
    assert word is not None
    return word.kind, (inspect.getdoc(function) or "").split("\n\n")[0]


def _state(model: Model, snapshot: Snapshot) -> Mapping[str, str]:
    model.restore(model.live, snapshot)
    return described(model.live)


def described(spec: Spec) -> Mapping[str, str]:
    """Return a state as a trace shows it."""
    return {name: _shown(value) for name, value in spec.describe().items()}


def _shown(value: Any) -> str:
    if isinstance(value, frozenset):
        return "{" + ", ".join(sorted(map(_shown, value))) + "}"
    if "__repr__" not in _own_names(type(value)) and callable(getattr(value, "snapshot", None)):
        return repr(value.snapshot())
    return repr(value)


def _own_names(kind: type) -> set[str]:
    return {name for owner in kind.__mro__[:-1] for name in vars(owner)}


def step_of(model: Model, move: Move, state: Mapping[str, str], note: str) -> Step:
    """Return a move, and the state after it, as a step of a counterexample."""
    values = [v if isinstance(v, str) else repr(v) for v in move.arguments]
    named = tuple(zip(move.action.parameters, values, strict=True))
    return Step(move.action.name, named, state, actor=values[0] if values else "", note=note)


def _last_step(search: Search, finding: Finding, move: Move) -> Step:
    """Take the refuting move once more: the state after it may never have been stored."""
    model = search.model
    model.restore(model.live, search.graph.states[finding.state])
    note = "" if finding.property != NO_ACTION_FAILS else finding.detail
    try:
        move.run(model.live, *move.arguments)
    except ANY_ERROR:  # this is what the finding is about
        return step_of(model, move, _state(model, search.graph.states[finding.state]), note)
    return step_of(model, move, described(model.live), note)

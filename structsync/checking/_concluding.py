"""From a search that has ended to a verdict for each property."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from ._history import History
from ._implies import never_met
from ._rules import (
    BUILT_IN,
    EVERY_ACTION_FIRES,
    NO_ACTION_FAILS,
    NO_DEADLOCK,
    NO_HIDDEN_HISTORY,
    OF_STATES,
)
from ._search import Search
from ._trace import counterexample_of
from ._verdict import PropertyResult, Verdict


def built_in(only: Collection[str] | None) -> list[str]:
    """Return the properties of states that every spec has, of those that are asked for."""
    return [name for name in OF_STATES if only is None or name in only]


def verdicts_of(
    search: Search, history: History | None, called: str, only: Collection[str] | None
) -> Iterator[PropertyResult]:
    """Yield a verdict for each property that is asked for.

    Args:
        search: has ended.
        history: the walks after it, if there were any.
        called: the name of the spec in counterexamples.
        only: the properties that are asked for; None: all.
    """
    kinds = dict.fromkeys(built_in(only), "built-in")
    kinds |= {one.name: one.kind for one in search.model.properties}
    for name, kind in kinds.items():
        finding = search.findings.get(name)
        if finding:
            shown = counterexample_of(search, finding, called)
            yield PropertyResult(name, kind, Verdict.REFUTED, finding.detail, shown)
        elif not search.complete or search.judge.overlooked:
            yield PropertyResult(name, kind, Verdict.UNFINISHED, f"ended by {_end(search)}")
        else:
            yield _confirmed_unless_vacuous(search, name, kind)
    if history:
        yield _of_history(history, called)
    elif only is not None and NO_HIDDEN_HISTORY in only:
        yield _without_walks(search)
    if only is None or EVERY_ACTION_FIRES in only:
        yield _every_action_fires(search)


def _of_history(history: History, called: str) -> PropertyResult:
    name = NO_HIDDEN_HISTORY
    if history.refuted:
        shown = history.counterexample(called)
        return PropertyResult(name, "built-in", Verdict.REFUTED, history.refuted, shown)
    if history.stopped_by:
        detail = f"ended by {history.stopped_by}"
        return PropertyResult(name, "built-in", Verdict.UNFINISHED, detail)
    detail = f"{history.taken:,} steps at random"
    return PropertyResult(name, "built-in", Verdict.CONFIRMED, detail)


def _without_walks(search: Search) -> PropertyResult:
    if search.stopped_by:
        verdict, detail = Verdict.UNFINISHED, f"ended by {search.stopped_by}"
    else:
        why = search.model.spec_class.restored_before_each_step
        verdict, detail = (
            Verdict.VACUOUS,
            why or "no field has a snapshot(), so none remembers anything",
        )
    return PropertyResult(NO_HIDDEN_HISTORY, "built-in", verdict, detail)


def unfinished_by(search: Search) -> str | None:
    """Return why not all was seen of a spec that could be; None if it was."""
    return search.stopped_by or search.not_asked or _overlooked(search)


def _end(search: Search) -> str:
    return unfinished_by(search) or "the refutation of every property"


def _overlooked(search: Search) -> str | None:
    """Return which action raised, where no checked property forbids that."""
    found = search.judge.overlooked
    if found is None or found.move is None:
        return None
    return f"{search.model.shown(found.move)}, which {found.detail}; judge {NO_ACTION_FAILS}, too"


def _confirmed_unless_vacuous(search: Search, name: str, kind: str) -> PropertyResult:
    idle = [
        ", ".join(f"{n}={v!r}" for n, v in zip(one.parameters, one.arguments, strict=True))
        or "any state"
        for number, one in enumerate(search.judge.temporal)
        if one.name == name and not search.judge.triggered(number)
    ]
    if idle:
        detail = f"no state has its trigger without its goal, for {'; '.join(idle)}"
        return PropertyResult(name, kind, Verdict.VACUOUS, detail)
    if name == NO_DEADLOCK and not search.judge.dead_ends.can_fail:
        return PropertyResult(name, kind, Verdict.VACUOUS, "@terminal is true of every state")
    refinement = search.judge.refinements.get(name)
    if refinement and not refinement.moved:
        detail = "the abstract state is the same in every state"
        return PropertyResult(name, kind, Verdict.VACUOUS, detail)
    if name not in BUILT_IN:
        lines = never_met(getattr(search.model.spec_class, name).__code__)
        if lines:
            where = ", ".join(f"line {line}" for line in lines)
            detail = f"the antecedent of implies was true in no state ({where})"
            return PropertyResult(name, kind, Verdict.VACUOUS, detail)
    return PropertyResult(name, kind, Verdict.CONFIRMED)


def _every_action_fires(search: Search) -> PropertyResult:
    silent = [
        action.name
        for action in search.model.actions
        if not action.moves and action.may_never_fire is None
    ]
    verdict, detail = Verdict.CONFIRMED, ""
    if silent and not search.complete:
        verdict, detail = Verdict.UNFINISHED, f"ended by {_end(search)}"
    elif silent:
        verdict = Verdict.VACUOUS
        detail = (
            f"{', '.join(silent)} never fired; mend what forbids it, "
            'or say may_never_fire="the reason"'
        )
    return PropertyResult(EVERY_ACTION_FIRES, "built-in", verdict, detail)

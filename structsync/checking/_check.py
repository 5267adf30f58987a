"""Checking one spec, or one planted fault: search, then a verdict for each property."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection

from structsync.report import Counterexample

from ._budget import Budget, Progress
from ._concluding import built_in, unfinished_by, verdicts_of
from ._errors import ENDS_THE_PROGRAM, SpecError, where_raised
from ._faults import Fault
from ._finding import error_text
from ._history import History
from ._language import Spec
from ._model import Model
from ._rules import (
    EVERY_ACTION_FIRES,
    NO_HIDDEN_HISTORY,
)
from ._search import Search
from ._trace import counterexample_of
from ._verdict import FaultResult, Result, Verdict

OnProgress = Callable[[Progress], None]


def spec_name(spec: Callable[..., object], root: str = "") -> str:
    """Return the name of a spec or fault class in reports: its module below `root`, its name."""
    module = spec.__module__
    inside = module.removeprefix(f"{root}.") if root else module.rpartition(".")[2]
    return f"{inside}.{spec.__name__}"


def check(
    spec: type[Spec],
    *,
    only: Collection[str] | None = None,
    max_states: int | None = None,
    max_depth: int | None = None,
    seconds: float | None = None,
    name: str | None = None,
    on_progress: OnProgress | None = None,
) -> Result:
    """Search all states of a spec and return a verdict for each of its properties.

    The search continues after a refutation, through the refuting state too, and keeps the first and
    hence shortest counterexample of each property. Ctrl-C ends it like a budget does.

    Args:
        spec: the spec class.
        only: the properties to judge, at least one; all of them by default.
        max_states: end the search, not finished, when it knows more states than this.
        max_depth: do not take moves from states that are more steps away from the first one.
        seconds: end the search, not finished, after this time.
        name: the name in the result; module and class by default.
        on_progress: called several times a second with how far the search has come.

    Raises:
        SpecError: the spec breaks a rule of the language.
        ValueError: a bound is negative.
    """
    budget = Budget(max_states, max_depth, seconds)
    return result_of(spec_search(spec, budget, on_progress, only=only), name, only)


def spec_search(
    spec: type[Spec],
    budget: Budget,
    on_progress: OnProgress | None = None,
    kind: type[Search] = Search,
    only: Collection[str] | None = None,
) -> Search:
    """Return the search of a spec, which is still to be run."""
    model = Model(runnable(spec), only=only)
    open_to_the_end = [name for name in (EVERY_ACTION_FIRES,) if name in (only or ())]
    return kind(model, budget, on_progress, built_in=[*built_in(only), *open_to_the_end])


def result_of(
    search: Search, name: str | None = None, only: Collection[str] | None = None
) -> Result:
    """Run the search of a spec, and return a verdict for each of its properties."""
    _run(search.run)
    history = _history(search) if only is None or NO_HIDDEN_HISTORY in only else None
    search.model.pulse.rest()
    called = name or spec_name(search.model.spec_class)
    graph = search.graph
    return Result(
        spec=called,
        properties=tuple(verdicts_of(search, history, called, only)),
        states=len(graph.states),
        transitions=search.transitions,
        depth=graph.depth(),
        seconds=search.seconds(),
        bytes_per_state=search.bytes_per_state(),
        stopped_by=unfinished_by(search),
    )


def check_fault(
    fault: Fault,
    *,
    max_states: int | None = None,
    seconds: float | None = None,
    name: str | None = None,
    on_progress: OnProgress | None = None,
) -> FaultResult:
    """Search for the counterexample by which the named property refutes a planted fault.

    Only this property is judged, and no deeper than the fault's `max_trace`. A longer trace, or
    none, is a failure: then the property would not have noticed the bug.

    Raises:
        SpecError: the spec breaks a rule of the language with the fault in it.
    """
    budget = Budget(max_states, fault.max_trace, seconds)
    return fault_result_of(fault, fault_search(fault, budget, on_progress), name)


def fault_search(
    fault: Fault,
    budget: Budget,
    on_progress: OnProgress | None = None,
    kind: type[Search] = Search,
) -> Search:
    """Return the search for a planted fault, which is still to be run."""
    return kind(
        Model(fault.spec, {fault.field: fault.factory}, only=[fault.refuted_by]),
        budget,
        on_progress,
        built_in=built_in([fault.refuted_by]),
        audit=False,  # a bug need not be written well
        answers_only=True,
    )


def fault_result_of(fault: Fault, search: Search, name: str | None = None) -> FaultResult:
    """Run the search for a planted fault, and return whether it was found."""
    _run(search.run)
    spec_called = spec_name(fault.spec)
    with_fault = f"{spec_called} with {fault.name}"
    history = _history(search) if fault.refuted_by == NO_HIDDEN_HISTORY else None
    search.model.pulse.rest()
    finding = search.findings.get(fault.refuted_by)
    shown = counterexample_of(search, finding, with_fault) if finding else None
    if history and history.refuted:
        shown = history.counterexample(with_fault)
    verdict, detail = _fault_verdict(fault, search, shown)
    return FaultResult(
        name=name or f"{fault.module.rpartition('.')[2]}.{fault.name}",
        spec=spec_called,
        refuted_by=fault.refuted_by,
        verdict=verdict,
        detail=detail,
        states=len(search.graph.states),
        transitions=search.transitions,
        seconds=search.seconds(),
        stopped_by=search.stopped_by,
        counterexample=shown,
    )


def _fault_verdict(
    fault: Fault, search: Search, shown: Counterexample | None
) -> tuple[Verdict, str]:
    if shown is not None and len(shown.steps) <= fault.max_trace:
        return Verdict.REFUTED, fault.description
    if search.stopped_by and not search.out_of_depth:
        return Verdict.UNFINISHED, f"ended by {search.stopped_by}"
    error = search.judge.unanswered.get(fault.refuted_by)
    if error is not None:
        return Verdict.VACUOUS, (
            f"{fault.refuted_by} only {error.detail or 'met an assertion of the bug itself'}, which "
            "is no answer: a property finds a bug by returning False, or by an assertion of its own"
        )
    return Verdict.VACUOUS, (
        f"a check that cannot fail: {fault.refuted_by} is not refuted within "
        f"{fault.max_trace} steps"
    )


def _run(run: Callable[[], None]) -> None:
    try:
        run()
    except ENDS_THE_PROGRAM as error:
        raise SpecError(
            f"code of the specification ends the program: {error_text(error)} in "
            f"{where_raised(error)}; a specification returns"
        ) from error


def runnable(spec: object) -> type[Spec]:
    """Return a spec class as it is, or raise."""
    if not (inspect.isclass(spec) and issubclass(spec, Spec)):
        raise SpecError(f"what is checked is a subclass of Spec, not {spec!r}")
    return spec


def _history(search: Search) -> History | None:
    """Walk after a search; None if it was cut off, or if there is nothing that a walk could see."""
    model = search.model
    if search.stopped_by or not model.cores or model.spec_class.restored_before_each_step:
        return None
    history = History(model, search.judge.steps, search.graph.states)
    _run(history.run)
    return history

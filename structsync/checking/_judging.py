"""Evaluating the properties of a spec, and keeping the first thing that refutes each of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from types import CodeType, TracebackType
from typing import Any

from ._budget import Stopped
from ._dead_ends import DeadEnds
from ._declaration import TEMPORAL
from ._errors import ANY_ERROR, SpecError
from ._finding import Finding, error_text
from ._graph import Graph
from ._language import Spec
from ._liveness import CLOSED, NEITHER, TRIGGER, Lasso, find_lasso
from ._model import Model, Move, Property
from ._refinement import Refinement
from ._rules import NO_ACTION_FAILS, OF_STATES, STEPS, word_of
from ._unfolded import Unfolded, orbit_of


class Judge:
    """The properties that are not yet refuted, and the findings about the others."""

    def __init__(
        self, model: Model, built_in: Collection[str] = OF_STATES, answers_only: bool = False
    ) -> None:
        self.model = model
        self.answers_only = answers_only
        """True where a property that raises has not found anything (see _faults.py)."""
        self.unanswered: dict[str, Finding] = {}
        self.overlooked: Finding | None = None
        """An action that raised, where no checked property forbids that; what it leads to is not known."""
        self.refinements = refinements_of(model)
        self.temporal = [one for one in model.properties if one.kind in TEMPORAL]
        self.marks = [bytearray() for _ in self.temporal]
        self.dead_ends = DeadEnds(model)
        symmetry = model.symmetry
        self.alike = [
            orbit_of(symmetry, self.temporal, n) if symmetry else [n]
            for n in range(len(self.temporal))
        ]
        """For each property of behaviours those that it becomes by renaming, itself at least."""
        self._built_in = built_in
        self.reopen()

    def reopen(self) -> None:
        """Judge everything, whatever was found so far."""
        model = self.model
        self.findings: dict[str, Finding] = {}
        self.invariants = [one for one in model.properties if one.kind == "invariant"]
        self.steps = steps_of(model, self.refinements)
        self.all_hold = compiled(self.steps)
        self.open = {*(one.name for one in model.properties), *self._built_in}

    def only_temporal(self) -> bool:
        """Return whether nothing is open but what needs whole behaviours."""
        return self.open <= {one.name for one in self.temporal}

    def begin(self) -> None:
        """Judge the live spec, which is in the first state."""
        for one in self.refinements.values():
            finding = one.begin(self.model.live)
            if finding:
                self.refute(finding)

    def enter(self, before: Spec) -> None:
        """Take note of the state in which the next steps begin."""
        for name, one in self.refinements.items():
            if name in self.open:
                one.enter(before)

    def state(self, number: int) -> None:
        """Evaluate the invariants on the live spec, which is in the state of this number."""
        for one in self.invariants:
            self._ask(one, number, None)

    def step(self, number: int, move: Move) -> None:
        """Evaluate each step property on the move that was just made, of which `all_hold` is not sure."""
        for one in self.steps:
            self._ask(one, number, move)

    def mark(self, number: int) -> None:
        """Note for each leads_to how it stands in the state of this number."""
        for one, marks in zip(self.temporal, self.marks, strict=True):
            marks.append(self._mark(one, number))

    def stuck(self, number: int, stuck: bool) -> None:
        """Judge whether the live spec may be in a state without a step, if it is in one."""
        finding = self.dead_ends.finding(number, stuck)
        if finding:
            self.refute(finding)

    def refute(self, finding: Finding) -> None:
        """Keep what refutes a property, if it is the first."""
        name = finding.property
        if finding.no_answer and self.answers_only:
            self.unanswered.setdefault(name, finding)
        elif name == NO_ACTION_FAILS and name not in self._built_in:
            self.overlooked = self.overlooked or finding
        elif name in self.open:
            self.open.discard(name)
            self.findings[name] = finding
            # New lists: a caller may be walking over the old ones.
            self.invariants = [one for one in self.invariants if one.name != name]
            self.steps = [one for one in self.steps if one.name != name]
            self.all_hold = compiled(self.steps)

    def behaviours(self, graph: Graph) -> None:
        """Look for fair behaviours that refute a property of them among the states expanded so far."""
        if graph.edges is None:
            return
        symmetry = self.model.symmetry
        whole = Unfolded(graph, self.model, symmetry) if symmetry else None
        edges = whole.edges if whole else graph.edges
        view = whole or graph
        levels = whole.levels() if whole else [n for n in graph.levels if n < graph.expanded]
        found: dict[str, list[Finding]] = {}
        model, beat = self.model, self.model.pulse.beat
        for number, one in enumerate(self.temporal):
            if one.name in self.open and number == min(self.alike[number]):
                fair = model.fairness(word_of(getattr(model.spec_class, one.name)).assuming)
                marks = whole.marks(self.marks, self.alike[number]) if whole else self.marks[number]
                lasso = find_lasso(edges, marks, fair, levels, beat)
                if lasso:
                    pairs = zip(one.parameters, one.arguments, strict=True)
                    named = ", ".join(f"{name}={value!r}" for name, value in pairs)
                    detail = f"for {named}" if named else ""
                    finding = Finding(one.name, lasso.trigger, detail, lasso=lasso)
                    found.setdefault(one.name, []).append(finding)
        for findings in found.values():
            self.refute(min(findings, key=lambda one: _length(view, one)))

    def moved(self) -> tuple[str, ...]:
        """Return the refinements of which a step was an abstract one."""
        return tuple([name for name, one in self.refinements.items() if one.moved])

    def learn(self, can_fail: bool, moved: Collection[str]) -> None:
        """Take note of what was seen elsewhere: a state that must not be the last, and steps."""
        self.dead_ends.can_fail |= can_fail
        for name in moved:
            self.refinements[name].moved = True

    def triggered(self, number: int) -> bool:
        """Return whether a property of behaviours ever had to wait for its goal."""
        return any(TRIGGER in self.marks[one] for one in self.alike[number])

    def _ask(self, one: Property, number: int, move: Move | None) -> None:
        model = self.model
        try:
            held = one.judge(model.live) if move is None else one.judge(model.live, model.before)
        except AssertionError as error:
            theirs = _is_raised_in(error.__traceback__, model.planted_code())
            return self.refute(Finding(one.name, number, str(error), move, no_answer=theirs))
        except (SpecError, Stopped):
            raise
        except ANY_ERROR as error:
            detail = f"raised {error_text(error)}"
            return self.refute(Finding(one.name, number, detail, move, no_answer=True))
        if held is True:
            return None
        if held is False:
            return self.refute(Finding(one.name, number, "", move))
        if held is None and one.asserts:
            return None
        raise SpecError(
            f"@{one.kind} {one.name} must return True or False, or consist of assert statements "
            f"(which python -O removes); it returned {held!r}"
        )

    def _mark(self, one: Property, number: int) -> int:
        try:
            pair = one.judge(self.model.live, *one.arguments)
        except (SpecError, Stopped):
            raise
        except ANY_ERROR as error:
            detail = f"raised {error_text(error)}"
            self.refute(Finding(one.name, number, detail, no_answer=True))
            return CLOSED
        if one.kind != "leads_to" and type(pair) is bool:
            pair = (number == 0 or one.kind == "always_eventually", pair)
        if type(pair) is tuple and len(pair) == 2:
            trigger, goal = pair
            if type(trigger) is bool and type(goal) is bool:
                return CLOSED if goal else TRIGGER if trigger else NEITHER
        wanted = (
            "the pair `trigger, goal` of two bools" if one.kind == "leads_to" else "True or False"
        )
        raise SpecError(f"@{one.kind} {one.name} must return {wanted}, and returned {pair!r}")


def refinements_of(model: Model) -> dict[str, Refinement]:
    """Return what is checked of the steps of a spec that refines another one, by property."""
    words = {one.name: word_of(getattr(model.spec_class, one.name)) for one in model.properties}
    return {
        one.name: Refinement(one, abstract)
        for one in model.properties
        if (abstract := words[one.name].abstract) is not None
    }


def steps_of(model: Model, refinements: Mapping[str, Refinement]) -> list[Property]:
    """Return what is checked of each step."""
    return [
        one._replace(judge=refinements[one.name].judge) if one.kind == "refines" else one
        for one in model.properties
        if one.kind in STEPS
    ]


def _length(graph: Graph | Unfolded, finding: Finding) -> int:
    lasso = finding.lasso
    assert isinstance(lasso, Lasso)
    return len(graph.path(finding.state)) + len(lasso.stem) + len(lasso.cycle)


def _is_raised_in(trace: TracebackType | None, codes: frozenset[CodeType]) -> bool:
    """Return whether an error came from the planted bug itself, not from the property."""
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and trace.tb_frame.f_code in codes


def compiled(steps: list[Property]) -> Callable[[Any, Any], bool]:
    """Return one test of all step properties, as straight as if it were written by hand."""
    tests = [
        f"judge_{n}(live, before) is {None if one.asserts else True}" for n, one in enumerate(steps)
    ]
    made: dict[str, Any] = {f"judge_{n}": one.judge for n, one in enumerate(steps)}
    made["ERRORS"] = ANY_ERROR
    body = [
        "def all_hold(live, before):",
        "    try:",
        f"        return {' and '.join(tests) or 'True'}",
        "    except ERRORS:",
        "        return False",
    ]
    exec("\n".join(body), made)
    test: Callable[[Any, Any], bool] = made["all_hold"]
    return test

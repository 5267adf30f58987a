"""The breadth-first search over all states of a spec, and where its time goes.

One state is expanded at a time: restore it, judge it, ask which moves it allows, then for each
move restore, act, take a snapshot, judge the transition. A state that refutes a property is
expanded like any other, so that the search judges the other properties as well. Whatever
the user's functions do to the live spec is undone by the next restore; that judging and asking do
not change the state is verified by one snapshot per state. Invariants are judged when a state is
discovered, so that a search that is cut off has judged all that it has seen.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from typing import ClassVar

from ._ahead import Helpers, enter
from ._audit import Audit
from ._budget import Budget, Progress, Stopped
from ._errors import ANY_ERROR, SpecError
from ._finding import Finding, error_text
from ._graph import NOWHERE, Graph
from ._implies import forget
from ._interrupt import InterruptFlag
from ._judging import Judge
from ._language import Snapshot, Spec
from ._liveness import CLOSED
from ._memory import grown_by, resident
from ._model import Model, Move, check_core
from ._rules import NO_ACTION_FAILS, OF_STATES
from ._unfolded import Unfolded

#: Seconds that the question about behaviours may take after a search that was cut off.
GRACE = 0.5


class Search:
    """One search; `findings` keeps the first counterexample of each property."""

    judge_type: ClassVar[type[Judge]] = Judge

    def __init__(
        self,
        model: Model,
        budget: Budget,
        on_progress: Callable[[Progress], None] | None = None,
        built_in: Collection[str] = OF_STATES,
        audit: bool = True,
        answers_only: bool = False,
    ) -> None:
        self.model = model
        self.budget = budget
        self.on_progress = on_progress
        self.judge = self.judge_type(model, built_in, answers_only)
        self.transitions = 0
        self.stopped_by: str | None = None
        self.not_asked: str | None = None
        """The error in the first state of which nothing tells the moves, if there is one."""
        self.out_of_depth = False
        self.graph = Graph(model.fields, bool(self.judge.temporal), model.symmetry)
        self._audit = Audit(model) if audit else None
        self._started = time.perf_counter()
        self._memory = resident()
        self._live_checked = 0
        self._unfolded: Unfolded | None = None
        self.helpers: Helpers | None = None
        """The processes that take moves ahead of this search, if any may."""

    @property
    def findings(self) -> dict[str, Finding]:
        """What refutes each property that is refuted."""
        return self.judge.findings

    @property
    def complete(self) -> bool:
        """True if every state was seen and every move taken."""
        seen = self.graph.expanded == len(self.graph.states)
        return seen and not self.stopped_by and not self.not_asked

    def run(self) -> None:
        """Search until everything is seen, every property is refuted, or the budget is spent."""
        budget, pulse = self.budget, self.model.pulse
        why_late = f"the bound of {budget.seconds:g} seconds" if budget.seconds is not None else ""
        if budget.seconds is not None:
            pulse.deadline, pulse.why_late = self._started + budget.seconds, why_late
        pulse.most = budget.max_states
        forget()
        try:
            with InterruptFlag(budget.seconds, why_late, ends_code=True) as interrupted:
                pulse.interrupted = interrupted
                self._search()
                if self.stopped_by:
                    pulse.grace(GRACE)
                self._judge_behaviours()
        except Stopped as stop:
            self.stopped_by = self.stopped_by or str(stop)
        if self._audit and self.complete:
            self._audit.finish()
            if self.model.symmetry:
                self.model.symmetry.check_met()
        self._report()

    def _search(self) -> None:
        graph, judge = self.graph, self.judge
        try:
            first, symmetry = self.model.snapshot(), self.model.symmetry
            if symmetry:
                symmetry.check_first(first, self.model.shown_state)
            self.add(first, NOWHERE, NOWHERE)
            judge.begin()
            while judge.open and graph.expanded < len(graph.states):
                if graph.expanded == graph.levels[-1] and not self._enter_level():
                    break
                self.model.pulse.beat()
                if graph.expanded % 64 == 0:
                    self._report()
                self._next(graph.expanded)
        except Stopped as stop:
            self.stopped_by = str(stop)
            self._forget_half()

    def progress(self) -> Progress:
        """Return how far the search has come."""
        graph = self.graph
        return Progress(
            len(graph.states), graph.expanded, self.transitions, graph.depth(), self.seconds()
        )

    def seconds(self) -> float:
        """Return how long the search has been running."""
        return time.perf_counter() - self._started

    def bytes_per_state(self) -> float:
        """Return the memory that the search takes, divided by the number of states.

        Of a large search what the operating system has given for it, as far as that was not there already; at
        least what the search's own structures take.
        """
        counted = self.graph.bytes_per_state()
        return grown_by(counted, len(self.graph.states), self._memory)

    def _enter_level(self) -> bool:
        """Note that a new depth begins; False if it is beyond the budget."""
        graph, deepest = self.graph, self.budget.max_depth
        # Only where that could end the search; twice as many states each time, so that looking
        # again costs less than the search.
        if self.judge.only_temporal() and graph.expanded >= 2 * self._live_checked:
            self._live_checked = max(graph.expanded, 32)
            self._judge_behaviours()
        if deepest is not None and len(graph.levels) - 1 > deepest:
            self.out_of_depth = True
            self.stopped_by = f"the bound of {deepest} steps"
            return False
        graph.levels.append(len(graph.states))
        return bool(self.judge.open)

    def _judge_behaviours(self) -> None:
        self.judge.behaviours(self.graph)

    def _forget_half(self) -> None:
        """Take back what is known of a state whose moves were not all taken."""
        graph = self.graph
        for marks in self.judge.marks:
            del marks[graph.expanded :]
        if graph.edges:
            del graph.edges.first[graph.expanded + 1 :]
            del graph.edges.label[graph.edges.first[-1] :]
            del graph.edges.target[graph.edges.first[-1] :]
            del graph.edges.turn[graph.edges.first[-1] :]

    def _report(self) -> None:
        if self.on_progress:
            self.on_progress(self.progress())

    def _next(self, number: int) -> None:
        """Take the moves of the next state, or enter what has come of them elsewhere."""
        taken = self.helpers.taken(self, number) if self.helpers else None
        if taken and not (self._audit and number >= self._audit.next):
            enter(self, taken)
        else:
            self.expand(number)

    def expand(self, number: int) -> None:
        """Take the moves of a state."""
        model, graph, judge = self.model, self.graph, self.judge
        snapshot = graph.states[number]
        if self._audit and number >= self._audit.next:
            self._audit.look(number, snapshot)
        model.restore(model.live, snapshot)
        judge.mark(number)
        try:
            moves = model.enabled()
        except SpecError:
            raise
        except ANY_ERROR as error:
            detail = f"asking which actions are possible raised {error_text(error)}"
            judge.refute(Finding(NO_ACTION_FAILS, number, detail))
            at = model.shown_state(snapshot)
            self.not_asked = (
                self.not_asked or f"{error_text(error)} in a `when` or a domain at {at}"
            )
            moves = []
            for marks in judge.marks:
                marks[number] = CLOSED
        else:
            judge.stuck(number, not moves)
        self._check_unchanged(model.live, snapshot, "a property, a domain or a `when`")
        if judge.steps:
            model.restore(model.before, snapshot)
            judge.enter(model.before)
        self._take(number, snapshot, moves)
        if judge.steps:
            self._check_unchanged(model.before, snapshot, "a step property, through `before`,")
        if len(model.live.__dict__) != len(model.fields):
            raise self._stray_attribute()
        for core, attributes in model.told_by_fields:
            if len(core.__dict__) != attributes:
                check_core(core)
        if graph.edges:
            graph.edges.first.append(len(graph.edges.label))
        graph.expanded += 1

    def _take(self, number: int, snapshot: Snapshot, moves: list[Move]) -> None:
        """Take every move of a state. This is the inner loop: nothing is looked up twice here."""
        model, graph, judge, beat = self.model, self.graph, self.judge, self.model.pulse.beat
        live, before = model.live, model.before
        restore, take = model.restore, model.raw_snapshot
        canonical, known, edges = model.reduced, graph.find, graph.edges
        target: int | None
        as_stored = True  # the live spec, until the first move
        for move in moves:
            run, arguments, label, _ = move
            if not as_stored:
                restore(live, snapshot)
            as_stored = False
            if not self.transitions & 31:
                beat()
            try:
                run(live, *arguments)
                after = take(live)
            except SpecError:
                raise
            except ANY_ERROR as error:
                judge.refute(Finding(NO_ACTION_FAILS, number, f"raised {error_text(error)}", move))
                target = NOWHERE
            else:
                if canonical:
                    after = canonical(after)
                try:
                    target = known(after)
                except TypeError:
                    self._check_fields(after)
                    raise
                self.transitions += 1
                if not judge.all_hold(live, before):
                    judge.step(number, move)
                if target is None:
                    target = self.add(after, number, label)
            if edges:
                edges.add(label, target)

    def view(self) -> Graph | Unfolded:
        """Return all states, also those for which others stand; once the search is over."""
        model, graph = self.model, self.graph
        if model.symmetry and self._unfolded is None:
            self._unfolded = Unfolded(graph, model, model.symmetry)
        return self._unfolded or graph

    def add(self, snapshot: Snapshot, parent: int, label: int, *, judged: bool = False) -> int:
        """Store a new state and judge it, unless that was done elsewhere."""
        model, graph, most = self.model, self.graph, self.budget.max_states
        if model.canonical and not judged and model.canonical(snapshot) != snapshot:
            raise SpecError(
                "canonical must map a representative to itself, and maps "
                f"{model.shown_state(snapshot)} to {model.shown_state(model.canonical(snapshot))}"
            )
        number = graph.add(snapshot, parent, label)
        if self.judge.invariants and not judged:
            stored = graph.states[number]
            model.restore(model.live, stored)
            self.judge.state(number)
            self._check_unchanged(model.live, stored, "an invariant")
        if most is not None and number >= most:
            raise Stopped(f"the bound of {most:,} states")
        return number

    def _check_unchanged(self, spec: Spec, snapshot: Snapshot, who: str) -> None:
        model = self.model
        found = model.raw_snapshot(spec)
        if found != snapshot:
            raise SpecError(
                f"only an action may change the state, and {who} changed "
                f"{model.shown_state(snapshot)} to {model.shown_state(found)}; "
                "or restore() of a field does not bring back what snapshot() gave"
            )

    def _stray_attribute(self) -> SpecError:
        stray = sorted({*self.model.live.__dict__} - {*self.model.fields})
        return SpecError(
            f"an action assigned {', '.join(stray)}, which is not part of the state, so the "
            f"search would forget it; declare it: {stray[0]} = start(...)"
        )

    def _check_fields(self, snapshot: Snapshot) -> None:
        for name, value in zip(self.model.fields, snapshot, strict=True):
            self.model.check_field(name, value)

"""The breadth-first search over all states of a spec, and where its time goes.

One state is expanded at a time: restore it, judge it, ask which moves it allows, then for each
move restore, act, take a snapshot, judge the transition. A state that refutes a property is
expanded like any other, so that the search judges the other properties as well. Whatever
the user's functions do to the live spec is undone by the next restore; that judging and asking do
not change the state is verified by one snapshot per state.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from ._budget import INTERRUPTED, Budget, Progress
from ._errors import SpecError
from ._finding import Finding, error_text
from ._graph import NOWHERE, Graph
from ._interrupt import InterruptFlag
from ._language import TEMPORAL, Snapshot
from ._liveness import CLOSED, NEITHER, TRIGGER, find_lasso
from ._model import NO_ACTION_FAILS, Model, Move, Property, check_core, check_value


class Search:
    """One search; `findings` keeps the first counterexample of each property."""

    def __init__(
        self,
        model: Model,
        budget: Budget,
        on_progress: Callable[[Progress], None] | None = None,
        watch_actions: bool = True,
    ) -> None:
        self.model = model
        self.budget = budget
        self.on_progress = on_progress
        self.findings: dict[str, Finding] = {}
        self.transitions = 0
        self.stopped_by: str | None = None
        self.out_of_depth = False
        self.temporal = [one for one in model.properties if one.kind in TEMPORAL]
        self.marks = [bytearray() for _ in self.temporal]
        self.graph = Graph(model.fields, keep_edges=bool(self.temporal))
        self._invariants = [one for one in model.properties if one.kind == "invariant"]
        self._steps = [one for one in model.properties if one.kind == "step"]
        self._open = {one.name for one in model.properties}
        if watch_actions:
            self._open.add(NO_ACTION_FAILS)
        self._started = time.perf_counter()
        self._live_checked = 0

    def run(self) -> None:
        """Search until everything is seen, every property is refuted, or the budget is spent."""
        graph = self.graph
        graph.add(self.model.snapshot(), NOWHERE, NOWHERE)
        with InterruptFlag() as interrupted:
            while self._open:
                if graph.expanded == len(graph.states):
                    break
                if graph.expanded == graph.levels[-1] and not self._enter_level():
                    break
                self.stopped_by = self._spent(interrupted)
                if self.stopped_by:
                    break
                self._expand(graph.expanded)
        self._judge_behaviours()
        self._report()

    def progress(self) -> Progress:
        """Return how far the search has come."""
        graph = self.graph
        return Progress(
            len(graph.states), graph.expanded, self.transitions, graph.depth(), self.seconds()
        )

    def seconds(self) -> float:
        """Return how long the search has been running."""
        return time.perf_counter() - self._started

    def _enter_level(self) -> bool:
        """Note that a new depth begins; False if it is beyond the budget."""
        graph, deepest = self.graph, self.budget.max_depth
        # Only where that could end the search; twice as many states each time, so that looking
        # again costs less than the search.
        temporal = {one.name for one in self.temporal}
        if self._open <= temporal and graph.expanded >= 2 * self._live_checked:
            self._live_checked = max(graph.expanded, 32)
            self._judge_behaviours()
        if deepest is not None and len(graph.levels) - 1 > deepest:
            self.out_of_depth = True
            self.stopped_by = f"the bound of {deepest} steps"
            return False
        graph.levels.append(len(graph.states))
        return bool(self._open)

    def _spent(self, interrupted: InterruptFlag) -> str | None:
        budget = self.budget
        if interrupted:
            return INTERRUPTED
        if budget.max_states is not None and len(self.graph.states) > budget.max_states:
            return f"the bound of {budget.max_states:,} states"
        if self.graph.expanded % 64 == 0:
            self._report()
            if budget.seconds is not None and self.seconds() >= budget.seconds:
                return f"the bound of {budget.seconds:g} seconds"
        return None

    def _report(self) -> None:
        if self.on_progress:
            self.on_progress(self.progress())

    def _expand(self, number: int) -> None:
        model, graph = self.model, self.graph
        snapshot = graph.states[number]
        model.restore(model.live, snapshot)
        for one in self._invariants:
            self._judge(one, number, None)
        for one, marks in zip(self.temporal, self.marks, strict=True):
            marks.append(self._mark(one, number))
        try:
            moves = model.enabled()
        except SpecError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, it is the finding
            detail = f"asking which actions are possible raised {error_text(error)}"
            self._refute(Finding(NO_ACTION_FAILS, number, detail))
            moves = []
            for marks in self.marks:
                marks[number] = CLOSED
        self._check_unchanged(model.live, snapshot, "a property, a domain or a `when`")
        if self._steps:
            model.restore(model.before, snapshot)
        self._take(number, snapshot, moves)
        if self._steps:
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
        model, graph, steps = self.model, self.graph, self._steps
        live, before = model.live, model.before
        restore, take = model.restore, model.raw_snapshot
        canonical, known, edges = model.canonical, graph.index.get, graph.edges
        target: int | None
        as_stored = True  # the live spec, until the first move
        for move in moves:
            run, arguments, label, _ = move
            if not as_stored:
                restore(live, snapshot)
            as_stored = False
            try:
                run(live, *arguments)
                after = take(live)
            except Exception as error:  # noqa: BLE001 - whatever it is, it is the finding
                self._refute(Finding(NO_ACTION_FAILS, number, f"raised {error_text(error)}", move))
                target = NOWHERE
            else:
                if canonical:
                    after = canonical(after)
                try:
                    target = known(after)
                except TypeError:
                    self._check_fields(after)
                    raise
                if target is None:
                    target = self._add(after, number, label)
                self.transitions += 1
                if steps and not _all_hold(steps, live, before):
                    for one in steps:
                        self._judge(one, number, move)
            if edges:
                edges.label.append(label)
                edges.target.append(target)

    def _add(self, snapshot: Snapshot, parent: int, label: int) -> int:
        if self.model.canonical and self.model.canonical(snapshot) != snapshot:
            raise SpecError(
                "canonical must map a representative to itself, and maps "
                f"{self._shown(snapshot)} to {self._shown(self.model.canonical(snapshot))}"
            )
        return self.graph.add(snapshot, parent, label)

    def _judge(self, one: Property, number: int, move: Move | None) -> None:
        model = self.model
        try:
            held = one.judge(model.live) if move is None else one.judge(model.live, model.before)
        except AssertionError as error:
            return self._refute(Finding(one.name, number, str(error), move))
        except SpecError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, it is the finding
            return self._refute(Finding(one.name, number, f"raised {error_text(error)}", move))
        if held is True:
            return None
        if held is False:
            return self._refute(Finding(one.name, number, "", move))
        if held is None and one.asserts:
            return None
        raise SpecError(
            f"@{one.kind} {one.name} must return True or False, or consist of assert statements "
            f"(which python -O removes); it returned {held!r}"
        )

    def _mark(self, one: Property, number: int) -> int:
        try:
            pair = one.judge(self.model.live, *one.arguments)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is the finding
            self._refute(Finding(one.name, number, f"raised {error_text(error)}"))
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

    def _refute(self, finding: Finding) -> None:
        name = finding.property
        if name in self._open:
            self._open.discard(name)
            self.findings[name] = finding
            # New lists: a caller may be walking over the old ones.
            self._invariants = [one for one in self._invariants if one.name != name]
            self._steps = [one for one in self._steps if one.name != name]

    def _judge_behaviours(self) -> None:
        """Look for fair behaviours that refute a property of them among the states expanded so far."""
        graph = self.graph
        if graph.edges is None:
            return
        levels = [first for first in graph.levels if first < graph.expanded]
        found: dict[str, list[Finding]] = {}
        fair = self.model.fairness()
        for one, marks in zip(self.temporal, self.marks, strict=True):
            if one.name in self._open:
                lasso = find_lasso(graph.edges, marks, fair, levels)
                if lasso:
                    named = ", ".join(map(repr, one.arguments))
                    detail = f"for {named}" if named else ""
                    finding = Finding(one.name, lasso.trigger, detail, lasso=lasso)
                    found.setdefault(one.name, []).append(finding)
        for findings in found.values():
            self._refute(min(findings, key=self._length))

    def _length(self, finding: Finding) -> int:
        assert finding.lasso is not None
        way_in = len(self.graph.path(finding.state)) + len(finding.lasso.stem)
        return way_in + len(finding.lasso.cycle)

    def _check_unchanged(self, spec: Any, snapshot: Snapshot, who: str) -> None:
        found = self.model.raw_snapshot(spec)
        if found != snapshot:
            raise SpecError(
                f"only an action may change the state, and {who} changed "
                f"{self._shown(snapshot)} to {self._shown(found)}; "
                "or restore() of a field does not bring back what snapshot() gave"
            )

    def _shown(self, snapshot: Snapshot) -> str:
        return ", ".join(f"{n}={v!r}" for n, v in zip(self.model.fields, snapshot, strict=True))

    def _stray_attribute(self) -> SpecError:
        stray = sorted({*self.model.live.__dict__} - {*self.model.fields})
        return SpecError(
            f"an action assigned {', '.join(stray)}, which is not part of the state, so the "
            f"search would forget it; declare it: {stray[0]} = start(...)"
        )

    def _check_fields(self, snapshot: Snapshot) -> None:
        for name, value in zip(self.model.fields, snapshot, strict=True):
            check_value(value, f"field {name!r}")


def _all_hold(properties: list[Property], live: Any, before: Any) -> bool:
    """Tell quickly whether all is well; if not, each property is judged again on its own."""
    try:
        for _, _, judge, _, asserts in properties:
            if judge(live, before) is not (None if asserts else True):
                return False
    except Exception:  # noqa: BLE001 - the second look finds it
        return False
    return True

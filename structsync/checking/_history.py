"""Random walks of a spec that is never restored: what an index remembers over many steps.

The search restores a core before each step, and restoring builds anew what is derived from the state: an index, a
heap, the set of waiters. So the search sees one step of their upkeep, never many in a row. A walk sees
many: it drives one core from the first state on, and beside it, for each single step, another one that was restored
to the same state. Both must allow the same moves and get to the same state; and each step property must hold
of the one that remembers.

A walk leaves out half of the actions (swarm testing, Groce and others 2012), so that something is never closed, say.
It prefers some moves to others, and others after a while: a task that comes and goes all the time, then one
release after the other. What it finds is made shorter by leaving out steps.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from structsync.report import Counterexample

from ._budget import Stopped
from ._errors import ANY_ERROR
from ._finding import error_text
from ._judging import compiled, refinements_of, steps_of
from ._language import Snapshot, Spec
from ._model import Model, Move, Property
from ._rules import BUILT_IN, NO_HIDDEN_HISTORY
from ._trace import described, step_of
from ._values import has_identity

STEPS = 2_000  # of all walks of a spec together
# The most steps of the first walk, and of each after it: so there are several beginnings.
LONG, SHORT = 1_000, 100
IDLE = 20  # after so many steps that change nothing, another walk begins
REPLAYS = 300  # by which what was found is made shorter

LEFT_OUT = 0.5  # how likely an action is left out of a walk, as long as another one is possible
PHASE = 50  # so many steps on average a walk prefers the same moves

#: How much more often one move is taken than another: from a hundredth to ten times.
RARE, OFTEN = -2.0, 1.0


class History:
    """The walks of one spec; what refutes it is `refuted`, with the way there.

    Args:
        model: the spec.
        steps: the step properties that are not refuted.
        states: all states, to see what of them `canonical` forgets after each step.
        total: how many steps to take.
    """

    def __init__(
        self,
        model: Model,
        steps: Sequence[Property],
        states: Sequence[Snapshot],
        total: int = STEPS,
    ) -> None:
        self.model = model
        self._forgotten = _forgotten(model, states)
        self.taken = 0
        self.refuted = ""
        self.stopped_by = ""
        self.way: list[Move] = []
        self._total = total
        self._refinements = refinements_of(model)
        open_steps = {one.name for one in steps}
        self._steps = [one for one in steps_of(model, self._refinements) if one.name in open_steps]
        self._all_hold: Callable[[Any, Any], bool] = compiled(self._steps)
        self._random = Random(0)
        self._twin = model.fresh()

    def run(self) -> None:
        """Walk until something is refuted, or enough steps were taken."""
        try:
            while self.taken < self._total and not self.refuted:
                taken = self.taken
                self._walk(SHORT if taken else LONG)
                if self.taken == taken:  # the first state allows no step
                    return
            if self.refuted:
                self._shorten()
        except Stopped as stop:
            self.stopped_by = str(stop)

    def _walk(self, longest: int) -> None:
        model, draw, live = self.model, self._random, self.model.fresh()
        left_out = {action.name for action in model.actions if draw.random() < LEFT_OUT}
        weights = _Weights(draw)
        self.way = []
        idle, state = 0, model.snapshot_of(live)
        while self.taken < self._total and len(self.way) < longest and idle < IDLE:
            model.pulse.beat()
            moves = self._moves(live)
            if not moves:
                return
            some = [one for one in moves if one.action.name not in left_out] or moves
            move = weights.drawn(some)
            self.way.append(move)
            self.taken += 1
            why = self._take(live, move, moves)
            if why is not None:
                self.refuted = why
                return
            before, state = state, model.snapshot_of(live)
            idle = idle + 1 if state == before else 0

    def _moves(self, live: Spec) -> list[Move]:
        try:
            return self.model.enabled_in(live)
        except ANY_ERROR:  # the search says it; or _take, where the other one answers
            return []

    def _take(self, live: Spec, move: Move, moves: Sequence[Move]) -> str | None:
        """Take a move on the spec that remembers, and on one that was restored; return how they differ.

        An empty text says that the walk ends here.
        """
        model = self.model
        before = model.raw_snapshot(live)
        if self._steps:
            model.restore(model.before, before)
            for one in self._refinements.values():
                one.enter(model.before)
        ours = self._outcome(live, move)
        if not has_identity(before) and not has_identity(ours):
            theirs = self._restored(before, move, moves)
            if ours != theirs:
                return f"{self._shown(ours)}; once it was restored, {self._shown(theirs)}"
        if isinstance(ours, str):
            return ""
        if not self._all_hold(live, model.before):
            names = ", ".join(one.name for one in self._steps if not self._holds(one, live))
            return f"{names} is not true of the last step"
        vars(live).update(self._forgotten)
        return None

    def _restored(self, before: Snapshot, move: Move, moves: Sequence[Move]) -> Snapshot | str:
        """Return the same of a spec that is restored to the state before, or which moves it allows instead."""
        self.model.restore(self._twin, before)
        allowed = self._moves(self._twin)
        if {one.label for one in allowed} != {one.label for one in moves}:
            possible = ", ".join(map(self.model.shown, allowed)) or "nothing"
            return f"{possible} was possible instead of {', '.join(map(self.model.shown, moves))}"
        return self._outcome(self._twin, move)

    def _outcome(self, spec: Spec, move: Move) -> Snapshot | str:
        model = self.model
        try:
            move.run(spec, *move.arguments)
        except ANY_ERROR as error:
            return f"{model.shown(move)} raised {error_text(error)}"
        return model.snapshot_of(spec)

    def _holds(self, one: Property, live: Spec) -> bool:
        return compiled([one])(live, self.model.before)

    def _shown(self, outcome: Snapshot | str) -> str:
        if isinstance(outcome, str):
            return outcome
        return f"the last step leads to {self.model.shown_state(outcome)}"

    # ==== What was found, made shorter ====

    def _shorten(self) -> None:
        """Leave out parts of the way, large ones first, as long as something is refuted still."""
        size = len(self.way) // 2
        replays = 0
        while size and replays < REPLAYS:
            at = 0
            while at < len(self.way) and replays < REPLAYS:
                shorter = self.way[:at] + self.way[at + size :]
                replays += 1
                why, way = self._replayed(shorter)
                if why:
                    self.refuted, self.way = why, way
                else:
                    at += size
            size //= 2

    def _replayed(self, way: Sequence[Move]) -> tuple[str | None, list[Move]]:
        live, taken = self.model.fresh(), list[Move]()
        for move in way:
            self.model.pulse.beat()
            moves = self._moves(live)
            if move in moves:
                taken.append(move)
                why = self._take(live, move, moves)
                if why is not None:
                    return why, taken
        return None, taken

    def counterexample(self, spec_name: str) -> Counterexample:
        """Return the way to what was found, with the state after each step."""
        live = self.model.fresh()
        start, steps = described(live), []
        for move in self.way:
            self._outcome(live, move)
            steps.append(step_of(self.model, move, described(live), ""))
            vars(live).update(self._forgotten)
        return Counterexample(
            spec=spec_name,
            refuted=NO_HIDDEN_HISTORY,
            kind="built-in",
            start=start,
            steps=tuple(steps),
            claim=BUILT_IN[NO_HIDDEN_HISTORY],
            detail=self.refuted,
        )


class _Weights:
    """How much a walk prefers each action to others, and each of its moves to its others, for a while."""

    def __init__(self, draw: Random) -> None:
        self._draw = draw
        self._of_actions: defaultdict[str, float] = defaultdict(self._drawn_weight)
        self._of_moves: defaultdict[int, float] = defaultdict(self._drawn_weight)

    def _drawn_weight(self) -> float:
        return 10 ** self._draw.uniform(RARE, OFTEN)

    def drawn(self, moves: Sequence[Move]) -> Move:
        """Draw an action first, so that one with many moves is not taken more often for that, and a move of it."""
        if self._draw.random() < 1 / PHASE:
            self._of_actions.clear()
            self._of_moves.clear()
        actions = list(dict.fromkeys(one.action.name for one in moves))
        (name,) = self._draw.choices(actions, [self._of_actions[one] for one in actions])
        its = [one for one in moves if one.action.name == name]
        (move,) = self._draw.choices(its, [self._of_moves[one.label] for one in its])
        return move


def _forgotten(model: Model, states: Sequence[Snapshot]) -> dict[str, Any]:
    """Return the fields that say what a step did, with the one value that they have between steps.

    Which these are is declared, or seen in the states of the search. Where nothing but the walks is judged, there
    was no search that could show it.
    """
    first, searched = states[0], len(states) > 1
    declared = {n for owner in model.spec_class.__mro__ for n in vars(owner).get("forgets", ())}
    return {
        name: first[at]
        for at, name in enumerate(model.fields)
        if name not in model.cores
        # where names are exchanged, one state stands for many
        if name in declared
        or (searched and not model.symmetry and all(one[at] == first[at] for one in states))
    }

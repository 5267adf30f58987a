"""Do states that `canonical` merges have the same future?

Checked for some states that are merged with another one: what each of the two may become by its next moves, and
several moves further on.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

from ._compiled import compile_forgetting
from ._declaration import TEMPORAL
from ._errors import ANY_ERROR, SpecError
from ._finding import error_text
from ._judging import refinements_of
from ._language import Snapshot, Spec
from ._model import Model, Property
from ._rules import STEPS

ON_A_WAY = 4  # moves in a row that are taken without merging

Successor = tuple[str, Hashable]
Restore = Callable[[Spec, Snapshot], None]


class Merging:
    """What `canonical` does to the states of a spec; raises a SpecError where it merges too much."""

    def __init__(self, model: Model, restore: Restore) -> None:
        assert model.canonical is not None, "else nothing is merged"
        self._model = model
        self._canonical = model.canonical
        self._restore = restore
        self._refinements = refinements_of(model)

    def check(self, merged: Sequence[Snapshot]) -> None:
        """Compare states that canonical changes with what it makes of them."""
        for raw in merged:
            self._same_future(raw, self._canonical(raw))
        if merged and type(self._model.live).canonical is not Spec.canonical:
            self._same_futures_on_a_way(merged[0])

    def _same_future(self, raw: Snapshot, merged: Snapshot) -> None:
        """Compare what may follow two states that canonical calls one."""
        self._same_images(raw, merged)
        ours, theirs = self._future(raw), self._future(merged)
        temporal = any(one.kind in TEMPORAL for one in self._model.properties)
        if {state for _, state in ours} != {state for _, state in theirs}:
            raise SpecError(
                "canonical merges states with different futures: "
                f"{self._model.shown_state(merged)} can become "
                f"{self._only(theirs, ours) or self._only(ours, theirs)}, which the state that is "
                "merged with it cannot, or the other way round; it may forget only what decides "
                "nothing"
            )
        if temporal and ours != theirs:
            raise SpecError(
                "canonical permutes names, and a leads_to follows each name through a whole "
                "behaviour, where they must not be exchanged; write symmetric = names instead of "
                "it, or leave leads_to to a spec without canonical"
            )

    def _same_futures_on_a_way(self, raw: Snapshot) -> None:
        """Compare the same after several moves in a row, between which canonical merges nothing.

        What it forgets may add up: a counter that is 1 in every state that is looked at.
        """
        model, live = self._model, self._model.live
        forget = compile_forgetting(live, model.fields) or tuple
        for number in range(ON_A_WAY):
            self._restore(live, forget(raw))
            moves = model.enabled_in(live)
            if not moves:
                return
            move = moves[number % len(moves)]
            try:
                move.run(live, *move.arguments)
            except ANY_ERROR:  # told where the search meets it
                return
            raw = model.raw_snapshot(live)
            self._same_future(raw, self._canonical(raw))

    def _same_images(self, raw: Snapshot, merged: Snapshot) -> None:
        """Compare what two states that canonical calls one stand for."""
        live = self._model.live
        for one in self._refinements.values():
            self._restore(live, raw)
            ours = one.remembered(live)
            self._restore(live, merged)
            theirs = one.remembered(live)
            if ours != theirs:
                raise SpecError(
                    f"@refines {one.name} maps a state to {ours!r}, and once canonical has forgotten "
                    f"what the step did, to {theirs!r}; map what is left of it, and let the canonical "
                    "of the abstract specification forget the rest"
                )

    def _future(self, snapshot: Snapshot) -> set[Successor]:
        model, live = self._model, self._model.live
        found: set[Successor] = set()
        self._restore(live, snapshot)
        found.update(
            (one.name, repr(answer_of(one, live)))
            for one in (*model.properties, *model.terminals)
            if one.kind not in STEPS
            if not one.arguments
        )
        for move in model.enabled_in(live):
            self._restore(live, snapshot)
            try:
                move.run(live, *move.arguments)
            except ANY_ERROR as error:
                found.add((model.shown(move), f"raised {error_text(error)}"))
            else:
                found.add((model.shown(move), self._canonical(model.raw_snapshot(live))))
        return found

    def _only(self, one: set[Successor], other: set[Successor]) -> str:
        left = sorted(call for call, state in one if state not in {state for _, state in other})
        return f"what {left[0]} leads to" if left else ""


def answer_of(one: Property, spec: Spec) -> object:
    """Return what a property says of a spec, or what it raises."""
    try:
        return one.judge(spec, *one.arguments)
    except SpecError:
        raise
    except ANY_ERROR as error:
        return f"raised {type(error).__name__}"

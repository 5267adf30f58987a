"""Is the specification what it says: nothing but its declared state, and always the same answers?

At the first states, and then at fewer and fewer, everything is done twice: on the live spec, and on
a new one that was never anything else, whose sets are iterated the other way round. Both must be
alike to the last attribute, allow the same moves, get to the same states and give the same answers;
and nothing outside may have changed. What `canonical` merges must have the same future.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

from ._compiled import compile_forgetting
from ._declaration import TEMPORAL
from ._errors import ANY_ERROR, SpecError
from ._exchanged import check_exchanges
from ._finding import error_text
from ._forgotten import trap_of
from ._image import difference, image_of, parts_of, shared_parts
from ._judging import refinements_of
from ._language import Snapshot, Spec
from ._model import Model, Move, Property
from ._reach import Surroundings
from ._rules import STEPS
from ._values import alike, changeable_parts, has_identity, turned

FIRST = 6  # states that are all looked at
RARER = 1.6  # after them, the next one has a number larger by this factor
MERGES = 3  # merged successors looked at of each of these states
ON_A_WAY = 4  # moves in a row that are taken without merging

Successor = tuple[str, Hashable]


class Audit:
    """Looks at some states of a search; raises a SpecError for what the search must not meet."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.next = 0
        self._refinements = refinements_of(model)
        self._surroundings = Surroundings(model.spec_class, model.factories())
        self._trap = trap_of(model)
        self._watched: dict[int, tuple[object, Any]] = {}
        self._shared = shared_parts(_cores(model, model.live), _cores(model, model.before))
        self._shared_at_first = image_of(self._shared)

    def look(self, number: int, snapshot: Snapshot) -> None:
        """Take all moves of a state twice, and compare."""
        self.next = number + 1 if number < FIRST else int(number * RARER)
        self._watch(snapshot)
        self._same_object(snapshot)
        moves = self._same_moves(snapshot)
        raw = [one for move in moves if (one := self._same_successor(snapshot, move)) is not None]
        self._same_answers(snapshot)
        if self.model.canonical:
            for merged in raw[:MERGES]:
                self._same_future(merged, self.model.canonical(merged))
            if raw and type(self.model.live).canonical is not Spec.canonical:
                self._same_futures_on_a_way(raw[0])
        if self._trap and not has_identity(snapshot):
            self._trap.check(snapshot)
        if self.model.symmetry:
            check_exchanges(self.model, self.model.symmetry, snapshot)
        self.finish()
        self.model.restore(self.model.live, snapshot)

    def finish(self) -> None:
        """Look at what is outside of the state; once more when the search is over."""
        changed = self._surroundings.change()
        if changed:
            where, before, after = changed
            raise SpecError(
                f"only what start(...) declares is state, and {where} changed from {before} to "
                f"{after} during the search, which neither restores it nor tells states apart by "
                "it; make it a field: name = start(...)"
            )
        self._watched_are_unchanged()

    # ==== The parts ====

    def _watch(self, snapshot: Snapshot) -> None:
        for part in changeable_parts(snapshot):
            if id(part) not in self._watched:
                self._watched[id(part)] = (part, image_of({type(part).__name__: part}))

    def _watched_are_unchanged(self) -> None:
        for part, before in self._watched.values():
            self._compare_part(part, before)

    def _compare_part(self, part: object, before: Any) -> None:
        changed = difference(before, image_of({type(part).__name__: part}))
        if changed:
            raise SpecError(
                f"a state consists of immutable values, and {changed[0]} was changed in place "
                f"from {changed[1]} to {changed[2]}, in all states at once; put a new object in "
                "its place: a frozen dataclass, and dataclasses.replace(...)"
            )

    def _shared_are_unchanged(self, move: Move) -> None:
        changed = difference(self._shared_at_first, image_of(self._shared))
        if changed:
            where, before, after = changed
            raise SpecError(
                f"a state shares nothing that changes with another one, and {self.model.shown(move)} "
                f"changed {where}, which is one object in all of them, from {before} to {after}; let "
                "the factory make it anew each time: start(lambda: ...)"
            )

    def _restore(self, spec: Spec, snapshot: Snapshot, given: Snapshot | None = None) -> None:
        model = self.model
        model.restore(spec, given or snapshot)
        found = model.raw_snapshot(spec)
        if found != snapshot:
            raise SpecError(
                "restore() of a field does not bring back what snapshot() gave: "
                f"{model.shown_state(snapshot)} comes back as {model.shown_state(found)}"
            )

    def _twin(self, snapshot: Snapshot) -> Spec:
        # An object that is equal to itself alone belongs to the spec that made it.
        twin = self.model.live if has_identity(snapshot) else self.model.fresh()
        self._restore(twin, snapshot, turned(snapshot))
        return twin

    def _same_object(self, snapshot: Snapshot) -> None:
        if has_identity(snapshot):
            return
        model, live, twin = self.model, self.model.live, self.model.fresh()
        self._restore(live, snapshot)
        model.restore(twin, snapshot)
        for name in model.cores:
            one, other = vars(live)[name], vars(twin)[name]
            changed = difference(image_of(parts_of(name, one)), image_of(parts_of(name, other)))
            if changed:
                where, here, there = changed
                raise SpecError(
                    f"{where} is {here} after restore(), and {there} in a new object after the "
                    "same restore(): it is state that snapshot() and restore() forget; "
                    "let them include it (an Arbiter: annotate the attribute in the class)"
                )

    def _same_moves(self, snapshot: Snapshot) -> list[Move]:
        model, twin = self.model, self._twin(snapshot)
        self._restore(model.live, snapshot)
        ours, theirs = _asked(model, model.live), _asked(model, twin)
        if isinstance(ours, str) or isinstance(theirs, str):
            if ours != theirs:
                raise self._differs("asking which actions are possible", snapshot, ours, theirs)
            return []
        if sorted(m.label for m in ours) != sorted(m.label for m in theirs):
            raise self._differs("the possible actions", snapshot, _calls(ours), _calls(theirs))
        return ours

    def _same_successor(self, snapshot: Snapshot, move: Move) -> Snapshot | None:
        """Take a move twice; return the state after it if canonical changes that."""
        model, live = self.model, self.model.live
        self._restore(live, snapshot)
        ours = self._outcome(live, move)
        self._watched_are_unchanged()
        self._shared_are_unchanged(move)
        theirs = self._outcome(self._twin(snapshot), move)
        if ours[0] != theirs[0]:
            raise self._differs(model.shown(move), snapshot, ours[1], theirs[1])
        return ours[2]

    def _outcome(self, spec: Spec, move: Move) -> tuple[Any, str, Snapshot | None]:
        model = self.model
        try:
            move.run(spec, *move.arguments)
        except ANY_ERROR as error:
            return type(error), f"raised {error_text(error)}", None
        finally:
            model.pulse.beat()
        raw = model.raw_snapshot(spec)
        after = model.canonical(raw) if model.canonical else raw
        try:
            for name, value in zip(model.fields, after, strict=True):
                model.check_field(name, value)
        except (SpecError, TypeError):  # the search says it, where it meets it
            return SpecError, "what is no state", None
        merged = model.canonical is not None and raw != after
        return alike(after), model.shown_state(after), raw if merged else None

    def _same_answers(self, snapshot: Snapshot) -> None:
        model, live, twin = self.model, self.model.live, self._twin(snapshot)
        self._restore(live, snapshot)
        for one in (*model.properties, *model.terminals):
            if one.kind != "step":
                ours, theirs = _answer(one, live), _answer(one, twin)
                if ours != theirs:
                    raise self._differs(f"@{one.kind} {one.name}", snapshot, ours, theirs)

    def _same_future(self, raw: Snapshot, merged: Snapshot) -> None:
        """Compare what may follow two states that canonical calls one."""
        self._same_images(raw, merged)
        ours, theirs = self._future(raw), self._future(merged)
        temporal = any(one.kind in TEMPORAL for one in self.model.properties)
        if {state for _, state in ours} != {state for _, state in theirs}:
            raise SpecError(
                "canonical merges states with different futures: "
                f"{self.model.shown_state(merged)} can become "
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
        model, live = self.model, self.model.live
        assert model.canonical is not None
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
            self._same_future(raw, model.canonical(raw))

    def _same_images(self, raw: Snapshot, merged: Snapshot) -> None:
        """Compare what two states that canonical calls one stand for."""
        live = self.model.live
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
        model, live = self.model, self.model.live
        assert model.canonical is not None
        found: set[Successor] = set()
        self._restore(live, snapshot)
        found.update(
            (one.name, repr(_answer(one, live)))
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
                found.add((model.shown(move), model.canonical(model.raw_snapshot(live))))
        return found

    def _only(self, one: set[Successor], other: set[Successor]) -> str:
        left = sorted(call for call, state in one if state not in {state for _, state in other})
        return f"what {left[0]} leads to" if left else ""

    def _differs(self, what: str, snapshot: Snapshot, ours: object, theirs: object) -> SpecError:
        return SpecError(
            f"{what} in {self.model.shown_state(snapshot)} gave {ours} at one time and {theirs} at "
            "another; a spec is deterministic: what it depends on is a field or a constant, and "
            "never random, a clock, the order of a set, or a counter outside of the state"
        )


def _cores(model: Model, spec: Spec) -> dict[str, Any]:
    return {name: vars(spec)[name] for name in model.cores}


def _asked(model: Model, spec: Spec) -> list[Move] | str:
    try:
        return model.enabled_in(spec)
    except SpecError:
        raise
    except ANY_ERROR as error:
        return f"raised {error_text(error)}"


def _answer(one: Property, spec: Spec) -> object:
    try:
        return one.judge(spec, *one.arguments)
    except SpecError:
        raise
    except ANY_ERROR as error:
        return f"raised {type(error).__name__}"


def _calls(moves: Iterable[Move]) -> str:
    return ", ".join(f"{move.action.name}{move.arguments!r}" for move in moves) or "none"

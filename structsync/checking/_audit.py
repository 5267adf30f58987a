"""Is the specification what it says: nothing but its declared state, and always the same answers?

At the first states, and then at fewer and fewer, everything is done twice: on the live spec, and on
a new one that was never anything else, whose sets are iterated the other way round. Both must be
alike to the last attribute, allow the same moves, get to the same states and give the same answers;
and nothing outside may have changed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ._errors import ANY_ERROR, SpecError
from ._exchanged import check_exchanges
from ._finding import error_text
from ._forgotten import trap_of
from ._image import difference, image_of, parts_of, shared_parts
from ._language import Snapshot, Spec
from ._merging import Merging, answer_of
from ._model import Model, Move
from ._reach import Surroundings
from ._values import alike, changeable_parts, has_identity, turned

FIRST = 6  # states that are all looked at
RARER = 1.6  # after them, the next one has a number larger by this factor
MERGES = 3  # merged successors looked at of each of these states


class Audit:
    """Looks at some states of a search; raises a SpecError for what the search must not meet."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.next = 0
        self._merging = Merging(model, self._restore) if model.canonical else None
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
        if self._merging:
            self._merging.check(raw[:MERGES])
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
                ours, theirs = answer_of(one, live), answer_of(one, twin)
                if ours != theirs:
                    raise self._differs(f"@{one.kind} {one.name}", snapshot, ours, theirs)

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


def _calls(moves: Iterable[Move]) -> str:
    return ", ".join(f"{move.action.name}{move.arguments!r}" for move in moves) or "none"

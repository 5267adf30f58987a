"""A specification that follows a trace: in which states it may be, and the first event that is in none.

Where an event leaves a choice open, all are followed, so what is kept is a set of states; a way on which a
property is broken is dropped while there are others, for one of them may be what happened. Each
remembers the last steps of a way that led to it, and no more: a trace may go on for months.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

from structsync.report import Counterexample, Step
from structsync.report._words import counted, listed

from ._check import runnable, spec_name
from ._errors import ANY_ERROR, SpecError
from ._events import Call, Meaning, TraceEvent
from ._finding import Finding, error_text
from ._language import Snapshot, Spec
from ._model import Model, Move
from ._rules import NO_ACTION_FAILS
from ._simulation import action_of, call_of, moves_of
from ._trace import claim_of, described, step_of
from ._witness import Broken, Taken, Way, Witness

#: So many of the last steps are shown.
KEPT = 50
#: More states than this at once: the trace says too little about what happened.
MOST = 10_000

Explain = Callable[[Any, TraceEvent], Meaning]


_States = dict[Snapshot, Way]


class Follower:
    """The states that a specification may be in after the events so far."""

    def __init__(
        self,
        spec: type[Spec],
        explain: Explain | None = None,
        unseen: Sequence[str] | None = None,
    ) -> None:
        self.model = Model(runnable(spec))
        self.events = 0
        """How many events were seen, up to the first that is not allowed."""
        self.taken: Counter[str] = Counter()
        """How many events were followed by a step, by the name of its action."""
        self.refutation: Counterexample | None = None
        """The first event that is not allowed, or after which a property is broken, with the way there."""
        self._explain = explain or type(self.model.live).explain
        names = self.model.spec_class.unseen_actions if unseen is None else unseen
        self._unseen = [action_of(self.model, Call(name)) for name in names]
        self._states: _States = {self.model.raw_snapshot(self.model.live): ()}
        self._differ: list[str] = []
        self._dropped: Broken | None = None
        """The first way of the last event that cannot be what happened, because it breaks a property."""
        self._beyond: dict[Snapshot, Broken] = {}
        """The states to which an unseen step before it leads that breaks a property, with that."""
        self._witness = Witness(self.model)

    @property
    def steps(self) -> int:
        """How many events were followed by a step of the specification."""
        return self.taken.total()

    def nothing_followed(self) -> str:
        """Return why nothing is confirmed if no event was a step; empty if one was, or one was not allowed."""
        if self.steps or self.refutation is not None:
            return ""
        if not self.events:
            why, repair = "no event came", "let the program do something in the block"
        else:
            why = f"of {counted(self.events, 'event')} `explain` made no action"
            repair = "let it return a Call for what happened"
        name = spec_name(self.model.spec_class)
        return f"no step of {name} was followed, so nothing is confirmed: {why}; {repair}"

    def see(self, event: TraceEvent) -> bool:
        """Take an event in; return whether it was allowed, as all before it were."""
        if self.refutation is not None:
            return False
        self.events += 1
        self._differ, self._dropped, self._beyond = [], None, {}
        try:
            found = self._followed(event)
        except Broken as broken:
            found, self._dropped = {}, broken
        if not found:
            dropped = self._dropped or self._broken_before(event)
            self.refutation = self._broken(event, dropped) if dropped else self._refuted(event)
            return False
        last = [way[-1] for way in found.values() if way]
        # of several that it may have been, one has happened
        self.taken.update([one.move.action.name for one in last if one.event is event][:1])
        self._states = found
        return True

    def _followed(self, event: TraceEvent) -> _States:
        if self.events == 1:
            self._witness.begin()
        found: _States = {}
        for state, way in self._closed():
            for after, longer in self._after(event, state, way):
                found.setdefault(after, longer[-KEPT:])
                self._check_size(found)
        return found

    def _check_size(self, states: _States) -> None:
        if len(states) > MOST:
            raise SpecError(
                f"after {counted(self.events, 'event')} the specification may be in more than "
                f"{MOST:,} states; let `explain` describe more of what happened, or leave less unseen"
            )

    def _closed(self) -> Iterator[tuple[Snapshot, Way]]:
        """Yield all states that it may be in, after unseen steps too."""
        seen = dict(self._states)
        to_do = [*seen]
        while to_do:
            state = to_do.pop()
            yield state, seen[state]
            for action in self._unseen:
                self._enter(state)
                for move in self.model.enabled_of(action, self.model.live):
                    longer = self._taken(move, state, seen[state], None)
                    if not longer or (after := longer[-1].after) in seen:
                        continue
                    if broken := self._broken_by(longer):
                        self._beyond.setdefault(after, broken)
                        continue
                    seen[after] = longer[-KEPT:]
                    to_do.append(after)
                    self._check_size(seen)

    def _after(
        self, event: TraceEvent, state: Snapshot, way: Way
    ) -> Iterator[tuple[Snapshot, Way]]:
        """Yield the states in which an event leaves a state, with the way there."""
        live = self.model.live
        self.model.restore(live, state)
        meaning = self._explain(live, event)
        if meaning is None:
            if state in self._states:
                yield state, way
            return
        if meaning is True or meaning is False:
            if meaning and self._agrees(event, ""):
                yield state, way
            return
        for call in _calls(meaning, event):
            self._enter(state)
            for move in [*moves_of(self.model, call)]:
                longer = self._taken(move, state, way, event)
                told = f"after {call_of(move)!r} "
                if longer and self._agrees(event, told) and self._holds(longer):
                    yield longer[-1].after, longer

    def _enter(self, state: Snapshot) -> None:
        """Put the live spec into a state as its next step finds it."""
        self.model.restore(self.model.live, self._witness.remembered(state))

    def _taken(self, move: Move, state: Snapshot, way: Way, event: TraceEvent | None) -> Way | None:
        """Take a move from the end of a way; return the longer way, or None if the move raises."""
        self._enter(state)
        try:
            move.run(self.model.live, *move.arguments)
        except SpecError:
            raise
        except ANY_ERROR as error:
            if event is not None:  # what is unseen need not have happened
                finding = Finding(NO_ACTION_FAILS, 0, f"raised {error_text(error)}", move)
                self._drop(Broken(finding, (*way, Taken(move, state, state, event))))
            return None
        after = self.model.raw_snapshot(self.model.live)
        return (*way, Taken(move, state, after, event))

    def _holds(self, way: Way) -> bool:
        """Return whether the last step of a way breaks no property."""
        broken = self._broken_by(way)
        if broken is not None:
            self._drop(broken)
        return broken is None

    def _broken_by(self, way: Way) -> Broken | None:
        """Return what the last step of a way breaks."""
        try:
            self._witness.step(way)
        except Broken as broken:
            return broken
        return None

    def _broken_before(self, event: TraceEvent) -> Broken | None:
        """Return what an unseen step breaks without which the event is not allowed."""
        differ = [*self._differ]
        for state, broken in self._beyond.items():
            allowed = next(self._after(event, state, broken.way), None) is not None
            if allowed or self._dropped:
                return broken
        self._differ = differ
        return None

    def _drop(self, broken: Broken) -> None:
        self._dropped = self._dropped or broken

    def _agrees(self, event: TraceEvent, when: str) -> bool:
        """Compare what can be seen of the live spec with what the event tells."""
        if not event.state:
            return True
        differences = differing(self.model.live.observed(), event.state)
        if differences:
            self._differ.append(f"{when}{'; '.join(differences)}")
        return not differences

    def _broken(self, event: TraceEvent, broken: Broken) -> Counterexample:
        """Return the way to a state, or a step, of which a property of the specification is not true."""
        model, way, finding = self.model, broken.way, broken.finding
        kind, claim = claim_of(model.spec_class, finding.property)
        where = f"after event {self.events} of the trace, {event}"
        return Counterexample(
            spec=spec_name(model.spec_class),
            refuted=finding.property,
            kind=kind,
            start=self._start(way, next(iter(self._states))),
            steps=tuple([self._step(one) for one in way]),
            claim=claim,
            detail=f"{where}: {finding.detail}" if finding.detail else where,
            start_note=self._start_note(way),
        )

    def _start(self, way: Way, state: Snapshot) -> Mapping[str, str]:
        self.model.restore(self.model.live, way[0].before if way else state)
        return described(self.model.live)

    def _start_note(self, way: Way) -> str:
        return f"after {self.events - len(way) - 1:,} events or more" * (len(way) >= KEPT)

    def _refuted(self, event: TraceEvent) -> Counterexample:
        model = self.model
        state, way = next(iter(self._states.items()))
        start = self._start(way, state)
        steps = [self._step(one) for one in way]
        model.restore(model.live, state)
        possible = listed([model.shown(one) for one in model.enabled()], 12) or "nothing"
        told = tuple((name, str(value)) for name, value in event.details.items())
        actor = event.task or ""
        note = "not allowed" if self._differ else f"not allowed; possible: {possible}"
        steps.append(Step(event.kind, told, described(model.live), actor=actor, note=note))
        others = f", nor in {counted(len(self._states) - 1, 'other')}" * (len(self._states) > 1)
        where = "in the state below" if not others else f"in this state{others}"
        return Counterexample(
            spec=spec_name(model.spec_class),
            refuted=str(event),
            kind=f"event {self.events} of the trace",
            start=start,
            steps=tuple(steps),
            claim=f"The specification does not allow this event {where}.",
            detail="\n".join(dict.fromkeys(self._differ)),
            start_note=self._start_note(way),
        )

    def _step(self, taken: Taken) -> Step:
        self.model.restore(self.model.live, taken.after)
        note = "unseen" if taken.event is None else ""
        return step_of(self.model, taken.move, described(self.model.live), note)


def _calls(meaning: object, event: TraceEvent) -> Sequence[Call]:
    """Return the calls that an event may stand for.

    Raises:
        SpecError: `explain` has returned something else.
    """
    several = isinstance(meaning, Iterable) and not isinstance(meaning, str)
    calls: list[Any] = list(cast(Iterable[Any], meaning)) if several else [meaning]
    if wrong := [one for one in calls if not isinstance(one, Call)]:
        raise SpecError(
            f"explain made {wrong[0]!r} of {event}; it returns Call('name', parameter=value), or several of "
            "them; True or False, where nothing is done and the state is looked at; or None for what does "
            "not matter"
        )
    return calls


def differing(spec: Any, seen: Any) -> list[str]:
    """Return where what is seen differs from what a specification says, one sentence for each name.

    Raises:
        SpecError: something is seen that the specification does not speak of.
    """
    if unknown := [name for name in seen if name not in spec]:
        raise SpecError(
            f"{listed(unknown)} is seen, and the specification's observed() has "
            f"{listed([*spec]) or 'nothing'}; compare what both have"
        )
    return [
        f"{name} is {value!r}, and {spec[name]!r} in the specification"
        for name, value in seen.items()
        if spec[name] != value
    ]

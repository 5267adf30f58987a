"""Can the names be exchanged that a specification calls symmetric? Sampled, as in `_audit`.

Whatever is possible in a state is possible in the exchanged one with the names exchanged, leads to the exchanged
states, and is judged alike.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from ._errors import ANY_ERROR, SpecError
from ._finding import error_text
from ._language import Snapshot
from ._model import Model, Property
from ._renaming import renamed_arguments
from ._symmetry import Symmetry
from ._values import alike

#: What was evaluated, and what came of it: both as they are shown, and so that they can be compared.
Answers = dict[Hashable, tuple[Hashable, str, str]]


def check_exchanges(model: Model, symmetry: Symmetry, snapshot: Snapshot) -> None:
    """Raise if an exchange of two names makes a difference to what follows a state."""
    for one in symmetry.exchanges():
        other = symmetry.image(snapshot, one)
        mine = _Future(model, symmetry, one).of(snapshot)
        theirs = _Future(model, symmetry, 0).of(other)
        for asked in [*mine, *(each for each in theirs if each not in mine)]:
            nothing = (None, "that", "not possible")
            answer, what, found = mine.get(asked, nothing)
            their_answer, their_what, their_found = theirs.get(asked, nothing)
            if answer != their_answer:
                raise SpecError(
                    f"symmetric says that {symmetry.pair(one)} can be exchanged, and they cannot: "
                    f"{what} in {model.shown_state(snapshot)} is {found}; with the names "
                    f"exchanged, {their_what} in {model.shown_state(other)} is {their_found}"
                )


class _Future:
    """What is so in a state, and after each move from it, told with names exchanged."""

    def __init__(self, model: Model, symmetry: Symmetry, renaming: int) -> None:
        self._model, self._symmetry, self._renaming = model, symmetry, renaming

    def of(self, snapshot: Snapshot) -> Answers:
        model, live = self._model, self._model.live
        found: Answers = {}
        self._restore(snapshot)
        for one in model.properties:
            if one.kind not in ("step", "refines"):
                asked = (one.name, alike(self._renamed(one.arguments)))
                shown = f"{one.name}{one.arguments!r}" if one.arguments else one.name
                answer = _asked(one, live, *one.arguments)
                found[asked] = answer, shown, f"{answer!r}"
        try:
            moves = model.enabled_in(live)
        except ANY_ERROR as error:
            found["moves"] = (
                type(error).__name__,
                "asking for the moves",
                f"raised {error_text(error)}",
            )
            return found
        found["moves"] = "asked", "asking for the moves", "possible"
        if any(one.kind == "step" for one in model.properties):
            model.restore(model.before, snapshot)
        for move in moves:
            asked = (move.action.name, alike(self._renamed(move.arguments)))
            self._restore(snapshot)
            found[asked] = self._after(move.run, move.arguments, model.shown(move))
        return found

    def _after(self, run: Any, arguments: Any, shown: str) -> tuple[Hashable, str, str]:
        model, live = self._model, self._model.live
        try:
            run(live, *arguments)
        except ANY_ERROR as error:
            return type(error).__name__, shown, f"an error, {error_text(error)}"
        after = model.raw_snapshot(live)
        after = model.canonical(after) if model.canonical else after
        steps = tuple(
            [_asked(one, live, model.before) for one in model.properties if one.kind == "step"]
        )
        image = self._symmetry.image(after, self._renaming)
        told = f"a step to {model.shown_state(after)}"
        return (alike(image), steps), shown, told

    def _restore(self, snapshot: Snapshot) -> None:
        self._model.restore(self._model.live, snapshot)

    def _renamed(self, arguments: Any) -> Any:
        return renamed_arguments(arguments, self._symmetry.names[self._renaming])


def _asked(one: Property, *arguments: Any) -> Hashable:
    try:
        answer: Hashable = one.judge(*arguments)
    except ANY_ERROR as error:
        return f"raised {type(error).__name__}"
    return answer

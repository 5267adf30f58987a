"""Refinement: each step of a specification is a step of a simpler one, or none.

The simpler one, the *abstract* specification, says in a few lines what the other does in many. A mapping gives
for each state the abstract state that it stands for. It maps the first state to the first one, and each step either
to a step of the abstract specification, or to none: the abstract state stays what it is. So whatever can be seen
of a behaviour through the mapping is a behaviour of the abstract one, and what is true of all those is true of it.

That is about what may happen. That something does happen, a `leads_to` of the abstract specification, is
not carried over.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ._declaration import Declaration
from ._errors import ANY_ERROR, SpecError
from ._finding import Finding, error_text
from ._language import Snapshot, Spec
from ._values import check_value, same
from ._words import F, declare_word

if TYPE_CHECKING:
    from ._model import Model, Property


def refines(abstract: type[Spec]) -> Callable[[F], F]:
    """Declare that each step is one of another specification, or none: `(self) -> Mapping`.

    The function returns the abstract state that this one stands for: by name the value of each field of
    the abstract specification, as its snapshot has it.

    Args:
        abstract: the other specification. A field that its `canonical` forgets records what the last step
            did, such as which request it granted; the mapping gives its value for the step that was just
            taken.
    """
    given: object = abstract
    if not (isinstance(given, type) and issubclass(given, Spec)):
        raise SpecError(
            f"refines takes the abstract specification, a subclass of Spec, not {abstract!r}"
        )

    def declare(function: F) -> F:
        declare_word(Declaration("refines", abstract=abstract), function)
        return function

    return declare


class Refinement:
    """One mapping to an abstract specification, checked step after step."""

    def __init__(self, one: Property, abstract: type[Spec]) -> None:
        self.name = one.name
        self.moved = False
        """True once a step was one of the abstract specification, and not none."""
        self._map = one.judge
        self._abstract: _Abstract = _abstract_of(abstract)
        self._before: Snapshot | None = None

    def image(self, spec: Spec) -> Snapshot:
        """Return the abstract state that the state of a spec stands for."""
        found = self._map(spec)
        fields = self._abstract.model.fields
        if not isinstance(found, Mapping) or len(found) != len(fields):
            raise self._no_image(found)
        try:
            return tuple([found[name] for name in fields])
        except KeyError:
            raise self._no_image(found) from None

    def remembered(self, spec: Spec) -> Snapshot | None:
        """Return the same, without what the abstract specification forgets; None if the mapping raised."""
        try:
            image = self.image(spec)
        except SpecError:
            raise
        except ANY_ERROR:  # told where a step is judged
            return None
        return self._abstract.remembered(image)

    def begin(self, live: Spec) -> Finding | None:
        """Return a refutation if the first state does not stand for the abstract first state."""
        found, first = self.remembered(live), self._abstract.first
        if found is None:
            why = "the mapping raised an error in the first state"
            return Finding(self.name, 0, why, no_answer=True)
        for name, value in zip(self._abstract.model.fields, found, strict=True):
            check_value(value, f"what @refines {self.name} returns for {name!r}")
        if found == first and same(found, first):
            return None
        shown = self._abstract.model.shown_state
        why = f"the first state stands for {shown(found)}, and the first is {shown(first)}"
        return Finding(self.name, 0, why)

    def enter(self, before: Spec) -> None:
        """Take note of the state in which the next steps begin."""
        self._before = self.remembered(before)

    def judge(self, live: Spec, before: Spec) -> bool:
        """Return whether the step that was just taken is an abstract one, or none.

        Raises:
            AssertionError: it is not; the message tells both abstract states.
        """
        after = self.image(live)
        if self._before is None:
            return True
        if after == self._before and same(after, self._before):
            return True
        self.moved = True
        found = self._abstract.after(self._before).get(after)
        if found is not None and same(found, after):
            return True
        shown = self._abstract.model.shown_state
        raise AssertionError(
            f"no step of {self._abstract.model.spec_class.__name__} leads from {shown(self._before)} "
            f"to {shown(after)}"
        )

    def _no_image(self, found: object) -> SpecError:
        model = self._abstract.model
        return SpecError(
            f"@refines {self.name} returns the value of each field of {model.spec_class.__name__} "
            f"({', '.join(model.fields)}) by its name, and returned {found!r}"
        )


class _Abstract:
    """An abstract specification, and what its states can become; each is computed once."""

    def __init__(self, spec: type[Spec]) -> None:
        from ._model import Model

        self.model: Model = Model(spec)
        self.first = self.model.snapshot()
        self._after: dict[Snapshot, dict[Snapshot, Snapshot]] = {}

    def remembered(self, state: Snapshot) -> Snapshot:
        """Return a state as the next step finds it."""
        canonical = self.model.canonical
        return canonical(state) if canonical else state

    def after(self, state: Snapshot) -> dict[Snapshot, Snapshot]:
        """Return what a state becomes by any step, with all that the step tells."""
        found = self._after.get(state)
        if found is None:
            found = self._after[state] = {one: one for one in self._taken(state)}
        return found

    def _taken(self, state: Snapshot) -> list[Snapshot]:
        model, found = self.model, []
        live = model.live
        try:
            model.restore(live, state)
            for move in model.enabled():
                model.restore(live, state)
                move.run(live, *move.arguments)
                found.append(model.raw_snapshot(live))
        except SpecError:
            raise
        except ANY_ERROR as error:
            raise SpecError(
                f"the abstract specification {model.spec_class.__name__} raised {error_text(error)} "
                f"in {model.shown_state(state)}, which a state stands for"
            ) from error
        return found


@lru_cache(maxsize=16)
def _abstract_of(spec: type[Spec]) -> Any:
    """Return what is known of an abstract specification: many may refine the same one."""
    return _Abstract(spec)

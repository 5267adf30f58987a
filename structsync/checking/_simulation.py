"""A specification that is queried and taken step by step, instead of searched."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, final

from structsync.report._words import listed

from ._check import runnable
from ._compiled import compile_forgetting
from ._errors import SpecError
from ._events import Call
from ._judging import refinements_of, steps_of
from ._language import Snapshot, Spec
from ._model import Action, Model, Move
from ._nearest import nearest
from ._values import same


def call_of(move: Move) -> Call:
    """Return a move as users see it."""
    return Call(move.action.name, **dict(zip(move.action.parameters, move.arguments, strict=True)))


def action_of(model: Model, call: Call) -> Action:
    """Return the action that a call names.

    Raises:
        SpecError: there is no such action, or it has no such parameter.
    """
    for one in model.actions:
        if one.name == call.action:
            if unknown := [name for name in call.arguments if name not in one.parameters]:
                raise SpecError(
                    f"{call!r} gives {listed(unknown)}, and the parameters of {one.name} are "
                    f"{listed(one.parameters) or 'none'}"
                )
            return one
    names = [one.name for one in model.actions]
    raise SpecError(
        f"{model.spec_class.__name__} has no action {call.action!r}; the nearest: "
        f"{', '.join(nearest(call.action, names))}"
    )


def moves_of(model: Model, call: Call) -> Iterator[Move]:
    """Yield the moves that a call may mean in the state of the live spec."""
    action = action_of(model, call)
    wanted = [(action.parameters.index(name), value) for name, value in call.arguments.items()]
    for move in model.enabled_of(action, model.live):
        if all(_is_it(move.arguments[place], value) for place, value in wanted):
            yield move


def _is_it(argument: object, wanted: object) -> bool:
    """Return whether an argument is what was asked for: to a spec True is not 1."""
    return argument == wanted and same(argument, wanted)


@final
class Simulation:
    """A specification, to be queried for what is possible, and executed step by step.

    ::

        pool = Simulation(PoolSpec)
        pool.apply("borrow", "a")
        pool.enabled()                 # [borrow(who='b'), discharge(who='a')]
        pool.restore(pool.snapshot())

    It follows the same rules as a search, with the same domains and ``when``. It samples nothing, and takes
    no step twice.

    Args:
      spec: the spec class.

    Raises:
      SpecError: the spec breaks a rule of the language.
    """

    __slots__ = ("_before", "_model", "_remembered", "_started")

    def __init__(self, spec: type[Spec]) -> None:
        self._model = Model(runnable(spec))
        self._before: Snapshot | None = None
        forget = compile_forgetting(self._model.live, self._model.fields)
        self._remembered: Callable[[Snapshot], Snapshot] = forget or tuple
        self._started = self.snapshot()

    def enabled(self) -> list[Call]:
        """Return all calls that the specification allows in this state."""
        return [call_of(move) for move in self._model.enabled()]

    def allows(self, action: str, /, *arguments: Any, **named: Any) -> bool:
        """Return whether a call is allowed in this state; parameters left out may have any value.

        Raises:
          SpecError: there is no such action, or no such parameter.
          TypeError: the action is not given by its name.
        """
        return any(moves_of(self._model, self._call(action, arguments, named)))

    def apply(self, action: str, /, *arguments: Any, **named: Any) -> Call:
        """Take a step, and return it with all its values.

        Raises:
          SpecError: the specification does not allow it in this state, or allows several because
            parameters were left out; or there is no such action. The state is what it was.
          TypeError: the action is not given by its name.
        """
        call = self._call(action, arguments, named)
        moves = [*moves_of(self._model, call)]
        if len(moves) != 1:
            possible = listed([repr(one) for one in self.enabled()], 12) or "nothing"
            found = f"may mean {listed([repr(call_of(one)) for one in moves], 12)}"
            raise SpecError(
                f"{call!r} {found if moves else f'is not possible here, where {possible} is'}"
            )
        told = self.snapshot()  # with what the last step told of itself
        before = self._remembered(told)
        try:
            self._model.restore(self._model.live, before)
            moves[0].run(self._model.live, *moves[0].arguments)
        except BaseException:
            self._model.restore(self._model.live, told)
            raise
        self._before = before
        return call_of(moves[0])

    def snapshot(self) -> Snapshot:
        """Return the state: a hashable value, with everything that the next steps depend on."""
        return self._model.raw_snapshot(self._model.live)

    def restore(self, snapshot: Snapshot) -> None:
        """Go to a state that :meth:`snapshot` has returned."""
        self._model.restore(self._model.live, snapshot)
        self._before = None

    def restart(self) -> None:
        """Go back to the first state."""
        self.restore(self._started)

    def describe(self) -> Mapping[str, object]:
        """Return what a trace shows of this state."""
        return self._model.live.describe()

    def observed(self) -> Mapping[str, object]:
        """Return the part of this state that is visible from outside."""
        return self._model.live.observed()

    def refuted(self) -> list[str]:
        """Return the invariants that do not hold here, and the step properties that the last step broke."""
        model, found = self._model, []
        refinements = refinements_of(model)
        if self._before is not None:
            model.restore(model.before, self._before)
            for refinement in refinements.values():
                refinement.enter(model.before)
        steps = {one.name: one for one in steps_of(model, refinements)}
        for one in model.properties:
            held: object = True
            try:
                if one.kind == "invariant":
                    held = one.judge(model.live)
                elif one.name in steps and self._before is not None:
                    held = steps[one.name].judge(model.live, model.before)
            except AssertionError:
                held = False
            if held is False:
                found.append(one.name)
        return found

    def _call(self, action: str, arguments: tuple[Any, ...], named: Mapping[str, Any]) -> Call:
        given: object = action
        if not isinstance(given, str):
            raise TypeError(f"an action is given by its name, a str, not by {given!r}")
        parameters = action_of(self._model, Call(action)).parameters
        if len(arguments) > len(parameters):
            raise SpecError(
                f"{action} takes {listed(parameters) or 'no parameter'}, and was given {arguments!r}"
            )
        return Call(action, **dict(zip(parameters, arguments, strict=False)), **named)

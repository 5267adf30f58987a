"""A spec made ready to be searched: the functions that the inner loop calls, and nothing else.

The search restores, acts and takes a snapshot several hundred thousand times a second at best, so
what can be decided once per spec class is decided here: which fields are cores, which arguments a
domain can give, what each label means.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from types import CodeType, FunctionType, new_class
from typing import Any, NamedTuple

from structsync._core.queue.arbiter import Arbiter
from structsync._core.queue.own_core import (
    fault_at_creation,
    fault_of_declaration,
    is_told_by_its_fields,
)

from ._budget import Pulse
from ._compiled import compile_canonical, compile_restore, compile_snapshot, named
from ._declaration import Assumption, Declaration, asserts
from ._domains import Arguments, arguments_of
from ._errors import SpecError
from ._fairness import Fair
from ._language import (
    Snapshot,
    Spec,
    declared_in,
    fields_of,
)
from ._rules import EVERY_ACTION_FIRES, NO_PROPERTIES, check_class, property_names, word_of
from ._symmetry import symmetry_of
from ._values import check_value, exact, same


class Move(NamedTuple):
    """One action with its arguments; the label is its index in `Model.moves`."""

    run: Callable[..., Any]
    arguments: Arguments
    label: int
    action: Action


class Action:
    """An action of the spec and the moves that it has shown so far."""

    def __init__(self, name: str, run: Callable[..., Any], word: Declaration, pulse: Pulse) -> None:
        self.name = name
        self.run = run
        self.fair = word.fair
        self.fair_together = word.fair_together
        self.when = word.when
        self.may_never_fire = word.may_never_fire
        self.parameters = tuple(inspect.signature(run).parameters)[1:]
        domains = [word.domains[name] for name in self.parameters]
        self.arguments = arguments_of(domains, pulse)
        self.moves: dict[Arguments, Move] = {}


class Property(NamedTuple):
    """An invariant, a step property, or a property of behaviours at one value of its parameters."""

    name: str
    kind: str
    judge: Callable[..., Any]
    arguments: Arguments
    asserts: bool
    parameters: tuple[str, ...]


class Model:
    """One spec class, compiled; `replacing` plants a fault's factory in a field."""

    def __init__(
        self,
        spec: type[Spec],
        replacing: Mapping[str, Callable[..., Any]] | None = None,
        only: Iterable[str] | None = None,
    ) -> None:
        check_class(spec)
        self.spec_class = spec
        self.fields = tuple(fields_of(spec))
        self.replacing = replacing or {}
        self.live = self.fresh()
        self.before = _read_only(spec, self.replacing)
        cores = [name for name in self.fields if _is_core(self.live.__dict__[name])]
        # Those of the user's, with as many attributes as are in their snapshots.
        self.told_by_fields = [
            (core, len(vars(core)))
            for core in (vars(self.live)[name] for name in cores)
            if isinstance(core, Arbiter) and is_told_by_its_fields(type(core))
        ]
        self.cores = tuple(cores)
        self.restore = compile_restore(self.fields, cores)
        self.raw_snapshot = compile_snapshot(self.fields, cores)
        self.canonical = compile_canonical(self.live, self.fields)
        self.symmetry = symmetry_of(self.live, named(self.fields), self.canonical)
        self.reduced = self.symmetry.reduced if self.symmetry else self.canonical
        """From a state to the one that is stored for it, if that may be another one."""
        self.moves: list[Move] = []
        self.pulse = Pulse()
        self.actions = _actions(spec, self.pulse)
        self.properties = _properties(spec, only)
        self.terminals = _terminals(spec)

    def fresh(self) -> Spec:
        """Return a spec in its first state that shares nothing with another one."""
        return _start(self.spec_class, self.replacing)

    def factories(self) -> list[Callable[..., Any]]:
        """Return what makes the fields, by a planted fault if one is in place."""
        made = fields_of(self.spec_class)
        return [self.replacing.get(name, one.factory) for name, one in made.items()]

    def planted_code(self) -> frozenset[CodeType]:
        """Return the code of the bugs that are planted in this spec."""
        planted = [one for f in self.replacing.values() for one in (f, *vars(f).values())]
        return frozenset(one.__code__ for one in planted if isinstance(one, FunctionType))

    def snapshot(self) -> Snapshot:
        """Return the canonical snapshot of the live spec."""
        return self.snapshot_of(self.live)

    def snapshot_of(self, spec: Spec) -> Snapshot:
        """Return the canonical snapshot of a spec."""
        found = self.raw_snapshot(spec)
        return self.canonical(found) if self.canonical else found

    def enabled(self) -> list[Move]:
        """Return every move that the live spec allows in its present state."""
        return self.enabled_in(self.live)

    def enabled_in(self, spec: Spec) -> list[Move]:
        """Return every move that a spec allows in its present state."""
        found: list[Move] = []
        for action in self.actions:
            found += self.enabled_of(action, spec)
        return found

    def enabled_of(self, action: Action, spec: Spec) -> list[Move]:
        """Return every move of one action that a spec allows in its present state."""
        moves, when = action.moves, action.when
        return [
            known
            if (known := moves.get(arguments)) and known.arguments is arguments
            else self.move(action, arguments)
            for arguments in action.arguments(spec)
            if when is None
            or (held := when(spec, *arguments)) is True
            or (held is not False and _allows(held, action))
        ]

    def move(self, action: Action, arguments: Arguments) -> Move:
        """Return an action with its arguments; if it was not met so far, it gets a label."""
        known = action.moves.get(arguments)
        if known:
            mine = known.arguments
            # Spelled where the quick look says no: a set that is turned round is the same one.
            if mine is arguments or same(mine, arguments) or exact(mine) == exact(arguments):
                return known
            raise SpecError(
                f"the arguments {arguments!r} and {mine!r} of {action.name} are equal and not the "
                "same; use values of one type"
            )
        for name, value in zip(action.parameters, arguments, strict=True):
            check_value(value, f"the value of {action.name}'s parameter {name!r}")
        move = Move(action.run, arguments, len(self.moves), action)
        self.moves.append(move)
        action.moves[arguments] = move
        return move

    def fairness(self, assuming: Mapping[str, Assumption]) -> list[Fair]:
        """Return what is demanded of a fair behaviour, of each move of an action or of all together.

        Args:
            assuming: what is demanded beside what the actions say.
        """
        found: list[Fair] = []
        for action in self.actions:
            labels = [move.label for move in action.moves.values()]
            if action.fair:
                found += _demands(labels, action.fair == "strong", action.fair_together)
            assumed = assuming.get(action.name)
            if assumed:
                found += _demands(labels, "strong" in assumed, "together" in assumed)
        return found

    def shown(self, move: Move) -> str:
        """Return a move as a call."""
        values = zip(move.action.parameters, move.arguments, strict=True)
        return f"{move.action.name}({', '.join(f'{name}={value!r}' for name, value in values)})"

    def shown_state(self, snapshot: Snapshot) -> str:
        """Return a state by the names of its fields."""
        return ", ".join(f"{n}={v!r}" for n, v in zip(self.fields, snapshot, strict=True))

    def check_field(self, name: str, value: object) -> None:
        """Raise unless a value can be that of a field."""
        check_value(value, f"field {name!r}")


def _demands(labels: list[int], strong: bool, together: bool) -> list[Fair]:
    groups = [labels] if together and labels else [[label] for label in labels]
    return [Fair(frozenset(group), strong) for group in groups]


def _allows(answer: object, action: Action) -> bool:
    if callable(answer) or inspect.iscoroutine(answer) or inspect.isgenerator(answer):
        raise SpecError(
            f"the `when` of {action.name} returned {answer!r}, which always counts as true; "
            "call it, or return a bool"
        )
    return bool(answer)


def check_core(value: object) -> None:
    """Raise unless all that an action may change of a user's core is in its snapshot."""
    if isinstance(value, Arbiter) and value.user_written:
        fault = fault_at_creation(value) or fault_of_declaration(value)
        if fault:
            raise SpecError(fault)


def _start(spec: type[Spec], replacing: Mapping[str, Callable[..., Any]]) -> Spec:
    live = spec.__new__(spec)
    for name, one in fields_of(spec).items():
        value = vars(live)[name] = one.make(replacing.get(name))
        check_core(value)
        part = value.snapshot() if _is_core(value) else value
        check_value(part, f"field {name!r} of {spec.__name__}")
    return live


def _is_core(value: object) -> bool:
    return not isinstance(value, type) and all(
        callable(getattr(value, name, None)) for name in ("snapshot", "restore")
    )


def _read_only(spec: type[Spec], replacing: Mapping[str, Callable[..., Any]]) -> Spec:
    def refuse(self: Spec, name: str, value: object) -> None:
        raise SpecError(
            f"`before` is the state that was, and {spec.__name__} assigns its {name!r}; "
            "a step property only compares"
        )

    own = {"__setattr__": refuse, "__module__": spec.__module__}
    twin = new_class(spec.__name__, (spec,), {}, lambda body: body.update(own))
    return _start(twin, replacing)


def _actions(spec: type[Spec], pulse: Pulse) -> tuple[Action, ...]:
    return tuple(
        Action(name, function, word_of(function), pulse)
        for name, function in declared_in(spec).items()
        if word_of(function).kind == "action"
    )


def _properties(spec: type[Spec], only: Iterable[str] | None) -> tuple[Property, ...]:
    wanted = None if only is None else frozenset(only)
    names = (*property_names(spec), EVERY_ACTION_FIRES)
    if wanted is not None and not (wanted and wanted <= {*names}):
        unknown = ", ".join(sorted(wanted - {*names}))
        fault = f"has no property {unknown}" if wanted else "is asked for none of its properties"
        raise SpecError(f"{spec.__name__} {fault}; its properties are {', '.join(names)}")
    found: list[Property] = []
    for name, function in declared_in(spec).items():
        word = word_of(function)
        if word.kind not in NO_PROPERTIES and (wanted is None or name in wanted):
            order = tuple(inspect.signature(function).parameters)[1:] if word.domains else ()
            all_arguments = arguments_of([word.domains[n] for n in order], Pulse())(None)
            by_assert = asserts(function)
            if not all_arguments:
                raise SpecError(
                    f"@{word.kind} {name} is declared for no value at all, so nothing would be "
                    "judged; give its parameters values"
                )
            found += [
                Property(name, word.kind, function, a, by_assert, order) for a in all_arguments
            ]
    return tuple(found)


def _terminals(spec: type[Spec]) -> tuple[Property, ...]:
    return tuple(
        Property(name, word.kind, function, (), False, ())
        for name, function in declared_in(spec).items()
        if (word := word_of(function)).kind == "terminal"
    )

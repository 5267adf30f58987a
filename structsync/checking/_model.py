"""A spec made ready to be searched: the functions that the inner loop calls, and nothing else.

The search restores, acts and takes a snapshot several hundred thousand times a second at best, so
what can be decided once per spec class is decided here: which fields are cores, which arguments a
domain can give, what each label means.
"""

from __future__ import annotations

import inspect
from collections import namedtuple
from collections.abc import Callable, Iterable, Mapping
from types import new_class
from typing import Any, NamedTuple

from structsync._core.queue.arbiter import Arbiter
from structsync._core.queue.own_core import (
    fault_at_creation,
    fault_of_declaration,
    is_told_by_its_fields,
)

from ._domains import Arguments, arguments_of
from ._errors import SpecError
from ._fairness import Fair
from ._language import (
    Declaration,
    Snapshot,
    Spec,
    asserts,
    declaration_of,
    declared_in,
    fields_of,
)

#: The built-in properties of every spec.
NO_ACTION_FAILS = "no_action_fails"
EVERY_ACTION_FIRES = "every_action_fires"


class Move(NamedTuple):
    """One action with its arguments; the label is its index in `Model.moves`."""

    run: Callable[..., Any]
    arguments: Arguments
    label: int
    action: Action


class Action:
    """An action of the spec and the moves that it has shown so far."""

    def __init__(self, name: str, run: Callable[..., Any], word: Declaration) -> None:
        self.name = name
        self.run = run
        self.fair = word.fair
        self.fair_together = word.fair_together
        self.when = word.when
        self.may_never_fire = word.may_never_fire
        self.parameters = tuple(inspect.signature(run).parameters)[1:]
        self.arguments = arguments_of([word.domains[name] for name in self.parameters])
        self.moves: dict[Arguments, Move] = {}


class Property(NamedTuple):
    """An invariant, a step property, or a property of behaviours at one value of its parameters."""

    name: str
    kind: str
    judge: Callable[..., Any]
    arguments: Arguments
    asserts: bool


class Model:
    """One spec class, compiled; `replacing` plants a fault's factory in a field."""

    def __init__(
        self,
        spec: type[Spec],
        replacing: Mapping[str, Callable[..., Any]] | None = None,
        only: Iterable[str] | None = None,
    ) -> None:
        _check_class(spec)
        self.spec_class = spec
        self.fields = tuple(fields_of(spec))
        self.live = _start(spec, replacing or {})
        self.before = _read_only(spec, replacing or {})
        cores = [name for name in self.fields if _is_core(self.live.__dict__[name])]
        # Those of the user's, with as many attributes as are in their snapshots.
        self.told_by_fields = [
            (core, len(vars(core)))
            for core in (vars(self.live)[name] for name in cores)
            if isinstance(core, Arbiter) and is_told_by_its_fields(type(core))
        ]
        self.restore = _compile_restore(self.fields, cores)
        self.raw_snapshot = _compile_snapshot(self.fields, cores)
        self.canonical = _canonical(self.live, self.fields)
        self.moves: list[Move] = []
        self.actions = _actions(spec)
        self.properties = _properties(spec, only)

    def snapshot(self) -> Snapshot:
        """Return the canonical snapshot of the live spec."""
        found = self.raw_snapshot(self.live)
        return self.canonical(found) if self.canonical else found

    def enabled(self) -> list[Move]:
        """Return every move that the live spec allows in its present state."""
        live = self.live
        found: list[Move] = []
        for action in self.actions:
            moves, when = action.moves, action.when
            found += [
                moves.get(arguments) or self._learn(action, arguments)
                for arguments in action.arguments(live)
                if when is None or when(live, *arguments)
            ]
        return found

    def _learn(self, action: Action, arguments: Arguments) -> Move:
        for name, value in zip(action.parameters, arguments, strict=True):
            check_value(value, f"the value of {action.name}'s parameter {name!r}")
        move = Move(action.run, arguments, len(self.moves), action)
        self.moves.append(move)
        action.moves[arguments] = move
        return move

    def fairness(self) -> list[Fair]:
        """Return what the actions demand of a fair behaviour, of each of their moves or of all together."""
        found: list[Fair] = []
        for action in self.actions:
            labels = [move.label for move in action.moves.values()] if action.fair else []
            groups = [labels] if action.fair_together and labels else [[label] for label in labels]
            found += [Fair(frozenset(group), action.fair == "strong") for group in groups]
        return found


def property_names(spec: type[Spec]) -> tuple[str, ...]:
    """Return the names that a planted fault may give as `refuted_by`."""
    own = (n for n, f in declared_in(spec).items() if _word(f).kind != "action")
    return (NO_ACTION_FAILS, *own)


def check_value(value: object, what: str) -> None:
    """Raise unless a value can be part of a state: hashable, and compared by what it says."""
    if not _is_hashable(value):
        raise SpecError(
            f"a state consists of immutable values, and {what} is the {type(value).__name__} "
            f"{value!r}; make it a tuple or frozenset, or give its class snapshot() and restore()"
        )
    if value is not None and type(value).__hash__ is object.__hash__:
        raise SpecError(
            f"a state consists of values that compare by what they say, and {what} is "
            f"{value!r}, which compares by identity; use a frozen dataclass, or give its class "
            "snapshot() and restore()"
        )


def check_core(value: object) -> None:
    """Raise unless all that an action may change of a user's core is in its snapshot."""
    if isinstance(value, Arbiter) and value.user_written:
        fault = fault_at_creation(value) or fault_of_declaration(value)
        if fault:
            raise SpecError(fault)


def _is_hashable(value: object) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _word(function: Callable[..., Any]) -> Declaration:
    word = declaration_of(function)
    assert word is not None
    return word


def _check_class(spec: type[Spec]) -> None:
    name, declared = spec.__name__, declared_in(spec)
    kinds = {_word(function).kind for function in declared.values()}
    if spec.__init__ is not Spec.__init__:
        raise SpecError(f"{name} defines __init__; declare its state by start(...) instead")
    if not fields_of(spec):
        raise SpecError(f"{name} has no state; give it a field by start(factory, ...)")
    if "action" not in kinds:
        raise SpecError(f"{name} has no @action, so only its first state would be looked at")
    if not kinds - {"action"}:
        raise SpecError(
            f"{name} states no property, so its check cannot fail; "
            "add an @invariant, a @step, a @leads_to, an @eventually or an @always_eventually"
        )
    for reserved in (NO_ACTION_FAILS, EVERY_ACTION_FIRES):
        if reserved in declared:
            raise SpecError(f"{name}.{reserved} is the name of a built-in property; rename it")


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


def _compile_restore(fields: tuple[str, ...], cores: list[str]) -> Callable[[Spec, Snapshot], None]:
    lines = [
        f"    fields[{name!r}].restore(snapshot[{i}])"
        if name in cores
        else f"    fields[{name!r}] = snapshot[{i}]"
        for i, name in enumerate(fields)
    ]
    return _compile("restore(spec, snapshot)", ["    fields = spec.__dict__", *lines])


def _compile_snapshot(fields: tuple[str, ...], cores: list[str]) -> Callable[[Spec], Snapshot]:
    items = [
        f"fields[{name!r}].snapshot()" if name in cores else f"fields[{name!r}]" for name in fields
    ]
    body = ["    fields = spec.__dict__", f"    return ({', '.join(items)},)"]
    return _compile("take(spec)", body)


def _compile(head: str, body: list[str]) -> Callable[..., Any]:
    """Make a straight-line function, as `dataclasses` does: a loop over fields costs a third."""
    made: dict[str, Any] = {}
    exec("\n".join([f"def {head}:", *body]), made)
    function: Callable[..., Any] = made[head.partition("(")[0]]
    return function


def _canonical(live: Spec, fields: tuple[str, ...]) -> Callable[[Snapshot], Snapshot] | None:
    if type(live).canonical is Spec.canonical:
        return None
    # Type checkers want literal names here; they are only known for each spec.
    state = namedtuple("state", fields)  # type: ignore[misc]
    map_state = live.canonical

    def canonical(snapshot: Snapshot) -> Snapshot:
        try:
            return tuple(map_state(state._make(snapshot)))
        except Exception as error:
            raise SpecError(f"canonical raised {type(error).__name__}: {error}") from error

    return canonical


def _actions(spec: type[Spec]) -> tuple[Action, ...]:
    return tuple(
        Action(name, function, _word(function))
        for name, function in declared_in(spec).items()
        if _word(function).kind == "action"
    )


def _properties(spec: type[Spec], only: Iterable[str] | None) -> tuple[Property, ...]:
    wanted = None if only is None else frozenset(only)
    unknown = (wanted or frozenset()) - {*property_names(spec), EVERY_ACTION_FIRES}
    if unknown:
        raise SpecError(
            f"{spec.__name__} has no property {', '.join(sorted(unknown))}; "
            f"its properties are {', '.join(property_names(spec))}"
        )
    found: list[Property] = []
    for name, function in declared_in(spec).items():
        word = _word(function)
        if word.kind != "action" and (wanted is None or name in wanted):
            order = tuple(inspect.signature(function).parameters)[1:] if word.domains else ()
            all_arguments = arguments_of([word.domains[n] for n in order])(None)
            by_assert = asserts(function)
            found += [Property(name, word.kind, function, a, by_assert) for a in all_arguments]
    return tuple(found)

"""What a specification is: a subclass of `Spec` with fields that `start`, and with decorated functions."""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, ClassVar, ParamSpec, TypeVar, cast

from ._declaration import (
    MARK,
    declaration_of,
)
from ._errors import SpecError
from ._events import Call, Meaning, TraceEvent
from ._noticed import check_body, notice
from ._renaming import renamed

P = ParamSpec("P")
T = TypeVar("T")

#: The state of a spec, one hashable value per field.
Snapshot = tuple[Hashable, ...]


class Field:
    """A part of the state together with how it starts; made by `start`."""

    def __init__(
        self, factory: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        self.factory = factory
        self.args = args
        self.kwargs = kwargs
        self.name = ""
        caller = sys._getframe(2)  # where start is called: the body of a class?
        self.made_in = (caller.f_globals.get("__name__"), caller.f_locals.get("__qualname__"))
        notice(self)

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = self.name or name

    def make(self, factory: Callable[..., Any] | None = None) -> Any:
        """Build the first value, by another factory if a planted fault brings one."""
        return (factory or self.factory)(*self.args, **self.kwargs)


def start(factory: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """Declare a field of the state that starts as `factory(*args, **kwargs)`.

    The value has `snapshot() -> Hashable` and `restore(snapshot) -> None`, or is immutable and
    hashable (int, str, tuple, frozenset, None, ...).
    """
    if not callable(factory):
        raise SpecError(
            f"start takes a factory and its arguments, not the value {factory!r}; "
            f"write start({type(factory).__name__}, {factory!r})"
        )
    return cast(T, Field(factory, args, kwargs))


class _Body(dict[str, Any]):
    """The namespace of a spec's class body: refuses to lose a declaration by its name."""

    def __setitem__(self, name: str, value: Any) -> None:
        if name in self and (is_declared(self[name]) or is_declared(value)):
            raise SpecError(
                f"a name in a spec means one thing, and {name!r} is declared twice; "
                "rename one of them, or the first would silently not be checked"
            )
        super().__setitem__(name, value)


class _SpecMeta(type):
    """Gives every spec a class body that notices double names."""

    @classmethod
    def __prepare__(cls, name: str, bases: tuple[type, ...], /, **kwds: Any) -> _Body:
        return _Body()

    def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> _SpecMeta:
        check_body(name, body)
        made = super().__new__(cls, name, bases, dict(body))
        notice(made)
        return made


class Spec(metaclass=_SpecMeta):
    """A specification: a state, the actions that change it, and what must be true of them.

    Subclass it in a module of its own. A class whose name starts with an underscore, or with
    `abstract = True` in its body, is a base for other specs and is not run itself.
    """

    def __init__(self) -> None:
        for name, one in fields_of(type(self)).items():
            vars(self)[name] = one.make()

    def __repr__(self) -> str:
        state = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"{type(self).__name__}({state})"

    def canonical(self, snapshot: Any) -> Any:
        """Map a state to the representative of all states that count as one.

        Args:
            snapshot: a named tuple with one hashable value per field; return one like it
                (`snapshot._replace(...)`). It must be idempotent, and must not look at `self`'s
                fields. Use it for counters that only grow and for symmetric names.
        """
        return snapshot

    #: The fields that only tell what the last action did, added to those of the bases. Step properties
    #: see them; then they count as what they were at first. Faster than the same in `canonical`.
    forgets: ClassVar[tuple[str, ...]] = ()

    #: The names that can be exchanged without a difference, or groups of such names: of all states that
    #: differ by an exchange one is searched for all. What is sampled shows that it is so.
    symmetric: ClassVar[Sequence[Any]] = ()

    def renamed(self, snapshot: Any, names: Mapping[Any, Any]) -> Any:
        """Return a state with its symmetric names exchanged.

        Override it if a name does not occur in the state as such, but for example as an index into a tuple.

        Args:
            snapshot: a named tuple with one hashable value per field; return one like it. It must
                not look at `self`'s fields.
            names: what each of the symmetric names becomes.
        """
        return renamed(snapshot, names)

    def describe(self) -> Mapping[str, object]:
        """Return what a trace shows of this state, by name; all fields unless overridden."""
        return {name: getattr(self, name) for name in fields_of(type(self))}

    def observed(self) -> Mapping[str, object]:
        """Return the part of this state that is visible from outside, by name; all fields unless overridden.

        It is compared with what a machine's adapter or an event of a trace reports under the same
        names; other names are not compared.
        """
        return {name: getattr(self, name) for name in fields_of(type(self))}

    #: Why a core of this spec must be restored before each step, where it must; `no_hidden_history`, which never
    #: restores it, is not judged then.
    restored_before_each_step: ClassVar[str] = ""

    #: The actions that no event of a trace is about: they may happen unseen between any two events.
    unseen_actions: ClassVar[tuple[str, ...]] = ()

    def explain(self, event: TraceEvent) -> Meaning:
        """Return what an event of a trace means in this state.

        Return a :class:`Call`, or several, of which one has happened (parameters that are left out may have
        any value); True or False, if the event only states something that is or is not the case; or None,
        if it says nothing about this specification. It must not change the state.

        Unless overridden, an event means the action of its name, with its details as arguments.
        """
        return Call(event.kind, **event.details)


def is_declared(value: object) -> bool:
    """Return whether a value of a class body is a field or a decorated function."""
    return isinstance(value, Field) or hasattr(value, MARK)


def fields_of(spec: type[Spec]) -> dict[str, Field]:
    """Return the fields of a spec by name, those of its bases first."""
    found = {name: one for name, one in _members(spec).items() if isinstance(one, Field)}
    for name, one in found.items():
        if one.name != name:
            raise SpecError(
                f"one start(...) is one field, not both {one.name!r} and {name!r} of "
                f"{spec.__name__}; write start(...) once for each"
            )
    return found


def declared_in(spec: type[Spec]) -> dict[str, Callable[..., Any]]:
    """Return the decorated functions of a spec by name, in the order of their definition."""
    return {
        name: value for name, value in _members(spec).items() if declaration_of(value) is not None
    }


def _members(spec: type[Spec]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for owner in reversed(spec.__mro__):
        for name, value in vars(owner).items():
            inherited = found.get(name)
            if inherited is not None and is_declared(inherited) and not is_declared(value):
                raise SpecError(
                    f"{owner.__name__}.{name} hides what a base spec declares under that name; "
                    "rename it, or decorate it like the one it replaces"
                )
            found[name] = value
    return found

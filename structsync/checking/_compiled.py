"""Straight-line functions for the inner loop: restore a state, take a snapshot, map it by canonical."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from ._errors import SpecError
from ._language import Snapshot, Spec


def compile_restore(fields: tuple[str, ...], cores: list[str]) -> Callable[[Spec, Snapshot], None]:
    lines = [
        f"    fields[{name!r}].restore(snapshot[{i}])"
        if name in cores
        else f"    fields[{name!r}] = snapshot[{i}]"
        for i, name in enumerate(fields)
    ]
    return _compile("restore(spec, snapshot)", ["    fields = spec.__dict__", *lines])


def compile_snapshot(fields: tuple[str, ...], cores: list[str]) -> Callable[[Spec], Snapshot]:
    items = [
        f"fields[{name!r}].snapshot()" if name in cores else f"fields[{name!r}]" for name in fields
    ]
    body = ["    fields = spec.__dict__", f"    return ({', '.join(items)},)"]
    return _compile("take(spec)", body)


def _compile(
    head: str, body: list[str], constants: Mapping[str, Any] = MappingProxyType({})
) -> Callable[..., Any]:
    """Make a straight-line function, as `dataclasses` does: a loop over fields costs a third."""
    made: dict[str, Any] = {**constants}
    exec("\n".join([f"def {head}:", *body]), made)
    function: Callable[..., Any] = made[head.partition("(")[0]]
    return function


def named(fields: tuple[str, ...]) -> Any:
    """Return the class of a state that is given to `canonical` and `renamed`."""
    # Type checkers want literal names here; they are only known for each spec.
    return namedtuple("state", fields)


def compile_forgetting(
    live: Spec, fields: tuple[str, ...]
) -> Callable[[Snapshot], Snapshot] | None:
    """Return the function that puts first values in the place of what a spec declares to forget."""
    first = forgotten_by(live, fields)
    if not first:
        return None
    items = [f"first_{n}" if n in first else f"snapshot[{i}]" for i, n in enumerate(fields)]
    constants = {f"first_{name}": value for name, value in first.items()}
    return _compile("forget(snapshot)", [f"    return ({', '.join(items)},)"], constants)


def forgotten_by(live: Spec, fields: tuple[str, ...]) -> dict[str, Any]:
    """Return the first values of what a spec declares to forget, by name."""
    first: dict[str, Any] = {}
    for owner in type(live).__mro__:
        given: object = vars(owner).get("forgets", ())
        if not isinstance(given, tuple) or any(name not in fields for name in given):
            raise SpecError(
                f"forgets is a tuple of names of fields, not {given!r}; the fields are "
                f"{', '.join(fields)}: write forgets = ({fields[-1]!r},)"
            )
        first |= {name: vars(live)[name] for name in given}
    for name, value in first.items():
        if callable(getattr(value, "restore", None)):
            raise SpecError(
                f"forgets names {name!r}, which has a snapshot(), of which only a part may decide "
                "nothing; forget that part in canonical"
            )
    return first


def compile_canonical(live: Spec, fields: tuple[str, ...]) -> Callable[[Snapshot], Snapshot] | None:
    """Return the function from a state to what is stored of it; None if that is all of it."""
    forget = compile_forgetting(live, fields)
    if type(live).canonical is Spec.canonical:
        return forget
    state = named(fields)
    map_state, size = live.canonical, len(fields)
    remembered = forget or tuple

    def canonical(snapshot: Snapshot) -> Snapshot:
        try:
            found = tuple(map_state(state._make(remembered(snapshot))))
        except Exception as error:
            raise SpecError(f"canonical raised {type(error).__name__}: {error}") from error
        if len(found) != size:
            raise SpecError(
                f"canonical must return a state with the {size} fields of the one it is given, "
                f"and returned {found!r}; write snapshot._replace(...)"
            )
        return found

    return canonical

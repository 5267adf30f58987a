"""Straight-line functions for the inner loop: restore a state, take a snapshot, map it by canonical."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
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


def _compile(head: str, body: list[str]) -> Callable[..., Any]:
    """Make a straight-line function, as `dataclasses` does: a loop over fields costs a third."""
    made: dict[str, Any] = {}
    exec("\n".join([f"def {head}:", *body]), made)
    function: Callable[..., Any] = made[head.partition("(")[0]]
    return function


def named(fields: tuple[str, ...]) -> Any:
    """Return the class of a state that is given to `canonical` and `renamed`."""
    # Type checkers want literal names here; they are only known for each spec.
    return namedtuple("state", fields)


def compile_canonical(live: Spec, fields: tuple[str, ...]) -> Callable[[Snapshot], Snapshot] | None:
    if type(live).canonical is Spec.canonical:
        return None
    state = named(fields)
    map_state, size = live.canonical, len(fields)

    def canonical(snapshot: Snapshot) -> Snapshot:
        try:
            found = tuple(map_state(state._make(snapshot)))
        except Exception as error:
            raise SpecError(f"canonical raised {type(error).__name__}: {error}") from error
        if len(found) != size:
            raise SpecError(
                f"canonical must return a state with the {size} fields of the one it is given, "
                f"and returned {found!r}; write snapshot._replace(...)"
            )
        return found

    return canonical

"""In which value do two executions differ whose states look the same? Only asked when that is known.

Both are run once more, up to there, and all that can be reached by names is compared: variables of modules,
what they hold, attributes, settings. The first is run twice: what differs between its two runs means nothing.
"""

from __future__ import annotations

import collections
import contextlib
import decimal
import os
import sys
import time
import types
import weakref
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from structsync.testing._execution import frames
from structsync.testing._execution.under_test import is_under_test

from .choosers import Prefix

if TYPE_CHECKING:
    from structsync.testing._execution.execution import Execution
    from structsync.testing._execution.schedule import Choice

    from .runs import Runs

#: No more is looked at: it is for a message, and a good one is early.
MOST_OBJECTS, MOST_SECONDS = 50_000, 3.0
_LONGEST = 60

# Bound now: what refuses the clock stands in its place meanwhile.
_now = time.perf_counter
_PLAIN = (int, float, str, bytes, bool, complex, type(None))


class _Look(Prefix):
    """Makes given choices, and looks at everything when they are made."""

    def __init__(self, choices: Sequence[Choice]) -> None:
        super().__init__(choices)
        self.found: dict[str, str] = {}

    def choose(self, execution: Execution, options: tuple[Choice, ...]) -> Choice | None:
        choice = super().choose(execution, options)
        if choice is None:
            self.found = _everything(execution)
        return choice


def difference(runs: Runs, one: Sequence[Choice], other: Sequence[Choice]) -> str | None:
    """Return what differs after these choices and after those, in words, or None."""
    executions = runs.executions
    looks = [_Look(choices) for choices in (one, other, one)]
    for look in looks:
        runs.execute(look)
    runs.executions = executions
    first, second, again = (look.found for look in looks)
    for path, value in first.items():
        if again.get(path) == value and second.get(path, value) != value:
            return f"{path} is {value} in the one and {second[path]} in the other"
    return None


def _everything(execution: Execution) -> dict[str, str]:
    """Return what can be reached, each thing by the shortest path of names to it, as a text."""
    found: dict[str, str] = {}
    seen = set[int]()
    queue = collections.deque(_roots(execution))
    until = _now() + MOST_SECONDS
    while queue and len(found) < MOST_OBJECTS and _now() < until:
        path, thing = queue.popleft()
        if type(thing) is weakref.ProxyType:
            continue  # what it refers to is found elsewhere, or gone
        if isinstance(thing, _PLAIN):
            found[path] = _short(thing)
        elif id(thing) not in seen:
            seen.add(id(thing))
            found[path] = _text(thing)
            queue.extend(_inside(path, thing))
    return found


def _roots(execution: Execution) -> Iterator[tuple[str, Any]]:
    main = next(iter(execution.names.of))
    here = [*frames.frames_of(execution.coroutine_of(main))]
    near = {str(frame.f_globals.get("__name__")) for frame in here}
    modules = [*sys.modules.items()]
    for name, module in sorted(modules, key=lambda item: item[0] not in near):
        if is_under_test(name) and isinstance(module, types.ModuleType):
            yield name, module
    for frame in here:
        if is_under_test(frame.f_globals.get("__name__", "")):
            for name, value in frame.f_locals.items():
                yield f"{name} in {frame.f_code.co_name}()", value
    for variable, value in execution.context.items():
        yield f"the context variable {variable.name}", value
    yield "os.environ", dict(os.environ)
    yield "the recursion limit", sys.getrecursionlimit()
    for name, value in [*vars(sys).items()]:
        if isinstance(value, _PLAIN):
            yield f"sys.{name}", value


def _inside(path: str, thing: Any) -> Iterator[tuple[str, Any]]:
    """Yield what is in a thing, each after the path to it."""
    if isinstance(thing, dict):
        for key, value in [*dict.items(thing)]:
            if isinstance(key, _PLAIN):
                yield f"{path}[{_short(key)}]", value
    elif isinstance(thing, list | tuple | collections.deque):
        for place, value in enumerate([*thing]):
            yield f"{path}[{place}]", value
    elif isinstance(thing, types.FunctionType):
        yield from _closure(thing)
    for name, value in [*_attributes(thing).items()]:
        yield f"{path}.{name}", value


def _closure(function: types.FunctionType) -> Iterator[tuple[str, Any]]:
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    for name, cell in cells:
        if cell != types.CellType():
            yield f"{name} in {function.__qualname__}()", cell.cell_contents


def _attributes(thing: Any) -> dict[str, Any]:
    if isinstance(thing, type | types.ModuleType):
        name = thing.__name__ if isinstance(thing, types.ModuleType) else thing.__module__
        own = vars(thing).items() if is_under_test(name) else ()
        return {key: value for key, value in own if not key.startswith(("__", "@"))}
    with contextlib.suppress(Exception):  # a proxy may raise whatever it likes
        found = getattr(thing, "__dict__", None)
        return found if isinstance(found, dict) else {}
    return {}


def _text(thing: Any) -> str:
    """Return what there is to say of a thing itself, apart from what is in it."""
    kind = type(thing)
    if isinstance(thing, types.FunctionType | types.BuiltinFunctionType | type):
        return f"{thing.__module__}.{thing.__qualname__}"
    if isinstance(thing, set | frozenset) and all(isinstance(one, _PLAIN) for one in thing):
        return _short([*thing])
    if isinstance(thing, decimal.Context) or kind.__module__ in _WITH_A_TEXT:
        return _short(thing)
    size = f" of {len(thing)}" if isinstance(thing, dict | list | tuple | set) else ""
    return f"{kind.__module__}.{kind.__qualname__}{size}"


_WITH_A_TEXT = frozenset({"datetime", "decimal", "fractions", "pathlib", "pathlib._local", "uuid"})


def _short(thing: object) -> str:
    text = repr(thing)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


class Given:
    """Stands for chance, and makes given choices."""

    def __init__(self, choices: Sequence[Choice]) -> None:
        self._choices = iter(choices)

    def choice(self, options: Sequence[Choice]) -> Choice:
        return next(self._choices, options[0])

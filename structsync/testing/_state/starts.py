"""Whether one execution begins as another one did: what its code can name, by value.

Compared is what can be reached from the test, as in a state, but nothing of an execution: no task, no
coroutine, nothing that a weak reference leads to. What is compared refers to nothing of the first execution, whose
objects are to die as ever. What an object hides is left out, such as what ``functools.cache`` remembers.
"""

from __future__ import annotations

import contextvars
import marshal
import operator
import re
import types
import weakref
from collections.abc import Container, Iterator, Sequence
from typing import Any, NamedTuple

from trio.lowlevel import Task

from structsync.testing._execution.addresses import address_of

from . import expanders
from .global_variables import Bindings
from .libraries import AllLibraries

_PLAIN = frozenset({int, str, float, bool, type(None), complex, bytes})
#: What belongs to an execution, is registered by what was run before, or dies when nothing else refers to it.
_NOT_LOOKED_INTO = (
    Task,
    AllLibraries,
    contextvars.Context,
    contextvars.ContextVar,
    weakref.ReferenceType,
    weakref.finalize,
    types.CoroutineType,
    types.GeneratorType,
    types.AsyncGeneratorType,
    types.FrameType,
    types.TracebackType,
)
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_LONGEST = 60

#: Of an object its head, and of each child what it is; a number for one that was met before.
Part = tuple[bytes, tuple[object, ...]]


class _Met(NamedTuple):
    """An object where the walk has come to it."""

    parent: int
    place: int
    thing: Any
    children: Sequence[Any]
    part: Part


def start_of(test: object, ghosts: Container[int] = ()) -> list[Part]:
    """Return what stands for all that the code of a test can name now.

    Args:
      ghosts: the addresses of objects that are to be left out.
    """
    return [one.part for one in _walk(test, ghosts)]


def difference(before: Sequence[Part], test: object, ghosts: Container[int] = ()) -> str | None:
    """Return in which name something else stands than before, in words, or None."""
    way: list[_Met] = []
    for one in _walk(test, ghosts):
        way.append(one)
        was = before[len(way) - 1]
        if was != one.part:
            return _in_words(was, way)
    return None


def _walk(test: object, ghosts: Container[int]) -> Iterator[_Met]:
    numbers: dict[int, int] = {address_of(test): 0}
    kept: list[Any] = []  # an address must not be used twice while this lasts
    todo: list[tuple[int, int, Any]] = [(0, 0, test)]
    number = 0
    while todo:
        parent, place, thing = todo.pop()
        head, children = _content(thing)
        kept.append(children)
        told: list[object] = []
        new: list[tuple[int, int, Any]] = []
        for at, child in enumerate(children):
            if type(child) in _PLAIN:
                told.append(_text(child))
            elif address_of(child) in ghosts:
                told.append(None)
            elif (known := numbers.get(address_of(child))) is not None:
                told.append(known)
            else:
                numbers[address_of(child)] = len(numbers)
                new.append((number, at, child))
                told.append((_kind_of(child),))
        yield _Met(parent, place, thing, children, (head, tuple(told)))
        number += 1
        todo += reversed(new)


def _content(thing: Any) -> tuple[bytes, Sequence[Any]]:
    kind = type(thing)
    if issubclass(kind, _NOT_LOOKED_INTO):
        return b"", ()
    if kind in (set, frozenset):
        plain = sorted(_text(one) for one in thing if type(one) in _PLAIN)
        return marshal.dumps((len(thing), plain)), ()
    try:
        head, children = expanders.expanded(thing)
        return marshal.dumps(_without_addresses(head)), children
    except Exception:  # noqa: BLE001 - opaque, or an object of the user that does not let itself be looked at
        return b"hidden", ()


def _without_addresses(head: Any) -> Any:
    if isinstance(head, tuple):
        return tuple(map(_without_addresses, head))
    return _ADDRESS.sub("", head) if isinstance(head, str) else head


def _text(value: object) -> str:
    return _ADDRESS.sub("", repr(value))


def _shown(thing: Any) -> str:
    """Return in a few words what an object is."""
    if type(thing) in _PLAIN:
        return _short(_text(thing))
    return _kind_of(thing)


def _kind_of(thing: Any) -> str:
    kind = type(thing)  # not isinstance(), which asks what a proxy stands for
    if issubclass(kind, type | types.FunctionType):
        return f"{thing.__module__}.{thing.__qualname__}"
    own = f"{kind.__module__}.{kind.__qualname__}"
    return own.removeprefix("builtins.")


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _in_words(before: Part, way: Sequence[_Met]) -> str:
    """Say what stands at the end of the way, and what stood there."""
    here = way[-1]
    path = _path(way, here)
    head, told = here.part
    if head == before[0] and len(told) == len(before[1]):
        place = next(
            at for at, (one, was) in enumerate(zip(told, before[1], strict=True)) if one != was
        )
        label = _labels(here.thing, here.children)[place]
        path = f"{path}{label}" if _is_relative(label) else label
        return f"{path}: {_said(before[1][place])} then {_shown(here.children[place])}"
    return f"{path}: {_size(here.thing, before)} then {_size(here.thing, here.part)}"


def _said(told: object) -> str:
    if isinstance(told, str):
        return _short(told)
    return str(told[0]) if isinstance(told, tuple) else "another object"


def _size(thing: Any, part: Part) -> str:
    """Say of an object that has changed as a whole how much was in it."""
    head, told = part
    kind = type(thing)
    if kind in (set, frozenset):
        size, plain = marshal.loads(head)
        inside = [*plain, *["..."] * (len(plain) < size)]
        return _short(f"{{{', '.join(inside)}}}")
    if issubclass(kind, list | tuple):
        return _short(f"[{', '.join(map(_said, told))}]")
    number = len(told) // 2 if issubclass(kind, dict) else len(told)
    return f"{kind.__qualname__} of {number}"


def _path(way: Sequence[_Met], one: _Met) -> str:
    """Return the names that lead to an object."""
    parts: list[str] = []
    while one is not way[0]:
        parent = way[one.parent]
        label = _labels(parent.thing, parent.children)[one.place]
        parts.append(label)
        if not _is_relative(label):
            break
        one = parent
    return "".join(reversed(parts))


def _is_relative(label: str) -> bool:
    return not label or label.startswith((".", "["))


def _labels(thing: Any, children: Sequence[Any]) -> list[str]:
    """Return what leads from an object to each of its children: a text, or nothing where there is no name."""
    kind = type(thing)
    if kind is Bindings:
        return _by_name(str(thing.namespace.get("__name__")), children)
    if issubclass(kind, type):
        return _by_name(f"{thing.__module__}.{thing.__qualname__}", children)
    if kind is dict:
        return [part for key in children[::2] for part in ("", f"[{_shown(key)}]")]
    if issubclass(kind, list | tuple):
        return [f"[{at}]" for at in range(len(children))]
    if kind is types.FunctionType and thing.__closure__:
        names = [f"{name} in {thing.__qualname__}()" for name in thing.__code__.co_freevars]
        return [*names, *[""] * (len(children) - len(names))]
    return _of_attributes(thing, children)


def _of_attributes(thing: Any, children: Sequence[Any]) -> list[str]:
    attributes: dict[str, Any] = getattr(thing, "__dict__", {})
    values = [*attributes.values()]
    labels = [""] * len(children)
    for first in range(len(children) - len(values) + 1):
        if all(map(operator.is_, values, children[first:])):
            labels[first : first + len(values)] = [f".{name}" for name in attributes]
            break
    return labels


def _by_name(owner: str, children: Sequence[Any]) -> list[str]:
    """Return the labels of values that each stand after their name."""
    before = ["", *children]
    return [f"{owner}.{name}" if type(name) is str else "" for name in before[: len(children)]]

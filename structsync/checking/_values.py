"""What a value of a state may be, and when two of them are the same one.

A state is looked up by equality, and Python's equality says too much: 1 == True == 1.0, 0.0 == -0.0,
and a class may call equal whatever it likes. So what is looked up is compared once more by
`exact`, the bytes that say all there is to say about a value.

Plain data needs no walk in Python: what `marshal` writes and `hash` takes is immutable to the bottom.
"""

from __future__ import annotations

import dataclasses
import enum
import marshal
import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache, partial
from typing import Any, cast

from ._errors import SpecError

_PLAIN = frozenset({type(None), bool, int, float, complex, str, bytes, type(...)})
_AS_EQUAL = frozenset({bool, int, str, bytes})  # of one type, they are the same if they are equal
_MUTABLE = (list, dict, set, bytearray)
_BASES: tuple[Any, ...] = (tuple, frozenset, str, bytes, int, float)
_PARAMS = "__dataclass_params__"
_TOKEN = StopIteration  # marshal knows it, and no state contains it


def exact(value: Any) -> bytes:
    """Return bytes that are equal only for values that nothing can tell apart."""
    try:
        return marshal.dumps(value, 2)  # without the references of later versions: by value alone
    except ValueError:
        return marshal.dumps(_spelled(value), 2)


def same(one: Any, other: Any) -> bool:
    """Return whether nothing can distinguish two equal values; quickly, where they share their parts."""
    kind = type(one)
    if kind is not type(other):
        return False
    if kind in _AS_EQUAL:
        return True
    if kind is tuple or (isinstance(one, tuple) and not hasattr(one, "__dict__")):
        for mine, theirs in zip(one, other):  # noqa: B905 - equal, so of one length
            if mine is theirs or (type(mine) in _AS_EQUAL and type(theirs) is type(mine)):
                continue
            if not same(mine, theirs):
                return False
        return True
    if kind is frozenset:
        known = {item: item for item in one}
        for theirs in other:
            mine = known[theirs]
            if mine is not theirs and not same(mine, theirs):
                return False
        return True
    return exact(one) == exact(other)


def alike(value: Any) -> bytes:
    """Return the same, but for objects that compare by identity: what they look like.

    Two specs have each their own of them.
    """
    try:
        return marshal.dumps(value, 2)
    except ValueError:
        return marshal.dumps(_spelled(value, _look), 2)


def _look(value: object) -> str:
    return re.sub(r" at 0x[0-9a-fA-F]+", "", repr(value))


def check_value(value: Any, what: str) -> None:
    """Raise unless a value can be part of a state: hashable, and compared by what it says."""
    if not _is_hashable(value):
        raise SpecError(
            f"a state consists of immutable values, and {what} is the {type(value).__name__} "
            f"{value!r}; make it a tuple or frozenset, or give its class snapshot() and restore()"
        )
    kind: Any = type(value)
    if value is not None and kind.__hash__ is object.__hash__:
        raise SpecError(
            f"a state consists of values that compare by what they say, and {what} is "
            f"{value!r}, which compares by identity; use a frozen dataclass, or give its class "
            "snapshot() and restore()"
        )
    try:
        marshal.dumps(value, 2)
    except ValueError:
        part = _mutable_part(value)
        if part is not None:
            raise SpecError(
                f"a state consists of values that are immutable to the bottom, and {what} "
                f"contains the {type(part).__name__} {part!r}; make it a tuple or frozenset"
            ) from None


def changeable_parts(value: Any) -> list[object]:
    """Return the objects inside a value that an action could change in place."""
    try:
        marshal.dumps(value, 2)
    except ValueError:
        return [part for part in _parts(value) if not _is_frozen(part)]
    return []


def has_identity(value: Any) -> bool:
    """Return whether a value contains an object that is equal to itself alone."""
    try:
        marshal.dumps(value, 2)
    except ValueError:
        return any(
            compares_by_identity(part) and not isinstance(part, enum.Enum) for part in _parts(value)
        )
    return False


def contents(value: Any) -> list[Any]:
    """Return what an object holds: its attributes by name, or the arguments that rebuild it."""
    kind: Any = type(value)
    if _rebuilds_itself(kind):
        return [value.__reduce_ex__(4)[1:]]
    own = sorted(getattr(value, "__dict__", {}).items())
    return own + [(name, getattr(value, name)) for name in _slots(kind) if hasattr(value, name)]


@lru_cache(maxsize=1024)
def _slots(kind: Any) -> tuple[str, ...]:
    found: list[str] = []
    for owner in kind.__mro__:
        slots = vars(owner).get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name not in ("__dict__", "__weakref__"):
                private = name.startswith("__") and not name.endswith("__")
                found.append(f"_{owner.__name__.lstrip('_')}{name}" if private else name)
    return tuple(found)


def _rebuilds_itself(kind: type) -> bool:
    """Return whether a class says what to pickle, as Decimal, datetime and Path do."""
    return getattr(kind, "__reduce__") is not getattr(object, "__reduce__")  # noqa: B009


def _is_hashable(value: object) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def compares_by_identity(value: object) -> bool:
    """Return whether nothing but this very object is equal to a value."""
    return _is_known_by_identity(type(value))


def _is_known_by_identity(kind: Any) -> bool:
    return kind not in _PLAIN and (kind.__hash__ is object.__hash__ or kind.__eq__ is object.__eq__)


class Turned(frozenset[Any]):
    """A frozenset that is iterated the other way round: to a spec its order must not matter."""

    def __iter__(self) -> Iterator[Any]:
        return iter([*super().__iter__()][::-1])


def turned(value: Any) -> Any:
    """Return an equal value whose sets are iterated in another order."""
    if type(value) is tuple:
        return tuple([turned(item) for item in value])
    return Turned(value) if type(value) is frozenset and len(value) > 1 else value


def _spelled(value: Any, of_identity: Callable[[object], object] = id) -> Any:
    """Return a value in plain data, with the names of its types."""
    kind: Any = type(value)
    if kind in _PLAIN:
        return value
    if kind is tuple:
        return tuple([_spelled(item, of_identity) for item in value])
    if kind is frozenset or kind is Turned:
        return frozenset([_spelled(item, of_identity) for item in value])
    return _speller(kind)(value, of_identity)


def _spelled_as(
    base: Any, named: tuple[Any, ...], value: Any, of_identity: Callable[[object], object]
) -> Any:
    plain, more = base(value), tuple(contents(value))
    return (*named, _spelled(plain, of_identity), _spelled(more, of_identity))


@lru_cache(maxsize=1024)
def _speller(kind: Any) -> Callable[[Any, Callable[[object], object]], Any]:
    """Return how values of one type are spelled: what is the same for all of them is found once."""
    named = (_TOKEN, kind.__module__, kind.__qualname__)
    if issubclass(kind, enum.Enum):
        return lambda value, of_identity: (*named, value.name)
    for base in _BASES:
        if issubclass(kind, base):
            return partial(_spelled_as, base, named)
    if _is_known_by_identity(kind) or issubclass(kind, _MUTABLE):
        return lambda value, of_identity: (*named, of_identity(value))
    return lambda value, of_identity: (
        *named,
        *[_spelled(item, of_identity) for item in contents(value)],
    )


def _parts(value: Any) -> Iterator[object]:
    """Yield a value and what it consists of, down to what compares by identity."""
    yield value
    kind: Any = type(value)
    for item in _parts_of(kind)(value):
        yield from _parts(item)


def _mutable_part(value: Any) -> object | None:
    """Return the first part that can be changed in place; this looks at all that a large state consists of."""
    kind: Any = type(value)
    if issubclass(kind, _MUTABLE):
        return cast("object", value)
    for item in _parts_of(kind)(value):
        if type(item) not in _PLAIN:
            found = _mutable_part(item)
            if found is not None:
                return found
    return None


@lru_cache(maxsize=1024)
def _parts_of(kind: Any) -> Callable[[Any], Iterable[Any]]:
    """Return what tells the parts of values of one type."""
    if kind in _PLAIN or issubclass(kind, (enum.Enum, str, bytes, int, float)):
        return _nothing
    if issubclass(kind, (tuple, frozenset)):
        return iter
    if issubclass(kind, _MUTABLE) or _is_known_by_identity(kind):
        return _nothing
    return contents


def _nothing(value: object) -> tuple[Any, ...]:
    return ()


def _is_frozen(value: object) -> bool:
    kind: Any = type(value)
    if kind in _PLAIN or isinstance(value, (tuple, frozenset, enum.Enum, str, bytes, int, float)):
        return not hasattr(value, "__dict__") or isinstance(value, enum.Enum)
    if dataclasses.is_dataclass(kind):
        return bool(getattr(kind, _PARAMS).frozen)
    return _rebuilds_itself(kind) or kind.__setattr__ is not object.__setattr__

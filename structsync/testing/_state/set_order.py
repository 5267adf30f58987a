"""In which order a set is gone through: where two of its items collide, the one that came first is first.

That is so for items whose hash is made of their values. Of others, which hash by their address, no two
executions have the same order, and it is left out.
"""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import fractions
import pathlib
import sys
import uuid
from collections.abc import Iterable
from typing import Any

#: What equal values of these hash to depends on nothing else.
_VALUES = (
    int,
    str,
    float,
    complex,
    bytes,
    type(None),
    enum.Enum,
    decimal.Decimal,
    fractions.Fraction,
    datetime.date,
    datetime.time,
    datetime.timedelta,
    pathlib.PurePath,
    uuid.UUID,
)


def has_an_order(items: Iterable[Any]) -> bool:
    """Return whether the order of these items in a set is the same in each execution."""
    return all(isinstance(one, _VALUES) or _is_made_of_values(one) for one in items)


def _is_made_of_values(thing: Any) -> bool:
    made_by: Any = type(thing).__hash__
    if made_by in (tuple.__hash__, frozenset.__hash__):
        return has_an_order(thing)
    code = getattr(made_by, "__code__", None)
    if code is None or code.co_filename != "<string>" or not dataclasses.is_dataclass(thing):
        return False
    fields = dataclasses.fields(thing)
    hashed = [one for one in fields if (one.compare if one.hash is None else one.hash)]
    return has_an_order([getattr(thing, one.name) for one in hashed])


def of_equal_hashes(items: list[Any], in_order: list[Any]) -> list[int]:
    """Return where those with the hash of another one stand in an order: in a set, the first one is first."""
    hashes = [hash(one) for one in items]
    if len({*hashes}) == len(hashes):
        return []
    places = {id(one): place for place, one in enumerate(in_order)}
    return [
        places[id(one)] for one, its in zip(items, hashes, strict=True) if hashes.count(its) > 1
    ]


def of_values(thing: Any) -> tuple[Any, ...]:
    """Return plain values in the order of a set, and the size of its table, which decides what comes."""
    return (sys.getsizeof(thing), *thing)

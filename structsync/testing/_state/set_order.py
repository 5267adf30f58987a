"""In which order a set is gone through: where two of its items collide, the one that came first is first.

That is so for items whose hash is made of their values. Of others, which hash by their address, no two
executions have the same order, and it is left out.
"""

from __future__ import annotations

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
    return all(
        (type(one) in _PAIRS and has_an_order(one)) or isinstance(one, _VALUES) for one in items
    )


_PAIRS = frozenset({tuple, frozenset})


def of_values(thing: Any) -> tuple[Any, ...]:
    """Return plain values in the order of a set, and the size of its table, which decides what comes."""
    return (sys.getsizeof(thing), *thing)

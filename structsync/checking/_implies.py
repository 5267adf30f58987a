"""`implies(a, b)`, and the record of which antecedents were ever true."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from types import CodeType, FrameType

#: One call of implies: the code that it stands in, and where there.
Site = tuple[CodeType, int]

_met: set[Site] = set()
_idle: dict[Site, tuple[int, set[CodeType]]] = {}


def implies(antecedent: bool, consequent: bool | Callable[[], bool]) -> bool:
    """Return whether the consequent holds wherever the antecedent does.

    The same as `not antecedent or consequent`; but a property whose antecedent was true in no state
    is reported as one that cannot fail.

    Args:
        antecedent: the condition.
        consequent: what follows from it; a function is called only where the condition holds.

    Raises:
        TypeError: one of them is not a bool.
    """
    frame = sys._getframe(1)
    site = (frame.f_code, frame.f_lasti)
    if _bool(antecedent, "antecedent"):
        _met.add(site)
        return _bool(consequent() if callable(consequent) else consequent, "consequent")
    if site not in _met:
        _idle.setdefault(site, (frame.f_lineno, set()))[1].update(_callers(frame))
    return True


def forget() -> None:
    """Begin another search."""
    _met.clear()
    _idle.clear()


def never_met(code: CodeType) -> list[int]:
    """Return the lines of the calls below some code whose antecedents were never true."""
    return sorted(
        line for site, (line, callers) in _idle.items() if site not in _met and code in callers
    )


def _bool(value: object, what: str) -> bool:
    if value is True or value is False:
        return value
    raise TypeError(
        f"the {what} of implies is True or False, not {value!r}; compare, or write bool()"
    )


def _callers(frame: FrameType | None) -> Iterable[CodeType]:
    for _ in range(12):  # a property and its helpers, not the search below it
        if frame is None:
            return
        yield frame.f_code
        frame = frame.f_back

"""`implies(a, b)`, and the record of which antecedents were ever true."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from types import CodeType, FrameType

#: One call of implies: the code that it stands in, and where there.
Site = tuple[CodeType, int]

#: Some code as another process knows it: its file, its line and its name.
Code = tuple[str, int, str]
#: What is known of some calls: which antecedents were true, and the lines and callers of the others.
Record = tuple[
    tuple[tuple[Code, int], ...], tuple[tuple[tuple[Code, int], int, tuple[Code, ...]], ...]
]

_met: set[Site] = set()
_idle: dict[Site, tuple[int, set[CodeType]]] = {}
_met_elsewhere: set[tuple[Code, int]] = set()
_idle_elsewhere: dict[tuple[Code, int], tuple[int, set[Code]]] = {}


def implies(antecedent: bool, consequent: bool | Callable[[], bool]) -> bool:
    """Return whether the consequent holds if the antecedent does.

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
    _met_elsewhere.clear()
    _idle_elsewhere.clear()


def record() -> Record:
    """Return what is known in this process."""
    met = tuple([(_code(code), place) for code, place in _met])
    idle = [
        ((_code(code), place), line, tuple(map(_code, callers)))
        for (code, place), (line, callers) in _idle.items()
    ]
    return met, tuple(idle)


def learn(given: Record) -> None:
    """Take note of what is known in another process."""
    met, idle = given
    _met_elsewhere.update(met)
    for site, line, callers in idle:
        _idle_elsewhere.setdefault(site, (line, set()))[1].update(callers)


def _code(code: CodeType) -> Code:
    return code.co_filename, code.co_firstlineno, code.co_qualname


def never_met(code: CodeType) -> list[int]:
    """Return the lines of the calls below some code whose antecedents were never true."""
    learn(record())
    known = _code(code)
    return sorted(
        line
        for site, (line, callers) in _idle_elsewhere.items()
        if site not in _met_elsewhere and known in callers
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

"""`implies(a, b)`, and the record of which antecedents were ever true."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from types import CodeType, FrameType

#: One call of implies: the code that it stands in, and where there.
Site = tuple[CodeType, int]

#: Some code as another process knows it: its file, its line and its name.
Code = tuple[str, int, str]
#: One call of implies as another process knows it, and the code that has led there.
_Known = tuple[tuple[Code, int], tuple[Code, ...]]
#: What is known of some calls: which have found the antecedent true, and which false, with the line.
Record = tuple[tuple[_Known, ...], tuple[tuple[int, _Known], ...]]

#: So many of the functions that lead to a call are told apart: a property, and its helpers.
_TOLD_APART = 4

# A helper that several properties share may be met by one of them only.
_met: dict[Site, set[CodeType]] = {}
_idle: dict[Site, tuple[int, set[CodeType]]] = {}
_noted: set[tuple[bool, int, tuple[CodeType, ...]]] = set()
_met_elsewhere: dict[tuple[Code, int], set[Code]] = {}
_idle_elsewhere: dict[tuple[Code, int], tuple[int, set[Code]]] = {}


def implies(antecedent: bool, consequent: bool | Callable[[], bool]) -> bool:
    """Return whether the consequent holds if the antecedent does.

    The same as `not antecedent or consequent`; but a property whose antecedent was true in no state
    is reported as one that cannot fail.

    Args:
        antecedent: the condition.
        consequent: what follows from it; a function is called only where the condition holds.

    Raises:
        TypeError: one of them is not a bool, nor is what a function returns that is called.
    """
    frame = sys._getframe(1)
    met = _bool(antecedent, "antecedent")
    way = (met, frame.f_lasti, tuple(_callers(frame, _TOLD_APART)))
    if way not in _noted:
        _noted.add(way)
        _note(frame, met)
    if not callable(consequent):
        return _bool(consequent, "consequent") or not met
    return not met or _bool(consequent(), "consequent")


def _note(frame: FrameType, met: bool) -> None:
    site = (frame.f_code, frame.f_lasti)
    callers = (
        _met.setdefault(site, set()) if met else _idle.setdefault(site, (frame.f_lineno, set()))[1]
    )
    callers.update(_callers(frame, 12))  # a property and its helpers, not the search below it


def forget() -> None:
    """Begin another search."""
    _met.clear()
    _idle.clear()
    _noted.clear()
    _met_elsewhere.clear()
    _idle_elsewhere.clear()


def record() -> Record:
    """Return what is known in this process."""
    met = [_known(site, callers) for site, callers in _met.items()]
    idle = [(line, _known(site, callers)) for site, (line, callers) in _idle.items()]
    return tuple(met), tuple(idle)


def learn(given: Record) -> None:
    """Take note of what is known in another process."""
    met, idle = given
    for site, callers in met:
        _met_elsewhere.setdefault(site, set()).update(callers)
    for line, (site, callers) in idle:
        _idle_elsewhere.setdefault(site, (line, set()))[1].update(callers)


def _known(site: Site, callers: Iterable[CodeType]) -> _Known:
    return (_code(site[0]), site[1]), tuple(map(_code, callers))


def _code(code: CodeType) -> Code:
    return code.co_filename, code.co_firstlineno, code.co_qualname


def never_met(code: CodeType) -> list[int]:
    """Return the lines of the calls below some code whose antecedents were never true."""
    learn(record())
    known = _code(code)
    return sorted(
        line
        for site, (line, callers) in _idle_elsewhere.items()
        if known in callers and known not in _met_elsewhere.get(site, ())
    )


def _bool(value: object, what: str) -> bool:
    if value is True or value is False:
        return value
    raise TypeError(
        f"the {what} of implies is True or False, not {value!r}; compare, or write bool()"
    )


def _callers(frame: FrameType | None, most: int) -> Iterable[CodeType]:
    for _ in range(most):
        if frame is None:
            return
        yield frame.f_code
        frame = frame.f_back

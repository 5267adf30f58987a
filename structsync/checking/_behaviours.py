"""The words of a specification about whole behaviours: what is reached, and what is reached again and again.

They are judged for fair behaviours only; which are fair, the actions say by `fair=`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sized
from typing import Any, overload

from ._declaration import Declaration
from ._errors import SpecError
from ._language import F, Field, declare_word


@overload
def leads_to(declare: F, /) -> F: ...
@overload
def leads_to(**domains: Iterable[Any]) -> Callable[[F], F]: ...
def leads_to(declare: F | None = None, /, **domains: Iterable[Any]) -> F | Callable[[F], F]:
    """Declare that whenever a trigger holds, a goal holds then or later.

    The function returns the pair `trigger, goal`. It is judged for fair behaviours only, as the actions
    say by `fair=`, for each value of its parameters apart; the values are constants.
    """
    return _of_behaviours("leads_to", declare, domains)


@overload
def eventually(declare: F, /) -> F: ...
@overload
def eventually(**domains: Iterable[Any]) -> Callable[[F], F]: ...
def eventually(declare: F | None = None, /, **domains: Iterable[Any]) -> F | Callable[[F], F]:
    """Declare that every fair behaviour reaches a goal: `(self) -> bool`.

    For each value of its parameters apart; the values are constants.
    """
    return _of_behaviours("eventually", declare, domains)


@overload
def always_eventually(declare: F, /) -> F: ...
@overload
def always_eventually(**domains: Iterable[Any]) -> Callable[[F], F]: ...
def always_eventually(
    declare: F | None = None, /, **domains: Iterable[Any]
) -> F | Callable[[F], F]:
    """Declare that every fair behaviour reaches a goal again and again: `(self) -> bool`.

    For each value of its parameters apart; the values are constants.
    """
    return _of_behaviours("always_eventually", declare, domains)


def _of_behaviours(
    kind: str, declare: F | None, domains: dict[str, Iterable[Any]]
) -> F | Callable[[F], F]:
    for name, values in domains.items():
        if isinstance(values, Sized) and not len(values):
            raise SpecError(
                f"{kind} judges each value of {name!r}, and there is none, so nothing would be "
                "judged; give it the values"
            )
        if callable(values) or isinstance(values, Field):
            raise SpecError(
                f"{kind} judges each value of {name!r} over whole behaviours, so its values "
                "cannot depend on the state; give a constant such as a tuple of all names"
            )
    return declare_word(Declaration(kind, domains), declare)

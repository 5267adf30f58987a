"""The words of a specification about whole behaviours: what is reached, and what is reached again and again.

They are judged for fair behaviours only; which are fair, the actions say by `fair=`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sized
from typing import Any, get_args, overload

from ._declaration import Assumption, Declaration
from ._errors import SpecError
from ._language import Field
from ._words import F, declare_word


@overload
def leads_to(declare: F, /) -> F: ...
@overload
def leads_to(
    *, assuming: Mapping[str, Assumption] | None = None, **domains: Iterable[Any]
) -> Callable[[F], F]: ...
def leads_to(
    declare: F | None = None,
    /,
    *,
    assuming: Mapping[str, Assumption] | None = None,
    **domains: Iterable[Any],
) -> F | Callable[[F], F]:
    """Declare that whenever a trigger holds, a goal holds then or later.

    The function returns the pair `trigger, goal`. It is judged only for behaviours that are fair as the
    actions say by `fair=`, for each value of its parameters separately; the values are constants.

    Args:
        assuming: the fairness that this property needs in addition: for the name of an action, "weak" or
            "strong", or "weak together" or "strong together", for which any value of its parameters will
            do. The other properties are judged without it.
        domains: for each parameter its values.
    """
    return _of_behaviours("leads_to", declare, assuming, domains)


@overload
def eventually(declare: F, /) -> F: ...
@overload
def eventually(
    *, assuming: Mapping[str, Assumption] | None = None, **domains: Iterable[Any]
) -> Callable[[F], F]: ...
def eventually(
    declare: F | None = None,
    /,
    *,
    assuming: Mapping[str, Assumption] | None = None,
    **domains: Iterable[Any],
) -> F | Callable[[F], F]:
    """Declare that every fair behaviour reaches a goal: `(self) -> bool`.

    For each value of its parameters separately; the values are constants.
    """
    return _of_behaviours("eventually", declare, assuming, domains)


@overload
def always_eventually(declare: F, /) -> F: ...
@overload
def always_eventually(
    *, assuming: Mapping[str, Assumption] | None = None, **domains: Iterable[Any]
) -> Callable[[F], F]: ...
def always_eventually(
    declare: F | None = None,
    /,
    *,
    assuming: Mapping[str, Assumption] | None = None,
    **domains: Iterable[Any],
) -> F | Callable[[F], F]:
    """Declare that every fair behaviour reaches a goal again and again: `(self) -> bool`.

    For each value of its parameters separately; the values are constants.
    """
    return _of_behaviours("always_eventually", declare, assuming, domains)


def _of_behaviours(
    kind: str,
    declare: F | None,
    assuming: Mapping[str, Assumption] | None,
    domains: dict[str, Iterable[Any]],
) -> F | Callable[[F], F]:
    assumed: dict[str, Assumption] = dict(assuming or {})
    for name, fair in assumed.items():
        if fair not in get_args(Assumption):
            raise SpecError(
                f"{kind} may assume {', '.join(map(repr, get_args(Assumption)))} fairness of "
                f"{name!r}, not {fair!r}"
            )
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
    return declare_word(Declaration(kind, domains, assuming=assumed), declare)

"""The words above the functions of a specification: `action`, `invariant`, `step`, `terminal`.

A word only declares. Each decorator checks what can be checked without running anything, hangs a
`Declaration` on the function and returns the function itself, so that a spec stays an ordinary
class whose methods can be called, typed and tested. `_model` reads the declarations.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, TypeVar, overload

from ._declaration import MARK, TEMPORAL, Condition, Declaration, Domain, Fairness
from ._errors import SpecError
from ._language import Field
from ._noticed import notice

F = TypeVar("F", bound=Callable[..., Any])


@overload
def action(declare: F, /) -> F: ...
@overload
def action(
    *,
    when: Condition | None = None,
    fair: Fairness = False,
    fair_together: bool = False,
    may_never_fire: str | None = None,
    **domains: Domain,
) -> Callable[[F], F]: ...
def action(
    declare: F | None = None,
    /,
    *,
    when: Condition | None = None,
    fair: Fairness = False,
    fair_together: bool = False,
    may_never_fire: str | None = None,
    **domains: Domain,
) -> F | Callable[[F], F]:
    """Declare a step that may be taken in a state, once for each value of its parameters.

    Args:
        when: a further condition, called with the spec and the parameters.
        fair: True or "weak": an action that stays possible forever is taken eventually. "strong":
            so is one that becomes possible again and again. For each value of the parameters separately.
        fair_together: not for each value separately: it is enough that the action is taken with some
            value, again and again.
        may_never_fire: the reason why this action may stay impossible in every state; without
            it such an action is reported as a check that cannot fail.
        domains: for each parameter, the source of its values: a constant, a field, or a function of the
            spec.
    """
    if may_never_fire is not None and (type(may_never_fire) is not str or not may_never_fire):
        raise SpecError(
            f"may_never_fire takes the reason as text, not {may_never_fire!r}; "
            'write may_never_fire="why no state allows it"'
        )
    if not isinstance(fair, bool) and fair not in ("weak", "strong"):
        raise SpecError(f'fair is True, False, "weak" or "strong", not {fair!r}')
    if fair_together and not fair:
        raise SpecError("fair_together only modifies fair; write fair=True beside it")
    word = Declaration("action", domains, when, fair, fair_together, may_never_fire)
    return declare_word(word, declare)


def invariant(declare: F) -> F:
    """Declare what is true in every state: `(self) -> bool`, or a body of assert statements."""
    return _declared(Declaration("invariant"), declare, ("self",))


def step(declare: F) -> F:
    """Declare what is true of every transition: `(self, before) -> bool`, or assert statements.

    `before` is the spec as it was before the step; its fields cannot be assigned.
    """
    return _declared(Declaration("step"), declare, ("self", "before"))


def terminal(declare: F) -> F:
    """Declare in which states nothing more need happen: `(self) -> bool`.

    A state that allows no step is a deadlock, unless this is true of it. With several in one spec, one is
    enough.
    """
    return _declared(Declaration("terminal"), declare, ("self",))


def declare_word(word: Declaration, declare: F | None) -> F | Callable[[F], F]:
    for name, values in word.domains.items():
        if isinstance(values, str) or not (
            callable(values) or isinstance(values, (Iterable, Field))
        ):
            raise SpecError(
                f"the values of {name!r} are an iterable or a function of the spec, "
                f"not {values!r}; write {name}=({values!r},) for a single value"
            )
        if isinstance(values, Iterator):
            raise SpecError(
                f"the values of {name!r} are evaluated again and again, and an iterator such as "
                f"{values!r} gives them once; write {name}=tuple(...)"
            )
    _check_options(word)
    names = ("self", *word.domains)
    if declare is None:
        return lambda function: _declared(word, function, names)
    return _declared(word, declare, names)


def _check_options(word: Declaration) -> None:
    for name, function in {"when": word.when, **word.domains}.items():
        if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
            raise SpecError(f"{name} is async, and is evaluated synchronously; write def or lambda")
    if word.when is not None and not callable(word.when):
        raise SpecError(
            f"`when` is a function of the spec and the parameters, not {word.when!r}; "
            "write when=lambda spec: ..."
        )


def _declared(word: Declaration, function: F, names: tuple[str, ...]) -> F:
    what = f"@{word.kind} {getattr(function, '__qualname__', repr(function))}"
    decorated: object = function  # pyright would take the type of the result from the next line
    if not inspect.isfunction(decorated):
        raise SpecError(f"{what} decorates a plain method; put it directly above a def")
    if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        raise SpecError(f"{what} is async, and a step is one synchronous call; write def")
    if inspect.isgeneratorfunction(function):
        raise SpecError(f"{what} yields, so calling it would run nothing; return instead")
    taken = tuple(inspect.signature(function).parameters)
    if len(taken) != len(names) or set(taken[1:]) != set(names[1:]):
        raise SpecError(
            f"{what} takes ({', '.join(taken)}) but is declared for ({', '.join(names)}); "
            + _parameter_repair(word.kind)
        )
    word = replace(word, function=[function])
    setattr(function, MARK, word)
    notice(function)
    return function


def _parameter_repair(kind: str) -> str:
    if kind in ("action", *TEMPORAL):
        return f"give each parameter its values: @{kind}(who=...) for def f(self, who)"
    return "write exactly these parameters"

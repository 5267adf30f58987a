"""Guards as a user writes them: of the state, of the request, or of the arguments of the call."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from inspect import Parameter
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeVar

from structsync._core.monitors.entry import Guard, Invocation
from structsync._runtime.arguments import check_sync

#: ``(self)``, ``(self, request)``, or ``(self, ...)`` with parameters of the entry's own, where a class
#: is written; elsewhere the same without ``self``.
GuardFunction: TypeAlias = Callable[..., bool]

Function: TypeAlias = Callable[..., object]  # a guard, or a trigger, which may return anything

R_co = TypeVar("R_co", covariant=True)


class WithoutArguments(Protocol[R_co]):
    """A function that needs no arguments.

    The same as ``Callable[[], R]``, except that mypy takes a lambda with defaults for it, as in
    ``lambda button=button: lit.append(button)``.
    """

    def __call__(self) -> R_co: ...


_SEVERAL = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)


class Argument(NamedTuple):
    """Where a guard finds one of its parameters in a call of the entry."""

    name: str
    position: int | None  # among the positional ones of the entry
    by_keyword: bool
    default: Any
    of_entry: Any  # its kind there
    of_guard: Any  # and in the guard


class ByArguments:
    """A guard that takes parameters of the entry's own, as a function of the invocation."""

    __slots__ = ("__wrapped__", "arguments", "named", "positional")

    def __init__(
        self, function: Function, wanted: list[Parameter], entry: Mapping[str, Parameter]
    ) -> None:
        order = [one.name for one in entry.values() if one.kind in _POSITIONAL]
        self.__wrapped__: Function = function
        self.positional: int = len(order)
        self.named: tuple[str, ...] = tuple(
            one.name for one in entry.values() if one.kind in _NAMED
        )
        self.arguments: tuple[Argument, ...] = tuple(
            Argument(
                one.name,
                order.index(one.name) if one.name in order else None,
                one.name in self.named,
                entry[one.name].default,
                entry[one.name].kind,
                one.kind,
            )
            for one in wanted
        )

    def __call__(self, *given: Any) -> object:
        """Evaluate the guard for the invocation, which comes last, after the monitor if any."""
        *before, invocation = given
        named: dict[str, Any] = {}
        for argument in self.arguments:
            value = self._value(argument, invocation)
            if argument.of_guard is Parameter.VAR_POSITIONAL:
                before.extend(value)
            elif argument.of_guard is Parameter.VAR_KEYWORD:
                named.update(value)
            elif argument.of_guard is Parameter.KEYWORD_ONLY:
                named[argument.name] = value
            else:
                before.append(value)
        return self.__wrapped__(*before, **named)

    def _value(self, argument: Argument, call: Invocation) -> Any:
        name, position = argument.name, argument.position
        if position is not None and position < len(call.args):
            return call.args[position]
        if argument.by_keyword and name in call.kwargs:
            return call.kwargs[name]
        if argument.of_entry is Parameter.VAR_POSITIONAL:
            return call.args[self.positional :]
        if argument.of_entry is Parameter.VAR_KEYWORD:
            return {key: one for key, one in call.kwargs.items() if key not in self.named}
        if argument.default is Parameter.empty:
            raise TypeError(f"{call!r} lacks the argument {name!r}")
        return argument.default


_POSITIONAL = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
_NAMED = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)


def read_guard(
    function: Function,
    *,
    of: Function,
    first: str | None = None,
    what: str = "guard",
) -> Guard:
    """Return the guard that the function is: of the state, of the request, or of the arguments.

    Args:
      of: the function under the monitor, whose parameters the guard may take by their names.
      first: how the parameter is called that both begin with, if they are methods.

    Raises:
      TypeError: if it is not a sync function with such parameters.
    """
    check_sync(function, what)
    try:
        parameters = [*inspect.signature(function).parameters.values()]
    except ValueError:  # some functions written in C
        raise TypeError(
            f"{what} has no signature to read: {function!r}; wrap it in a lambda"
        ) from None
    entry = _parameters_of(of)
    if first is not None:
        if not isinstance(of, staticmethod):
            entry = dict([*entry.items()][1:])
        if parameters and parameters[0].kind in _POSITIONAL:
            del parameters[0]
        elif not parameters or parameters[0].kind is not Parameter.VAR_POSITIONAL:
            raise _refused(function, what, first, entry)
    wanted = [one for one in parameters if one.name in entry]
    needed = [one for one in parameters if one.default is one.empty and one.kind not in _SEVERAL]
    if not needed and not wanted:
        return Guard(function)
    if not wanted and _takes_the_request(needed):
        return Guard(function, reads_request=True)
    several = [one for one in wanted if _is_several(one) or _is_several(entry[one.name])]
    if {*needed} - {*wanted} or any(one.kind is not entry[one.name].kind for one in several):
        raise _refused(function, what, first, entry)
    return Guard(ByArguments(function, wanted, entry), reads_request=True)


def _is_several(parameter: Parameter) -> bool:
    return parameter.kind in _SEVERAL


def _takes_the_request(needed: list[Parameter]) -> bool:
    # Another name would be a slip in that of an argument, unless its type says what it is; functions in
    # C have no names to slip in.
    if len(needed) != 1 or needed[0].kind not in _POSITIONAL:
        return False
    one = needed[0]
    is_named_so = one.name == "request" or one.name.startswith("_") or _is_invocation(one)
    return is_named_so or one.kind is Parameter.POSITIONAL_ONLY


def _is_invocation(parameter: Parameter) -> bool:
    said = parameter.annotation  # text, where annotations are postponed
    return said is Invocation or (isinstance(said, str) and said.split(".")[-1] == "Invocation")


def _parameters_of(function: Function) -> dict[str, Parameter]:
    try:
        return dict(inspect.signature(function).parameters)
    except ValueError:  # some functions written in C
        return {}


def _refused(
    function: Function, what: str, first: str | None, entry: Mapping[str, Parameter]
) -> TypeError:
    before = [] if first is None else [first]
    forms = [before, [*before, "request"]]
    if entry:
        forms.append([*before, *(str(one.replace(annotation=one.empty)) for one in entry.values())])
    allowed = " or ".join(f"({', '.join(names)})" for names in forms)
    some = ", or some of these" if entry else ""
    return TypeError(
        f"{what} must take {allowed}{some}, not {inspect.signature(function)}: {function!r}"
    )

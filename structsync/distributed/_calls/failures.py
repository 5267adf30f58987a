"""Errors that go from a host to a caller: their type where both know it, and no code."""

from __future__ import annotations

import builtins
import os
import traceback
from collections.abc import Mapping, Sequence
from typing import Any

import trio

from structsync.distributed.errors import RemoteError

from .messages import Raised, encode

Errors = Mapping[str, type[Exception]]

#: In characters: what is sent of a text; in bytes: of the arguments of an error, all of them or none.
TEXT, ARGUMENTS = 10_000, 100_000

#: What would mean something else where it is raised again.
UNFIT = (StopIteration, StopAsyncIteration, BaseExceptionGroup)


def _errors_of(module: Any, prefix: str) -> dict[str, type[Exception]]:
    found = vars(module).items()
    return {
        prefix + name: one
        for name, one in found
        if isinstance(one, type) and issubclass(one, Exception) and not issubclass(one, UNFIT)
    }


#: Known everywhere.
COMMON: Errors = {**_errors_of(builtins, ""), **_errors_of(trio, "trio.")}


def known_errors(registered: Sequence[type[Exception]]) -> Errors:
    """Return what has its own type at the other side, by name.

    Raises:
      TypeError: if one of them is no class of errors.
      ValueError: if two of them have one name.
    """
    known = dict(COMMON)
    for one in registered:
        kind: object = one
        if not (isinstance(kind, type) and issubclass(kind, Exception)):
            raise TypeError(f"errors must be classes of exceptions, not {one!r}")
        name = one.__qualname__
        if known.setdefault(name, one) is not one:
            raise ValueError(f"there is more than one error of the name {name!r}; rename one")
    return known


def describe(error: BaseException, known: Errors) -> tuple[str, list[Any] | None, str, str]:
    """Return what a caller is told of an error: name, arguments, text and traceback."""
    kind = type(error)
    name = next((name for name, one in known.items() if one is kind), None)
    arguments: list[Any] | None = None
    if name is not None:
        try:
            arguments = _made_of(error)
            if len(encode(arguments)) > ARGUMENTS:
                arguments = None
        except Exception:  # noqa: BLE001 - they are the user's own, and anything may be in them
            arguments = None
    try:
        text = str(error)
        where = "".join(traceback.format_exception(error))
    except Exception:  # noqa: BLE001 - the same
        text = where = "its text is unknown: asking for it raised an error"
    return name or f"{kind.__module__}.{kind.__qualname__}", arguments, _short(text), _short(where)


def _made_of(error: BaseException) -> list[Any] | None:
    """Return what its class makes it of; that of a file has more than its ``args``, and a class may say so, too."""
    made: Any = error.__reduce__()
    maker, arguments = made[:2]
    if maker is not type(error):
        return None
    return [os.fspath(one) if isinstance(one, os.PathLike) else one for one in arguments]


def _short(text: str) -> str:
    # what is no character, as half of a pair, could not be sent
    return text[-TEXT:].encode(errors="replace").decode()


def error_of(answer: Raised, known: Errors) -> Exception:
    """Return what to raise at the caller."""
    kind = known.get(answer.error)
    if kind is not None and answer.arguments is not None:
        try:
            error = kind(*answer.arguments)
            # A constructor that makes a text of what it takes would take the text for that.
            is_same = COMMON.get(answer.error) is kind or _short(str(error)) == answer.text
        except Exception:  # noqa: BLE001 - its constructor wants something else
            pass
        else:
            if type(error) is kind and is_same:
                error.add_note(f"raised at the host:\n{answer.traceback}")
                return error
    return RemoteError(answer.error, answer.text, answer.traceback)

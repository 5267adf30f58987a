"""The options of `structsync explore`: one for each setting, made from what `Settings` says of it."""

from __future__ import annotations

import dataclasses
import inspect
import typing
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import click

from structsync.testing._settings import Settings

_ON_OR_OFF = {"True": "on", "False": "off"}

#: Asks for no bound; None is what click says where an option was not given.
_NO_BOUND = object()


def _or_none(number: type[int] | type[float]) -> Callable[[str], object]:
    """Return what reads a number, or `none` for no bound."""

    def read(text: str) -> object:
        if text.lower() == "none":
            return _NO_BOUND
        try:
            return number(text)
        except ValueError:
            raise click.BadParameter(f"{text!r} is neither a number nor 'none'") from None

    return read


def _setting(field: dataclasses.Field[Any], hint: Any) -> Callable[[Any], Any]:
    """Return the option for one setting: its name, choices, default and explanation."""
    name = "--" + field.name.replace("_", "-")
    arguments = typing.get_args(hint)
    kind, shown = hint, None
    if typing.get_origin(hint) is typing.Literal:
        kind = click.Choice(arguments)
    elif type(None) in arguments:
        kind, shown = _or_none(arguments[0]), f"{arguments[0].__name__.upper()}|none"
    elif hint is bool:
        name = f"{name}/{name.replace('--', '--no-')}"
    default = _ON_OR_OFF.get(str(field.default), str(field.default).lower())
    # Under "python -OO" no class has a docstring.
    text = f"{_EXPLAINED.get(field.name, '')}  [default: {default}]"
    names = ("-j", name) if field.name == "workers" else (name,)
    return click.option(*names, field.name, type=kind, default=None, metavar=shown, help=text)


def _explained() -> dict[str, str]:
    """Return the sentences of the docstring of Settings about each of them."""
    text = inspect.getdoc(Settings) or ""
    found: dict[str, str] = {}
    for line in text.partition("Attributes:\n")[2].splitlines():
        name, colon, rest = line.strip().partition(": ")
        if line.startswith("  ") and not line.startswith("   ") and colon:
            found[name] = rest
        else:
            found[next(reversed(found))] += " " + line.strip()
    return {name: _as_help(said) for name, said in found.items()}


def _as_help(said: str) -> str:
    """Return a sentence of a docstring as a help text: without marks, with an upper-case letter first."""
    text = said.replace("``None``", "none").replace("``", "").strip()
    return text[0].upper() + text[1:]


_EXPLAINED = _explained()


def setting_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command an option for each setting."""
    hints = typing.get_type_hints(Settings)
    for field in reversed(dataclasses.fields(Settings)):
        # What is not finished has an exit code of its own here; a shard has an option of its own.
        if field.name not in ("exhaustive", "shard"):
            command = _setting(field, hints[field.name])(command)
    return command


def asked_for(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that these options ask for, as click hands them over."""
    return {
        name: None if value is _NO_BOUND else value
        for name, value in asked.items()
        if value is not None
    }


def as_options(changes: Mapping[str, Any]) -> Iterator[str]:
    """Yield the options that ask for these settings: some decide what a schedule can contain."""
    for name, value in changes.items():
        if name in ("workers", "shard"):
            continue
        option = name.replace("_", "-")
        if isinstance(value, bool):
            yield f"--{option}" if value else f"--no-{option}"
        else:
            yield f"--{option}={'none' if value is None else value}"

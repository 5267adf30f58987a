"""Loggers and handlers: how they are set, and what else the program has put there.

What a handler has collected is for people; a handler of the program itself is looked into like any object.
"""

from __future__ import annotations

import logging
from typing import Any

from .identity import Expanded, Expander, name_of

#: Attributes that each logger has: of no account, or looked at by another name.
_OF_A_LOGGER = frozenset({"_cache", "manager", "parent", "filters", "handlers", "name"})
#: What the classes of the library give to a handler and nothing reads back.
_OF_A_HANDLER = frozenset({"_closed", "lock", "stream", "formatter", "buffer", "_name", "queue"})


def logger(thing: Any) -> Expanded:
    own = {key: value for key, value in vars(thing).items() if key not in _OF_A_LOGGER}
    children = [*own.values(), thing.parent, thing.manager.disable, *thing.filters]
    return ("logger", thing.name, len(thing.filters), tuple(own)), [*children, *thing.handlers]


def handler(thing: Any) -> Expanded:
    own = {key: value for key, value in vars(thing).items() if key not in _OF_A_HANDLER}
    return (name_of(type(thing)), tuple(own)), [*own.values()]


def handler_of_pytest(thing: Any) -> Expanded:
    return (name_of(type(thing)), thing.level), []


def expander_of(kind: type) -> Expander | None:
    """Return what looks into loggers, or into the handlers of a library."""
    if issubclass(kind, logging.Logger):
        return logger
    if issubclass(kind, logging.Handler):
        known: dict[str, Expander] = {"logging": handler, "_pytest": handler_of_pytest}
        return known.get(kind.__module__.partition(".")[0])
    return None

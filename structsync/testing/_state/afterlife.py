"""What happens when an object dies: callbacks of weak references, and finalizers."""

from __future__ import annotations

import weakref
from collections.abc import Container
from typing import Any

from structsync.testing._execution.addresses import address_of

from .identity import Expanded


def reference(thing: Any) -> Expanded:
    return "reference", [thing(), thing.__callback__]


def callbacks(thing: Any) -> list[Any]:
    """Return what is called when an object dies."""
    references: list[Any] = weakref.getweakrefs(thing)  # proxies are among them
    return [
        one.__callback__
        for one in references
        if type(one) is weakref.ref and one.__callback__ is not None and not _is_finalizer(one)
    ]


def _is_finalizer(one: weakref.ref[Any]) -> bool:
    return isinstance(one.__callback__, weakref.finalize)


_registry: dict[weakref.finalize[Any, Any], Any] = weakref.finalize._registry  # type: ignore[attr-defined]


def finalizers(reached: Container[int]) -> list[Any]:
    """Return what is called when one of these objects dies, after the object; in the order of making."""
    found: list[Any] = []
    for one in [*_registry]:
        if (alive := one.peek()) is not None and address_of(alive[0]) in reached:
            found += alive
    return found

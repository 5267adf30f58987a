"""What happens when an object dies: callbacks of weak references, and finalizers."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Container
from typing import Any

from structsync.testing._execution.addresses import address_of

from .identity import Expanded


def reference(thing: Any) -> Expanded:
    return "reference", [thing(), thing.__callback__]


def callbacks(thing: Any) -> list[Any]:
    """Return what is called when an object dies, apart from its finalizers."""
    found = [_callback(one) for one in weakref.getweakrefs(thing)]
    return [one for one in found if one is not None and not isinstance(one, weakref.finalize)]


def _callback(one: Any) -> Any:
    if type(one) in weakref.ProxyTypes:  # whose attributes are those of the object
        return next(iter(gc.get_referents(one)), None)
    return one.__callback__


_registry: dict[weakref.finalize[Any, Any], Any] = weakref.finalize._registry  # type: ignore[attr-defined]


def finalizers(reached: Container[int]) -> list[Any]:
    """Return what is called when one of these objects dies, after the object; in the order of making."""
    found: list[Any] = []
    for one in [*_registry]:
        if (alive := one.peek()) is not None and address_of(alive[0]) in reached:
            found += alive
    return found

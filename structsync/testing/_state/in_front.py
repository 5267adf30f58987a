"""Looking through what stands in front of another object: proxies, ``super()``, and iterators."""

from __future__ import annotations

import gc
import operator
import types
import weakref
from typing import Any

from . import class_instances
from .identity import Expanded, Expander, Opaque, name_of


def mapping_proxy(thing: Any) -> Expanded:
    return "mappingproxy", gc.get_referents(thing)


def weak_proxy(thing: Any) -> Expanded:
    # All attributes are those of the object behind it, so a bound method tells which one that is; the
    # collector knows the callback alone.
    try:
        behind = getattr(thing.__repr__, "__self__", None)
    except ReferenceError:
        return "weak proxy of nothing", ()
    if not any(one is thing for one in weakref.getweakrefs(behind)):
        raise Opaque("a weak proxy of an object that makes up its methods")
    return "weak proxy", [behind, *gc.get_referents(thing)]


def iterator(thing: Any) -> Expanded:
    """Look into an iterator over a dict or a set, which raises as soon as that has another size."""
    _, children = class_instances.reduced(thing)
    head = (name_of(type(thing)), operator.length_hint(thing))
    return head, [*children, *gc.get_referents(thing)]


_EMPTY: dict[Any, Any] = {}
KINDS: dict[type, Expander] = {
    types.MappingProxyType: mapping_proxy,
    weakref.ProxyType: weak_proxy,
    weakref.CallableProxyType: weak_proxy,
    super: class_instances.instance(super),
    **dict.fromkeys(
        [
            type(each)
            for of in (_EMPTY.keys(), _EMPTY.values(), _EMPTY.items())
            for each in (iter(of), reversed(of))
        ],
        iterator,
    ),
    type(iter(set[Any]())): iterator,
}

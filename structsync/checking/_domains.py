"""From the domains of parameters to all arguments that they allow."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import product
from operator import attrgetter
from typing import Any

from ._budget import Pulse
from ._declaration import Domain
from ._language import Field

Arguments = tuple[Any, ...]


def arguments_of(domains: list[Domain], pulse: Pulse) -> Callable[[Any], Iterable[Arguments]]:
    """Return the function from a spec to all arguments, as constant as the domains allow."""
    if not any(callable(one) or isinstance(one, Field) for one in domains):
        constant = tuple(product(*(each(None) for each in map(_values, domains))))
        return lambda spec: pulse.along(constant)
    values = [_values(one) for one in domains]
    if len(values) == 1:
        (single,) = values
        return lambda spec: [(value,) for value in pulse.along(single(spec))]
    return lambda spec: pulse.along(product(*[pulse.along(each(spec)) for each in values]))


def _values(domain: Domain) -> Callable[[Any], Iterable[Any]]:
    if isinstance(domain, Field):
        read = attrgetter(domain.name)
        return lambda spec: _ordered(read(spec))
    if callable(domain):
        function = domain
        return lambda spec: _ordered(function(spec))
    constant = tuple(_ordered(domain))
    return lambda spec: constant


def _ordered(values: Iterable[Any]) -> Iterable[Any]:
    """Give sets one order, since theirs changes from run to run and would change the traces."""
    if isinstance(values, (set, frozenset)) and len(values) > 1:
        try:
            return sorted(values)
        except TypeError:
            return sorted(values, key=repr)
    return values

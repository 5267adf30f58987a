"""What a task wants of one primitive, to be combined with other claims."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, NoReturn, TypeVar, final

from trio.lowlevel import Task

from .live import Live

#: The primitive that is claimed.
P_co = TypeVar("P_co", bound=Live[Any], covariant=True)


@final
class Claim(Generic[P_co]):
    """What is wanted of one primitive: an argument of :func:`acquire_all` and :func:`acquire_any`.

    Made by ``claim()`` of a primitive. It takes no position in a queue and holds nothing; it may be
    used again and again, and by any task: a lock is claimed for the task that acquires. In annotations
    it is generic in the primitive: ``Claim[Lock]``.

    Attributes:
      primitive: the primitive that is claimed.
    """

    __slots__ = ("_claim_for", "primitive")

    primitive: P_co

    def __init__(self, primitive: P_co, claim_for: Callable[[Task], Any]) -> None:
        self.primitive = primitive
        self._claim_for = claim_for

    def __init_subclass__(cls) -> NoReturn:
        raise TypeError("Claim is final; only primitives make claims")

    def __repr__(self) -> str:
        return f"<Claim on {self.primitive!r}>"

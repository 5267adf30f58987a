"""What a primitive says of itself: its name, and whether it is in service."""

from __future__ import annotations

from structsync._core.queue.arbiter import Arbiter
from structsync._core.queue.request import ClaimT

from .causes import Closed
from .primitive import Primitive


class NamedPrimitive(Primitive[ClaimT]):
    """A primitive with a name of its own."""

    __slots__ = ("_name",)
    _name: str | None

    def __init__(self, core: Arbiter[ClaimT], *, name: str | None = None) -> None:
        if name is not None and not isinstance(name, str):
            raise TypeError(f"name must be a str or None, not {name!r}")
        super().__init__(core)
        self._name = name

    @property
    def name(self) -> str | None:
        """How it is called in ``repr``, or None."""
        return self._name

    @property
    def closed(self) -> bool:
        """Whether it was closed, for good."""
        return isinstance(self._core.cause, Closed)

    def __repr__(self) -> str:
        text = super().__repr__()
        return text if self._name is None else text.replace(" at ", f" {self._name!r} at ", 1)

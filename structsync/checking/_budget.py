"""How far a search may go, and how far it has come."""

from __future__ import annotations

from dataclasses import dataclass

#: What `stopped_by` says after Ctrl-C.
INTERRUPTED = "Ctrl-C"


@dataclass(frozen=True, slots=True)
class Budget:
    """When a search ends although it has not seen everything; None is no bound."""

    max_states: int | None = None
    max_depth: int | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        for name in ("max_states", "max_depth", "seconds"):
            value = getattr(self, name)
            if value is not None and value < 0:
                raise ValueError(f"{name} must be >= 0 or None for no bound, not {value}")


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a search has come."""

    states: int
    expanded: int
    transitions: int
    depth: int
    seconds: float

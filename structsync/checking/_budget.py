"""How far a search may go, and how far it has come."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sized
from dataclasses import dataclass
from typing import Any

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


class Stopped(BaseException):
    """A budget is spent, or Ctrl-C was pressed. No `except Exception` of a spec gets hold of it."""


class Pulse:
    """Felt now and then inside whatever may take long; raises `Stopped` when the search must end."""

    def __init__(self) -> None:
        self.interrupted: object = False
        self.deadline = float("inf")
        self.why_late = ""
        self.most: int | None = None
        """How many values of one domain are too many."""

    def beat(self) -> None:
        """Raise if the time is up or Ctrl-C was pressed."""
        if self.interrupted:
            raise Stopped(INTERRUPTED)
        if time.perf_counter() > self.deadline:
            raise Stopped(self.why_late)

    def grace(self, seconds: float) -> None:
        """Let what is left to do after the end take a little longer."""
        self.interrupted = False
        self.deadline = time.perf_counter() + seconds

    def rest(self) -> None:
        """Never raise again: what is found is only told now."""
        self.interrupted = False
        self.deadline = float("inf")

    def along(self, values: Iterable[Any]) -> Iterable[Any]:
        """Return the values, with a beat now and then if they may be many."""
        few = isinstance(values, Sized) and len(values) < 256
        return values if few else self._beating(values)

    def _beating(self, values: Iterable[Any]) -> Iterator[Any]:
        for number, value in enumerate(values):
            if number % 256 == 255:
                self.beat()
                if self.most is not None and number > self.most:
                    raise Stopped(f"the bound of {self.most:,} states, by the values of one domain")
            yield value

"""What a process is asked to do, and what it does that with."""

from __future__ import annotations

import abc
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from structsync.testing._execution.current import changed_outside, notes
from structsync.testing._search.runs import Runs
from structsync.testing._state.fingerprint import Fingerprinter

# Bound now: what refuses the clock to the test stands in its place meanwhile.
_now = time.perf_counter


@dataclass(slots=True)
class Bench:
    """What a worker process keeps from one job to the next.

    Attributes:
      runs: runs the test.
      look: distinguishes its states.
      seen: each state that was known when the round began, as in a search by states.
    """

    runs: Runs
    look: Fingerprinter
    seen: dict[bytes, tuple[int, int]] = field(default_factory=dict)


class Job(abc.ABC):
    """Goes to one of the processes; what it returns comes back."""

    @abc.abstractmethod
    def run(self, bench: Bench) -> Any:
        """Do it."""


class Jobs(abc.ABC):
    """Does jobs, in other processes or not."""

    @abc.abstractmethod
    def run(self, jobs: Sequence[Job]) -> list[Any]:
        """Return what comes of jobs, in their order."""

    @abc.abstractmethod
    def each(self, job: Job) -> list[Any]:
        """Let each process do the same job."""


class Outside(Job):
    """Says what the program has first changed in the world outside, if it has."""

    def run(self, bench: Bench) -> str | None:
        return changed_outside()


class Notes(Job):
    """Says what a reader of the verdict is to know of the executions."""

    def run(self, bench: Bench) -> tuple[tuple[str, ...], bool]:
        return notes(), bench.runs.raced


@dataclass(frozen=True, slots=True)
class Allowance:
    """How much one lane may do in one round. Only the time depends on anything but the search."""

    executions: int
    steps: int
    seconds: float | None

    def meter(self, runs: Runs) -> Meter:
        return Meter(self, runs, runs.executions, runs.steps, _now())


@dataclass(frozen=True, slots=True)
class Meter:
    """Knows when a lane has had what it may have."""

    allowance: Allowance
    runs: Runs
    _executions: int
    _steps: int
    _started: float

    @property
    def executions(self) -> int:
        """How many were made."""
        return self.runs.executions - self._executions

    @property
    def steps(self) -> int:
        """How many steps they took."""
        return self.runs.steps - self._steps

    @property
    def is_over(self) -> bool:
        """Whether no execution may be begun any more."""
        most = self.allowance
        return (
            self.executions >= most.executions
            or self.steps >= most.steps
            or (most.seconds is not None and _now() - self._started >= most.seconds)
        )

"""One search of a run, in this process or in another one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ._budget import Progress
from ._check import check, check_fault
from ._errors import SpecError, where_raised
from ._load import Loaded
from ._verdict import FaultResult, Result

Found = Result | FaultResult


@dataclass(frozen=True, slots=True)
class Job:
    """A spec or a fault, by its name and by the path that it was loaded from."""

    path: int
    name: str
    is_fault: bool


@dataclass(frozen=True, slots=True)
class Bounds:
    """How far the search of one job may go."""

    max_states: int | None
    seconds: float | None


def jobs_of(loaded: Sequence[Loaded], only: str, faults: bool) -> list[Job]:
    """Return what is to be searched, in the order of the report."""
    found: list[Job] = []
    for path, one in enumerate(loaded):
        found += [Job(path, name, False) for name in one.specs]
        found += [Job(path, name, True) for name in one.faults if faults]
    return [one for one in found if only in one.name]


def do(
    job: Job,
    loaded: Sequence[Loaded],
    bounds: Bounds,
    on_progress: Callable[[Progress], None] | None = None,
) -> Found:
    """Search the spec or the fault of a job.

    Raises:
        SpecError: it cannot be run; the text begins with its name.
    """
    home = loaded[job.path]
    try:
        if job.is_fault:
            return check_fault(
                home.faults[job.name],
                max_states=bounds.max_states,
                seconds=bounds.seconds,
                name=job.name,
                on_progress=on_progress,
            )
        return check(
            home.specs[job.name],
            max_states=bounds.max_states,
            seconds=bounds.seconds,
            name=job.name,
            on_progress=on_progress,
        )
    except SpecError as error:
        raise SpecError(f"{job.name}: {error}") from error
    except Exception as error:
        raise SpecError(
            f"{job.name}: {type(error).__name__}: {error} (raised in {where_raised(error)})"
        ) from error

"""One search of a run, in this process or in another one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ._ahead import Helpers
from ._budget import Budget, Progress
from ._check import fault_result_of, fault_search, result_of, spec_search
from ._errors import SpecError, where_raised
from ._load import Loaded
from ._search import Search
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


def search_of(
    job: Job,
    loaded: Sequence[Loaded],
    bounds: Bounds,
    on_progress: Callable[[Progress], None] | None = None,
    kind: type[Search] = Search,
) -> Search:
    """Return the search of a job, which is still to be run."""
    home = loaded[job.path]
    if job.is_fault:
        fault = home.faults[job.name]
        budget = Budget(bounds.max_states, fault.max_trace, bounds.seconds)
        return fault_search(fault, budget, on_progress, kind)
    budget = Budget(bounds.max_states, None, bounds.seconds)
    return spec_search(home.specs[job.name], budget, on_progress, kind)


def do(
    job: Job,
    loaded: Sequence[Loaded],
    bounds: Bounds,
    on_progress: Callable[[Progress], None] | None = None,
    helpers: Helpers | None = None,
) -> Found:
    """Search the spec or the fault of a job.

    Args:
        job: which.
        loaded: what was loaded.
        bounds: how far it may go.
        on_progress: called several times a second with how far the search has come.
        helpers: other processes that help if it is large; they are ended.

    Raises:
        SpecError: it cannot be run; the text begins with its name.
    """
    try:
        search = search_of(job, loaded, bounds, on_progress)
        search.helpers = helpers
        if job.is_fault:
            return fault_result_of(loaded[job.path].faults[job.name], search, job.name)
        return result_of(search, job.name)
    except SpecError as error:
        raise SpecError(f"{job.name}: {error}") from error
    except Exception as error:
        raise SpecError(
            f"{job.name}: {type(error).__name__}: {error} (raised in {where_raised(error)})"
        ) from error
    finally:
        if helpers:
            helpers.end()

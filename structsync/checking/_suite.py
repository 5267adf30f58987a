"""Many specs and faults in one run, with one exit code."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ._ahead import Helpers
from ._budget import INTERRUPTED, Progress
from ._jobs import Bounds, Found, Job, do, jobs_of
from ._load import Loaded
from ._overall import Overall
from ._together import NotPortableError, Plan, Together
from ._verdict import FaultResult, Result, Verdict
from ._worker import names_of

#: Everything holds, and every planted fault was found.
EXIT_CONFIRMED = 0
#: A property is refuted or cannot fail, a fault was not found, or the manifest differs.
EXIT_REFUTED = 1
#: Something is not finished, and nothing is refuted.
EXIT_UNFINISHED = 2
#: The command or a spec is wrong; nothing was judged. As in BSD's sysexits.
EXIT_USAGE = 64


@dataclass(frozen=True, slots=True)
class Options:
    """What to run, and when to stop."""

    only: str = ""
    """Run the specs and faults whose name contains this."""
    faults: bool = True
    max_states: int | None = None
    seconds: float | None = None
    """For the whole run."""
    fail_fast: bool = False
    """Start nothing more once something is refuted, cannot fail, or a fault was not found."""
    processes: int = 1
    """How many search at once; the outcome is the same for any number."""


@dataclass(frozen=True, slots=True)
class Run:
    """The results of the specs and faults of one path."""

    loaded: Loaded
    results: tuple[Result, ...]
    faults: tuple[FaultResult, ...]
    not_started: tuple[str, ...]

    @property
    def finished(self) -> bool:
        """True if every search was finished."""
        verdicts = [one.verdict for result in self.results for one in result.properties]
        verdicts += [one.verdict for one in self.faults]
        return not self.not_started and Verdict.UNFINISHED not in verdicts


OnStart = Callable[[str], None]
OnProgress = Callable[[Progress], None]

#: A run that is over after so many seconds starts no other process, which would take as long.
ALONE = 1.0


class _HandedOver(BaseException):
    """The search that runs has taken so long that other processes begin it anew."""


class Suite:
    """Runs what was loaded, one search after the other or several at once, until the time is up or Ctrl-C."""

    def __init__(
        self,
        options: Options,
        on_start: OnStart | None = None,
        on_progress: OnProgress | None = None,
        overall: Overall | None = None,
    ) -> None:
        self.options = options
        self.overall = overall or Overall({}, {})
        self._on_start = on_start or (lambda name: None)
        self._on_progress = on_progress or (lambda progress: None)
        self._began = time.perf_counter()
        self._ended = False
        self._processes = options.processes

    def run(self, loaded: Sequence[Loaded], paths: Sequence[Path] = ()) -> list[Run]:
        """Check the specs of each path, and its faults.

        Args:
            loaded: what was loaded.
            paths: from where, as another process can do it again; structsync's own if there are none.
        """
        jobs = jobs_of(loaded, self.options.only, self.options.faults)
        found = self._alone(jobs, loaded, paths)
        rest = jobs[len(found) :]
        if rest and not self._ended:
            try:
                found |= self._together(rest, loaded, paths)
            except NotPortableError:
                self._processes = 1
                found |= self._alone(rest, loaded, paths)
        return [_run_of(place, one, jobs, found) for place, one in enumerate(loaded)]

    def seconds(self) -> float:
        """Return how long the run has taken so far."""
        return time.perf_counter() - self._began

    def _alone(
        self, jobs: Sequence[Job], loaded: Sequence[Loaded], paths: Sequence[Path]
    ) -> dict[Job, Found]:
        """Search in this process, for a second if there are others; return what was finished, in order.

        Of a single search, or the last one, the others take moves ahead.
        """
        found: dict[Job, Found] = {}
        for number, job in enumerate(jobs):
            bounds = self._bounds()
            if bounds is None:
                self._ended = True
                break
            shared = self._processes > 1 and len(jobs) - number > 1
            if shared and self.seconds() > ALONE:
                break
            self.overall.starts(job.name)
            self._on_start(job.name)
            try:
                if shared:
                    found[job] = do(job, loaded, bounds, self._news)
                else:
                    helpers = self._helpers(job, loaded, bounds, paths)
                    found[job] = do(job, loaded, bounds, self._on_progress, helpers)
            except _HandedOver:
                break
            self.overall.ends(job.name)
            if found[job].stopped_by == INTERRUPTED or self._is_last(found[job]):
                self._ended = True
                break
        return found

    def _helpers(
        self, job: Job, loaded: Sequence[Loaded], bounds: Bounds, paths: Sequence[Path]
    ) -> Helpers | None:
        if self._processes == 1:
            return None
        places = [one.resolve() for one in paths]
        return Helpers(lambda: self._processes, (places, names_of(loaded), job, bounds))

    def _together(
        self, jobs: Sequence[Job], loaded: Sequence[Loaded], paths: Sequence[Path]
    ) -> dict[Job, Found]:
        """Search in other processes."""
        number = min(self._processes, len(jobs))
        self.overall.lanes = number
        largest_first = sorted(
            range(len(jobs)),
            key=lambda one: (jobs[one].is_fault, -self.overall.weight(jobs[one].name)),
        )
        plan = Plan(
            jobs,
            range(len(jobs)) if self.options.fail_fast else largest_first,
            self._bounds,
            self._is_last,
            self._running,
            lambda job: self.overall.ends(job.name),
            self._on_progress,
        )
        places = [one.resolve() for one in paths]
        with Together(number, places, names_of(loaded), plan) as together:
            together.run()
            return together.found

    def _news(self, progress: Progress) -> None:
        if self.seconds() > ALONE:
            raise _HandedOver
        self._on_progress(progress)

    def _running(self, jobs: Sequence[Job]) -> None:
        for job in jobs:
            self.overall.starts(job.name)
        if jobs:
            others = f" and {len(jobs) - 1} more" if len(jobs) > 1 else ""
            self._on_start(f"{jobs[0].name}{others}")

    def _bounds(self) -> Bounds | None:
        """Return how far a search that starts now may go; None if the time is up."""
        left = self.options.seconds
        if left is not None:
            left = max(0.0, left - self.seconds())
        return None if left == 0 else Bounds(self.options.max_states, left)

    def _is_last(self, found: Found) -> bool:
        return self.options.fail_fast and _is_red(found)


def _run_of(place: int, loaded: Loaded, jobs: Sequence[Job], found: dict[Job, Found]) -> Run:
    mine = [one for one in jobs if one.path == place]
    results = [found[one] for one in mine if one in found]
    return Run(
        loaded,
        tuple(one for one in results if isinstance(one, Result)),
        tuple(one for one in results if isinstance(one, FaultResult)),
        tuple(one.name for one in mine if one not in found),
    )


def _is_red(result: Result | FaultResult) -> bool:
    red = {Verdict.REFUTED, Verdict.VACUOUS}
    if isinstance(result, FaultResult):
        return not result.caught and result.verdict in red
    return result.verdict in red


def exit_code(runs: Sequence[Run], differences: Sequence[str]) -> int:
    """Return the exit code of a whole run; a refutation wins over what is not finished."""
    verdicts = [one.verdict for run in runs for result in run.results for one in result.properties]
    verdicts += [
        Verdict.CONFIRMED if one.caught else one.verdict for run in runs for one in run.faults
    ]
    if differences or {Verdict.REFUTED, Verdict.VACUOUS} & {*verdicts}:
        return EXIT_REFUTED
    if Verdict.UNFINISHED in verdicts or any(run.not_started for run in runs):
        return EXIT_UNFINISHED
    return EXIT_CONFIRMED

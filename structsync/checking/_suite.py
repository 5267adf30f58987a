"""Many specs and faults in one run, with one exit code."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from ._budget import INTERRUPTED, Progress
from ._check import check, check_fault
from ._errors import SpecError, where_raised
from ._load import Loaded
from ._overall import Overall
from ._verdict import FaultResult, Result, Verdict

SearchResultT = TypeVar("SearchResultT", Result, FaultResult)

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


class Suite:
    """Runs what was loaded, one search after the other, until the time is up or Ctrl-C."""

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
        self._on_progress = on_progress
        self._began = time.perf_counter()
        self._ended = False

    def run(self, loaded: Loaded) -> Run:
        """Check the specs of one path, then its faults."""
        skipped: list[str] = []
        results, faults = [], []
        for name, spec in loaded.specs.items():
            if self._starts(name, skipped):
                results.append(self._search(check, spec, name))
        for name, fault in loaded.faults.items() if self.options.faults else ():
            if self._starts(name, skipped):
                faults.append(self._search(check_fault, fault, name))
        return Run(loaded, tuple(results), tuple(faults), tuple(skipped))

    def _starts(self, name: str, skipped: list[str]) -> bool:
        if self.options.only not in name:
            return False
        if self._ended or self._seconds_left() == 0:
            skipped.append(name)
            return False
        self.overall.starts(name)
        self._on_start(name)
        return True

    def _seconds_left(self) -> float | None:
        if self.options.seconds is None:
            return None
        return max(0.0, self.options.seconds - (time.perf_counter() - self._began))

    def _search(
        self, search: Callable[..., SearchResultT], what: object, name: str
    ) -> SearchResultT:
        try:
            result = search(
                what,
                max_states=self.options.max_states,
                seconds=self._seconds_left(),
                name=name,
                on_progress=self._on_progress,
            )
        except SpecError as error:
            raise SpecError(f"{name}: {error}") from error
        except Exception as error:
            raise SpecError(
                f"{name}: {type(error).__name__}: {error} (raised in {where_raised(error)})"
            ) from error
        self.overall.ends(name)
        self._ended |= result.stopped_by == INTERRUPTED
        self._ended |= self.options.fail_fast and _is_red(result)
        return result


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

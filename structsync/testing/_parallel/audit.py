"""The audit of a search by states, in several processes: each merge may be looked at by another one.

The jobs say which states they came to, and the one process that knows what all lanes have found compares.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from structsync.testing._execution.execution import Chooser, Execution
from structsync.testing._execution.schedule import Choice
from structsync.testing._search.audit import (
    FARTHEST,
    FEWEST_MERGES,
    FEWEST_SCHEDULES,
    REPAIR,
    SHARE,
    TAKEN_FOR_EQUAL,
    MergeLog,
    Successors,
    branches,
    ending_of,
)
from structsync.testing._search.choosers import RandomSample, differing
from structsync.testing._search.result import SearchResult
from structsync.testing._search.runs import Runs
from structsync.testing._state.fingerprint import Fingerprinter

from .frontier import LANES
from .jobs import Bench, Job, Jobs
from .lane import FailedElsewhere, failed_in

#: One job looks at so many merges, or makes so many schedules.
AT_ONCE = 25
#: Schedules at random of one shard begin with one of so many of its prefixes.
MOST_PREFIXES = 100

Key = bytes | tuple[str, ...]
One = TypeVar("One")


@dataclass(frozen=True, slots=True)
class Seen:
    """What an execution of the audit came to.

    Attributes:
      ways: the states where there was something to choose, and then the ending, if it has ended; each
          with the step that led there.
      failed: the execution, if it has failed.
      shown: what it ended with.
    """

    ways: list[tuple[Key, str]]
    failed: FailedElsewhere | None
    shown: str


@dataclass(frozen=True, slots=True)
class Audited:
    """What a job of the audit has done."""

    executions: int
    steps: int
    seen: list[Seen]


class Led:
    """Makes given choices, and then does as another one does."""

    def __init__(self, prefix: Sequence[Choice], chooser: Chooser) -> None:
        self._prefix = prefix
        self._chooser = chooser

    def choose(self, execution: Execution, options: tuple[Choice, ...]) -> Choice | None:
        step = len(execution.choices)
        if step >= len(self._prefix):
            return self._chooser.choose(execution, options)
        if self._prefix[step] not in options:
            raise differing(step, (self._prefix[step],), options)
        return self._prefix[step]


class _Walk:
    """Goes to where an execution was cut, and on from there at random, and notes where it comes."""

    def __init__(self, look: Fingerprinter, chance: random.Random) -> None:
        self._look = look
        self._random = chance
        self.ways: list[tuple[Key, str]] = []
        self._after = "where it was cut"

    def choose(self, execution: Execution, options: tuple[Choice, ...]) -> Choice | None:
        step = len(execution.choices)
        if not branches(options):
            return self._random.choice(options)
        self.ways.append((self._look(execution), self._after))
        choice = self._random.choice(options)
        self._after = f"after '{choice}' at step {step + 1}"
        return None if len(self.ways) > FARTHEST else choice

    def seen(self, execution: Execution) -> Seen:
        """Return where the execution has come."""
        ending = execution.ending
        assert ending is not None
        if self.ways and ending.kind not in ("cut", "endless"):
            self.ways.append((ending_of(ending), self._after))
        return Seen(self.ways, failed_in(execution, at_random=True), "")


@dataclass(frozen=True, slots=True)
class Walks(Job):
    """Carries executions on that were cut."""

    prefixes: list[tuple[int, list[Choice]]]

    def run(self, bench: Bench) -> Audited:
        runs = bench.runs
        executions, steps = runs.executions, runs.steps
        seen = []
        for number, prefix in self.prefixes:
            walk = _Walk(bench.look, random.Random(number))
            seen.append(walk.seen(runs.execute(Led(prefix, walk))))
        return Audited(runs.executions - executions, runs.steps - steps, seen)


@dataclass(frozen=True, slots=True)
class Schedules(Job):
    """Makes whole schedules at random, in which nothing is cut."""

    seed: str
    number: int
    prefixes: list[tuple[Choice, ...]]

    def run(self, bench: Bench) -> Audited:
        runs = bench.runs
        executions, steps = runs.executions, runs.steps
        sample = RandomSample(self.seed)
        chance = random.Random(self.seed)
        seen = []
        for _ in range(self.number):
            sample.begin()
            execution = runs.execute(Led(chance.choice(self.prefixes), sample))
            sample.ended(len(execution.choices))
            ending = execution.ending
            assert ending is not None
            ways: list[tuple[Key, str]] = []
            if ending.kind != "endless":
                ways.append((ending_of(ending), ""))
            seen.append(Seen(ways, failed_in(execution, at_random=True), repr(ending.value)))
        return Audited(runs.executions - executions, runs.steps - steps, seen)


class Audit:
    """Looks again at a part of what a complete search by states has left out."""

    def __init__(
        self,
        runs: Runs,
        processes: Jobs,
        log: MergeLog,
        prefixes: list[tuple[Choice, ...]],
    ) -> None:
        self._runs = runs
        self._processes = processes
        self._log = log
        self._prefixes = prefixes
        self._searched = runs.executions
        self._successors: Successors = log.successors()
        self.merges = 0
        self.schedules = 0

    def run(self) -> FailedElsewhere | str | None:
        """Return what is wrong: a failure, or why nothing can be confirmed."""
        return self._of_merges() or self._of_schedules()

    def _of_merges(self) -> FailedElsewhere | str | None:
        log, seed = self._log, self._runs.settings.seed
        wanted = min(max(FEWEST_MERGES, log.count // SHARE), len(log.merges))
        chosen = random.Random(seed).sample(log.merges, wanted)[: self._possible(wanted)]
        for seen in self._of([Walks(part) for part in _batches([*enumerate(chosen)])]):
            self.merges += 1
            if wrong := seen.failed or self._mismatch(seen):
                return wrong
        return self._ended_early(self.merges < wanted)

    def _of_schedules(self) -> FailedElsewhere | str | None:
        wanted = max(FEWEST_SCHEDULES, self._searched // SHARE)
        parts = _batches(range(self._possible(wanted)))
        seed = self._runs.settings.seed
        within = random.Random(seed).sample(self._prefixes, min(MOST_PREFIXES, len(self._prefixes)))
        jobs = [Schedules(f"{seed} {part[0]}", len(part), within) for part in parts]
        for seen in self._of(jobs):
            self.schedules += 1
            if seen.failed is not None:
                return seen.failed
            if any(key not in self._log.numbers for key, _ in seen.ways):
                text = f"a schedule at random ends with {seen.shown}, and no other did"
                return f"{TAKEN_FOR_EQUAL}: {text}; {REPAIR}"
        return self._ended_early(self.schedules < wanted)

    def _possible(self, wanted: int) -> int:
        """Return how many of so many executions the budget has."""
        left = self._runs.executions_left
        return wanted if left is None else min(wanted, left)

    def _of(self, jobs: Sequence[Job]) -> Iterator[Seen]:
        """Yield what the executions of jobs came to, in their order, while there is a budget."""
        for some in _batches(jobs, LANES):
            if self._runs.stopped(0) is not None:
                return
            for done in self._processes.run(some):
                self._runs.count(done.executions, done.steps)
                yield from done.seen

    def _ended_early(self, it_did: bool) -> str | None:
        return f"{self._runs.stopped(0)}, in the audit" if it_did else None

    def _mismatch(self, seen: Seen) -> str | None:
        """Say at which step an execution left what is known, if it did."""
        before: int | None = None
        for key, after in seen.ways:
            state = self._log.numbers.get(key, 0)
            if not state or (before is not None and state not in self._successors.of(before)):
                return f"{TAKEN_FOR_EQUAL}: {after} comes what never came after it before; {REPAIR}"
            before = state
        return None


def _batches(all_of_them: Sequence[One], size: int = AT_ONCE) -> list[list[One]]:
    return [[*all_of_them[start : start + size]] for start in range(0, len(all_of_them), size)]


def audited(
    runs: Runs,
    processes: Jobs,
    log: MergeLog,
    found: SearchResult,
    prefixes: list[tuple[Choice, ...]],
) -> SearchResult:
    """Return what a complete search below these prefixes, by states, has come to after the audit."""
    made = Audit(runs, processes, log, prefixes)
    wrong = made.run()
    done = made.merges, made.schedules
    if isinstance(wrong, FailedElsewhere):
        failed = wrong.result(runs, found.states, found.memory)
        return SearchResult(
            failed.failed,
            failed.execution,
            found.states,
            found.memory,
            failed.unfinished,
            way="merged",
            audited=done,
        )
    return SearchResult(
        None, runs.executions, found.states, found.memory, wrong, way="merged", audited=done
    )

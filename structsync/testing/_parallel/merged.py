"""Each state once, in several processes.

A lane cuts an execution at a state that was known when its round began, or that it has been in itself. That
state may be one below which no process has been yet: the lane that came there first has what follows among what is left
of its lane. So nothing is complete before nothing is left of any lane.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, replace

from structsync.testing._execution.schedule import Choice
from structsync.testing._search.audit import INJECTED, MergeLog
from structsync.testing._search.endless import ReachabilityMap, execution_without_end
from structsync.testing._search.result import SearchResult
from structsync.testing._search.runs import Runs
from structsync.testing._state.fingerprint import Fingerprinter

from .frontier import LANES, Frontier
from .jobs import Allowance, Bench, Job, Jobs
from .lane import FailedElsewhere, search_below
from .subtree import Subtree

#: As for schedules. The more executions in a round, the more states are visited by more than one lane.
MOST, STEPS = 64, 4_000
#: A round makes the search longer by one part in so many.
GROWTH = 16

#: States with the cancellations and the deviations that were left there, as a chooser keeps them.
States = dict[bytes, tuple[int, int]]
Key = bytes | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Below:
    """A part of the search: all that begins with these choices.

    Attributes:
      choices: what is chosen first.
      before: the state that was looked at last on the way, for the audit.
      source: the state from which it has led here of itself; b"" after a cancellation.
    """

    choices: tuple[Choice, ...]
    before: Key = b""
    source: bytes = b""


class Overlay(States):
    """What one lane has added to the states that all of them know."""

    def __init__(self, known: States) -> None:
        super().__init__()
        self._known = known

    def get(self, key: bytes, default: object = None) -> tuple[int, int] | None:  # type: ignore[override]
        found = super().get(key)
        return self._known.get(key) if found is None else found


class LaneLog(MergeLog):
    """What follows what below the prefixes of one lane."""

    _origin = 0

    def begin(self, before: Key) -> None:
        """Begin below another prefix, after this state."""
        self._at.clear()
        self._origin = self.numbers.setdefault(before, len(self.numbers) + 1) if before else 0

    def _before(self, depth: int) -> int:
        return super()._before(depth) if depth else self._origin

    def state(self, depth: int) -> Key:
        """Return the state that was looked at last before a step; b"" if none was."""
        number = self._at[depth]
        return [*self.numbers][number - 1] if number else b""

    def edges(self) -> tuple[list[Key], array[int], array[int], set[int]]:
        """Return the states, by number from 1 on, what leads to what, and which of them branch."""
        return [*self.numbers], self._sources, self._targets, self._branching


class LaneMap(Subtree, ReachabilityMap):
    """Goes depth first below one prefix after the other."""

    _origin = 0

    def __init__(self, look: Fingerprinter, log: LaneLog, known: States) -> None:
        super().__init__(look, log)
        self.seen = Overlay(known)
        self.lane_log = log

    def below(self, part: Below) -> LaneMap:
        """Begin below another prefix."""
        self.prefix = part.choices
        self._path, self._cut = [], False
        self._at.clear()
        self._origin = self._numbers.setdefault(part.source, len(self._numbers))
        self.lane_log.begin(part.before)
        return self

    def _source(self, depth: int) -> int:
        return super()._source(depth) if depth else self._origin

    def parts_left(self) -> list[Below]:
        """Return all that was not tried below this prefix."""
        keys = [*self._numbers]
        found = []
        for depth, choices in self.left():
            injected = choices[-1].kind in INJECTED
            source = b"" if injected else keys[self._at[depth]]
            found.append(Below(choices, self.lane_log.state(depth), source))
        return found

    def edges(self) -> tuple[list[bytes], array[int], array[int], set[int]]:
        """Return the states, by number from 0 on, what leads to what by itself, and which of them end."""
        return [*self._numbers], self._sources, self._targets, self._ended - {0}


@dataclass(frozen=True, slots=True)
class MergedDone:
    """What one lane has come to in one round."""

    executions: int
    steps: int
    left: list[Below]
    failed: FailedElsewhere | None
    states: States
    ways: tuple[list[bytes], array[int], array[int], set[int]]
    log: tuple[list[Key], array[int], array[int], set[int]]
    cuts: list[list[Choice]]


@dataclass(frozen=True, slots=True)
class MergedLane(Job):
    """Searches below these prefixes, and cuts at states that are known."""

    parts: list[Below]
    allowance: Allowance

    def run(self, bench: Bench) -> MergedDone:
        log = LaneLog(0)
        chooser = LaneMap(bench.look, log, bench.seen)
        meter = self.allowance.meter(bench.runs)
        left, failed = search_below(
            self.parts, meter, chooser.below, lambda _: chooser.parts_left()
        )
        if failed is None:
            # The last execution may be the first in which it decides anything.
            chooser.refuse_what_is_left_out()
        return MergedDone(
            meter.executions,
            meter.steps,
            left,
            failed,
            dict(chooser.seen),
            chooser.edges(),
            log.edges(),
            log.merges,
        )


@dataclass(frozen=True, slots=True)
class Learn(Job):
    """Tells a process the states that the last round has found."""

    states: States

    def run(self, bench: Bench) -> None:
        bench.seen.update(self.states)


@dataclass(frozen=True, slots=True)
class Seek(Job):
    """Looks for an execution that comes into a state from which no end can be reached."""

    states: frozenset[bytes]

    def run(self, bench: Bench) -> FailedElsewhere:
        return FailedElsewhere.of(execution_without_end(bench.runs, self.states, bench.look))


class JointLog(MergeLog):
    """What all lanes have found to follow what."""

    def add(self, log: tuple[list[Key], array[int], array[int], set[int]]) -> None:
        """Add what one lane has found in one round."""
        keys, sources, targets, branching = log
        numbers = [0, *(self.numbers.setdefault(key, len(self.numbers) + 1) for key in keys)]
        self._sources.extend(numbers[one] for one in sources)
        self._targets.extend(numbers[one] for one in targets)
        self._branching.update(numbers[one] for one in branching)


class JointMap(ReachabilityMap):
    """The states that all lanes have been in."""

    def add(self, done: MergedDone) -> States:
        """Add what one lane has found in one round; return what is new."""
        keys, sources, targets, ended = done.ways
        numbers = [self._numbers.setdefault(key, len(self._numbers)) for key in keys]
        self._sources.extend(numbers[one] for one in sources)
        self._targets.extend(numbers[one] for one in targets)
        self._ended.update(numbers[one] for one in ended)
        nothing = (-1, -1)
        new = {key: left for key, left in done.states.items() if left > self.seen.get(key, nothing)}
        self.seen.update(new)
        return new


def by_states(
    runs: Runs, processes: Jobs, parts: list[Below], joint: JointMap, log: JointLog
) -> SearchResult:
    """Visit each state that can be reached below these prefixes."""
    frontier = Frontier(parts)
    each = 1
    while frontier:
        frontier.share()
        allotted = frontier.allot(each, runs.executions_left)
        jobs = [
            MergedLane(frontier.lanes[lane], Allowance(may, STEPS, runs.seconds_left))
            for lane, may in allotted
        ]
        news: States = {}
        results: list[MergedDone] = processes.run(jobs)
        for (lane, _), done in zip(allotted, results, strict=True):
            runs.count(done.executions, done.steps)
            news.update(joint.add(done))
            log.add(done.log)
            for choices in done.cuts:
                log.cut(choices)
            if done.failed is not None:
                found = done.failed.result(runs, joint.states, joint.memory)
                return replace(found, way="merged")
            frontier.lanes[lane] = done.left
        if frontier and (reason := runs.stopped(joint.states)):
            return _merged(runs, joint, reason)
        processes.each(Learn(news))
        each = max(1, min(runs.executions // (LANES * GROWTH), MOST))
    if states := joint.endless():
        failed: FailedElsewhere
        (failed,) = processes.run([Seek(states)])
        found = failed.result(runs, joint.states, joint.memory)
        return replace(found, way="merged")
    return _merged(runs, joint, None)


def _merged(runs: Runs, joint: JointMap, reason: str | None) -> SearchResult:
    return SearchResult(None, runs.executions, joint.states, joint.memory, reason, way="merged")

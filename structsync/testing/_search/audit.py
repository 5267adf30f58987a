"""Were states taken for equal that differ? What follows a merge is sampled, and so are whole schedules.

A search by states ends an execution where it has been before. That is right if a state holds everything
that decides what follows, and no list of what that may be is ever complete. So before such a search
confirms anything,

* executions that were cut are carried on from there, along choices at random: each state that branches
  must be one that was known to follow the one before, and so must the ending;
* whole schedules at random, in which nothing is cut, must end as one has ended before.
"""

from __future__ import annotations

import random
from array import array
from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from .choosers import RandomSample, differing
from .differences import Given, difference

if TYPE_CHECKING:
    from structsync.testing._execution.execution import Ending, Execution
    from structsync.testing._execution.schedule import Choice
    from structsync.testing._state.fingerprint import Fingerprinter

    from .runs import Runs

#: What is done to the program, and not by it.
INJECTED = ("cancel", "scope")
#: A tenth of the merges, and of the executions, is looked at again; so many at least.
SHARE, FEWEST_MERGES, FEWEST_SCHEDULES = 10, 50, 200
#: So many merges are remembered, each of them as likely as any other.
REMEMBERED = 1_000
#: An execution is carried on over so many states.
FARTHEST = 64

#: Values of which equal ones are written alike in each execution.
_PLAIN = (int, float, str, bool, bytes, complex, type(None))


class MergeLog:
    """What is known to follow each state that branches, and some of the places where it was cut."""

    def __init__(self, seed: int) -> None:
        self.numbers: dict[bytes | tuple[str, ...], int] = {}
        self._sources, self._targets = array("I"), array("I")
        self._at: list[int] = []
        """For each step of the path, the state that was looked at last."""
        self._branching: set[int] = set()
        self._ways: dict[int, tuple[int, tuple[Choice, ...]]] = {}
        """How each state was come to first: from which one, and by which choices."""
        self._random = random.Random(seed)
        self.merges: list[list[Choice]] = []
        self.count = 0

    def arrive(self, choices: Sequence[Choice], key: bytes | None, branching: bool) -> None:
        """Note the state after these choices, if it was looked at."""
        depth = len(choices)
        if key is None:
            self._at[depth:] = [self._before(depth)]
            return
        self._follow(depth, key)
        state = self.numbers[key]
        if state not in self._ways:
            before, start = self._before(depth), depth
            while start and self._at[start - 1] == before:
                start -= 1
            self._ways[state] = before, (*choices[start:],)
        self._at[depth:] = [state]
        if branching:
            self._branching.add(state)

    def cut(self, choices: Sequence[Choice]) -> None:
        """Note that an execution was cut, because its state was known."""
        self.count += 1
        if len(self.merges) < REMEMBERED:
            self.merges.append([*choices])
        elif (place := self._random.randrange(self.count)) < REMEMBERED:
            self.merges[place] = [*choices]

    def ended(self, depth: int, ending: Ending) -> None:
        """Note that an execution of so many steps has ended."""
        self._follow(depth, ending_of(ending))

    def _follow(self, depth: int, key: bytes | tuple[str, ...]) -> None:
        self._sources.append(self._before(depth))
        self._targets.append(self.numbers.setdefault(key, len(self.numbers) + 1))

    def way_to(self, state: int) -> list[Choice]:
        """Return the choices by which one first came to a state."""
        parts: list[tuple[Choice, ...]] = []
        while state:
            state, part = self._ways[state]
            parts.append(part)
        return [choice for part in reversed(parts) for choice in part]

    def _before(self, depth: int) -> int:
        return self._at[depth - 1] if depth else 0

    def successors(self) -> Successors:
        """Return what can follow each state; the search must be complete."""
        found = defaultdict[int, set[int]](set)
        for source, target in zip(self._sources, self._targets, strict=True):
            found[source].add(target)
        return Successors(found, self._branching)

    @property
    def memory(self) -> int:
        """Bytes that are taken by it."""
        edges = 8 * len(self._sources)
        return edges + 200 * len(self.numbers) + sum(64 + 8 * len(one) for one in self.merges)


class Successors:
    """Which endings, and which states that branch, can be the next after a state.

    States between them are looked at now and then only: where something can be cancelled at that
    moment, and where the way is long.
    """

    def __init__(self, edges: Mapping[int, set[int]], branching: Set[int]) -> None:
        self._edges = edges
        self._branching = branching
        self._found: dict[int, set[int]] = {}

    def of(self, state: int) -> Set[int]:
        """Return what may be next."""
        found = self._found.get(state)
        if found is None:
            found = self._found[state] = set()
            queue = [state]
            while queue:
                new = self._edges.get(queue.pop(), set()) - found
                found |= new
                queue += new - self._branching
        return found


def branches(options: Sequence[Choice]) -> bool:
    """Return whether there is something to choose besides what may be cancelled."""
    return len(options) > 1 and options[1].kind not in INJECTED


def has_failed(execution: Execution) -> bool:
    """Return whether an execution failed; one at random may loop for long and mean nothing."""
    ending = execution.ending
    return ending is not None and ending.failed and ending.kind != "endless"


def ending_of(ending: Ending) -> tuple[str, ...]:
    """Return what two executions have in common that end alike."""
    if ending.kind == "passed":
        value = repr(ending.value) if isinstance(ending.value, _PLAIN) else ""
        return ending.kind, value
    return ending.signature


@dataclass(frozen=True, slots=True)
class Audit:
    """What has come of it.

    Attributes:
      merges: how many executions were carried on where they had been cut.
      schedules: how many whole schedules were tried.
      failed: one of them that failed, although no other did.
      unfinished: that states were taken for equal that differ, or why the audit ended early.
    """

    merges: int
    schedules: int
    failed: Execution | None = None
    unfinished: str | None = None


def audit(runs: Runs, log: MergeLog, look: Fingerprinter) -> Audit:
    """Look again at a part of what a complete search by states has left out."""
    executions = runs.executions
    wanted = max(FEWEST_MERGES, log.count // SHARE)
    chosen = random.Random(runs.settings.seed).sample(log.merges, min(wanted, len(log.merges)))
    successors = log.successors()
    for number, prefix in enumerate(chosen):
        if reason := runs.stopped(0):
            return Audit(number, 0, unfinished=f"{reason}, in the audit")
        walk = _Walk(prefix, log, successors, look, random.Random(number))
        execution = runs.execute(walk)
        if has_failed(execution):
            return Audit(number + 1, 0, failed=execution)
        if walk.is_wrong(execution):
            return Audit(number + 1, 0, unfinished=walk.mismatch(runs, execution))
    return _sampled(runs, log, look, len(chosen), max(FEWEST_SCHEDULES, executions // SHARE))


def _sampled(runs: Runs, log: MergeLog, look: Fingerprinter, merges: int, schedules: int) -> Audit:
    sample = RandomSample(runs.settings.seed)
    for number in range(schedules):
        if reason := runs.stopped(0):
            return Audit(merges, number, unfinished=f"{reason}, in the audit")
        sample.begin()
        execution = runs.execute(sample)
        sample.ended(len(execution.choices))
        if has_failed(execution):
            return Audit(merges, number + 1, failed=execution)
        ending = execution.ending
        assert ending is not None
        if ending.kind != "endless" and ending_of(ending) not in log.numbers:
            given = cast(random.Random, Given(execution.choices))
            walk = _Walk([], log, log.successors(), look, given)
            again = runs.execute(walk)
            runs.executions -= 1
            text = f"a schedule at random ends with {ending.value!r}, and no other did"
            text += walk.difference(runs, again)
            return Audit(merges, number + 1, unfinished=f"{TAKEN_FOR_EQUAL}: {text}; {REPAIR}")
    return Audit(merges, schedules)


TAKEN_FOR_EQUAL = "two states were taken for equal that differ"
REPAIR = (
    "something decides that is not in the state (what the explorer cannot see is in its docs); "
    "search='plain' and search='random' rest on no states"
)


class _Walk:
    """Goes to where an execution was cut, and on from there at random, and compares."""

    def __init__(
        self,
        prefix: list[Choice],
        log: MergeLog,
        successors: Successors,
        look: Fingerprinter,
        chance: random.Random,
    ) -> None:
        self._prefix = prefix
        self._log = log
        self._successors = successors
        self._look = look
        self._random = chance
        self._before: int | None = None
        self._here = len(prefix)
        self._steps = 0
        self._wrong = False

    def choose(self, execution: Execution, options: tuple[Choice, ...]) -> Choice | None:
        step = len(execution.choices)
        if step < len(self._prefix):
            if self._prefix[step] not in options:
                raise differing(step, (self._prefix[step],), options)
            return self._prefix[step]
        if not branches(options):
            return self._random.choice(options)
        state = self._log.numbers.get(self._look(execution), 0)
        if not self._follows(state):
            self._wrong = True
            return None
        self._before, self._here = state, step
        self._steps += 1
        return None if self._steps > FARTHEST else self._random.choice(options)

    def _follows(self, state: int) -> bool:
        if self._before is None:
            return state > 0
        return state in self._successors.of(self._before)

    def is_wrong(self, execution: Execution) -> bool:
        """Return whether the execution came where none is known to come from the state before."""
        ending = execution.ending
        assert ending is not None
        if self._wrong or ending.kind in ("cut", "endless") or self._before is None:
            return self._wrong
        return not self._follows(self._log.numbers.get(ending_of(ending), 0))

    def mismatch(self, runs: Runs, execution: Execution) -> str:
        """Say at which step the execution left what is known, and in which value it differed."""
        choice = execution.choices[self._here] if self._here < len(execution.choices) else None
        after = f"after '{choice}' at step {self._here + 1}" if choice else "where it was cut"
        text = f"{after} comes what never came after it before{self.difference(runs, execution)}"
        return f"{TAKEN_FOR_EQUAL}: {text}; {REPAIR}"

    def difference(self, runs: Runs, execution: Execution) -> str:
        """Say what differs from the execution that came to the last known state first."""
        if not self._before:
            return ""
        here = execution.choices[: self._here]
        try:
            found = difference(runs, self._log.way_to(self._before), here)
        except Exception as error:  # noqa: BLE001 - of objects of the user, and what is left to say is said
            return f" (the two could not be compared: {type(error).__name__}: {error})"
        return f"; {found}" if found else "; no name leads to the value that differs"

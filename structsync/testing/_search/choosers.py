"""What decides, in one execution after the other: strategies of a search."""

from __future__ import annotations

import random
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from structsync.testing._errors import NondeterminismError, ReplayError

if TYPE_CHECKING:
    from structsync.testing._execution.execution import Execution
    from structsync.testing._execution.schedule import Choice, Schedule
    from structsync.testing._state.fingerprint import Fingerprinter

#: More deviations than any schedule has.
UNLIMITED = 1 << 60
#: Where there is nothing to choose a state is looked at this often only, to find a loop.
STRIDE = 16


@dataclass(slots=True)
class _Node:
    options: tuple[Choice, ...]
    index: int
    budget: int
    """How many deviations may still be made from here on, this choice included."""


class DepthFirst:
    """Goes down one path, and next time turns off at the last choice that has an option left.

    With a fingerprinter an execution is cut at a state in which one has been before with as much
    left to inject: all that can follow was, or will be, seen from there.
    """

    def __init__(
        self, fingerprinter: Fingerprinter | None, *, max_deviations: int = UNLIMITED
    ) -> None:
        self._fingerprinter = fingerprinter
        self._max_deviations = max_deviations
        self._path: list[_Node] = []
        self._depth = 0
        self.seen: dict[bytes, tuple[int, int]] = {}
        """Each state with the cancellations and the deviations that were left there."""
        self.key: bytes | None = None
        """The state before this choice, if it was looked at."""
        self.bounded = False
        """Whether an option was left out only because of the bound on deviations."""

    @property
    def states(self) -> int:
        """How many states were distinguished."""
        return len(self.seen)

    @property
    def memory(self) -> int:
        """Bytes that are taken by what is remembered of them."""
        return memory_of(self.seen)

    def begin(self) -> None:
        """Start an execution."""
        self._depth = 0

    def choose(self, execution: Execution, options: tuple[Choice, ...]) -> Choice | None:
        depth, path = self._depth, self._path
        self.key = None
        if depth < len(path):
            node = path[depth]
            if node.options != options:
                raise differing(depth, node.options, options)
            self._depth = depth + 1
            return node.options[node.index]
        if self._fingerprinter is not None:
            worth = len(options) > 1 or len(execution.choices) % STRIDE == 0
            if worth and self._known(execution, self._budget()):
                return None
        node = _Node(options, 0, self._budget())
        path.append(node)
        self._depth = depth + 1
        return node.options[0]

    def _budget(self) -> int:
        """Return how many deviations are left at the end of the path."""
        if not self._path or self._max_deviations == UNLIMITED:
            return self._max_deviations  # else a known state on a longer way would look new
        last = self._path[-1]
        return last.budget - (last.index > 0)

    def _known(self, execution: Execution, budget: int) -> bool:
        assert self._fingerprinter is not None
        key = self.key = self._fingerprinter(execution)
        left = execution.cancels_left
        before = self.seen.get(key)
        if before is not None and left <= before[0] and budget <= before[1]:
            return True
        if before is None or (left >= before[0] and budget >= before[1]):
            self.seen[key] = (left, budget)
        return False

    def ended(self, execution: Execution) -> None:
        """Take note of how an execution has ended."""

    def refuse_what_is_left_out(self) -> None:
        """Raise if states may have been taken for equal that differ in what has decided something."""
        if self._fingerprinter is not None:
            self._fingerprinter.refuse_what_is_left_out()

    def advance(self) -> bool:
        """Turn to the next path; return False if there is none."""
        path = self._path
        del path[self._depth :]
        while path:
            node = path[-1]
            if node.index + 1 < len(node.options):
                if node.budget > 0:
                    node.index += 1
                    return True
                self.bounded = True
            path.pop()
        return False


class ShortDepthFirst(DepthFirst):
    """Goes down every path, and gives up where one is too long."""

    def __init__(self, longest: int) -> None:
        super().__init__(None)
        self._longest = longest
        self.gave_up = False

    def choose(self, execution: Execution, options: tuple[Choice, ...]) -> Choice | None:
        if len(execution.choices) >= self._longest:
            self.gave_up = True
            return None
        return super().choose(execution, options)

    def share_behind(self) -> float:
        """Return about which share of all paths lies behind, from 0 to 1: as if each option led to as many.

        Source: Knuth, "Estimating the efficiency of backtrack programs", 1975.
        """
        behind, part = 0.0, 1.0
        for node in self._path:
            part /= len(node.options)
            behind += node.index * part
        return behind


def memory_of(table: Mapping[Any, Any]) -> int:
    """Return the size of a dictionary whose items are all as large as its first."""
    size = sys.getsizeof(table)
    for key, value in table.items():
        return size + len(table) * (sys.getsizeof(key) + sys.getsizeof(value))
    return size


class RandomSample:
    """Chooses at random, but the same for the same seed."""

    def __init__(self, seed: int | str) -> None:
        self._random = random.Random(seed)
        self._length = 8.0

    def begin(self) -> None:
        """Start an execution."""

    def choose(self, execution: Execution, options: tuple[Choice, ...]) -> Choice | None:
        plain, extra = split_injected(options)
        # As likely early as late, so that an execution has about as many as it may have.
        likely = min(0.5, 1.5 * execution.cancels_left / self._length)
        if extra and self._random.random() < likely:
            return self._random.choice(extra)
        return self._random.choice(plain)

    def ended(self, steps: int) -> None:
        """Note how long an execution was."""
        self._length += (steps - self._length) / 8


def split_injected(options: tuple[Choice, ...]) -> tuple[Sequence[Choice], Sequence[Choice]]:
    """Return what the program can do by itself, and what can be done to it, which comes last."""
    end = len(options)
    while end and options[end - 1].kind in ("cancel", "scope"):
        end -= 1
    return options[:end], options[end:]


class Replay:
    """Makes the deviations of a schedule again, by name."""

    def __init__(self, schedule: Schedule, *, strict: bool = True) -> None:
        self._deviations = dict(schedule.deviations)
        self._length = schedule.length
        self._strict = strict

    def choose(self, execution: Execution, options: tuple[Choice, ...]) -> Choice | None:
        step = len(execution.choices)
        if step >= self._length:
            return None
        wanted = self._deviations.get(step, options[0])
        if wanted not in options:
            asked = execution.settings
            raise ReplayError(
                f"this schedule no longer applies: the test changed at step {step + 1}, where "
                f"'{wanted}' is wanted and possible is {listed(options)}; or it was found with other "
                f"settings than cancels={asked.cancels}, cancel={asked.cancel!r} and clock={asked.clock!r}, "
                "and is to be replayed with those. Explore again, with the same PYTHONHASHSEED if the order "
                "of a set of texts decides"
            )
        return wanted


class Trace:
    """Always the first option, and keeps all that was on offer."""

    def __init__(self) -> None:
        self.offered: list[tuple[Choice, ...]] = []

    def choose(self, execution: Execution, options: tuple[Choice, ...]) -> Choice | None:
        self.offered.append(options)
        return options[0]


class Prefix:
    """Makes given choices one after the other."""

    def __init__(
        self, choices: Sequence[Choice], *, go_on: bool = False, stop: int | None = None
    ) -> None:
        self._choices = choices
        self._go_on = go_on
        self._stop = stop

    def choose(self, execution: Execution, options: tuple[Choice, ...]) -> Choice | None:
        step = len(execution.choices)
        if step == self._stop:
            return None
        if step >= len(self._choices):
            return options[0] if self._go_on else None
        if self._choices[step] not in options:
            raise differing(step, (self._choices[step],), options)
        return self._choices[step]


def differing(step: int, expected: Sequence[Choice], got: Sequence[Choice]) -> NondeterminismError:
    """Return the error for a step that does not offer what it did before."""
    return NondeterminismError(
        f"at step {step + 1} the test does not do what it did before under the same schedule: "
        f"expected {listed(expected)}, got {listed(got)}; something else decides too: a global "
        "variable that outlives an execution, the time, chance, or the order of a set of objects"
    )


def listed(options: Sequence[Choice]) -> str:
    """Return options as a list in words."""
    return ", ".join(f"'{one}'" for one in options) or "nothing"

"""Schedules by priorities at random, which find a fault with a chance that can be stated.

PCT for short (Burckhardt and others 2010). Each task has a random priority, and the one with the highest
runs; at ``depth - 1`` random steps the task that would run gets a priority below all others. A fault that
needs ``d`` orderings of steps (its depth; most need one or two, a deadlock of two locks two) among ``n``
tasks within ``k`` steps is met by one such execution with a probability of at least ``1 / (n * k**(d-1))``,
however many schedules there are.
"""

from __future__ import annotations

import random
from collections.abc import Container
from math import expm1, log1p

from structsync.testing._execution.execution import Execution
from structsync.testing._execution.schedule import Choice
from structsync.testing._state.fingerprint import AgeDecides, Fingerprinter, Opaque
from structsync.testing._state.standing import Unsteady

from .audit import branches
from .choosers import split_injected

#: A task that goes on for so many steps while others could is taken to wait for them by polling.
PATIENCE = 50


class RandomPriorities:
    """Chooses by priorities, in each execution others, but the same for the same seed."""

    def __init__(self, seed: int, depth: int) -> None:
        self.depth = depth
        self.actors = 1
        """The most that had a priority in one execution so far."""
        self.longest = 1
        """The steps of the longest execution so far."""
        self._random = random.Random(seed)

    def begin(self) -> None:
        """Start an execution."""
        self._priorities: dict[Choice, float] = {}
        # The last change makes the task that it hits the last of all.
        steps = [self._random.randrange(self.longest) for _ in range(self.depth - 1)]
        self._changes = {step: -number for number, step in enumerate(steps, 1)}
        self._injections: list[int] | None = None
        self._last: Choice | None = None
        self._in_a_row = 0

    def choose(self, execution: Execution, options: tuple[Choice, ...]) -> Choice | None:
        step = len(execution.choices)
        plain, injected = split_injected(options)
        if self._injections is None:
            number = self._random.randint(0, execution.cancels_left)
            self._injections = sorted(self._random.randrange(self.longest) for _ in range(number))
        if injected and self._injections and step >= self._injections[0]:
            del self._injections[0]
            return self._random.choice(injected)
        for one in plain:
            self._priorities.setdefault(one, self._random.random())
        best = max(plain, key=self._priorities.__getitem__)
        polls = best == self._last and self._in_a_row >= PATIENCE
        if step in self._changes or polls:
            self._priorities[best] = self._changes.get(step, -self.depth - step)
            best = max(plain, key=self._priorities.__getitem__)
        self._in_a_row = self._in_a_row + 1 if best == self._last else 0
        self._last = best
        return best

    def ended(self, execution: Execution) -> None:
        """Note how large an execution was."""
        self.actors = max(self.actors, len(self._priorities))
        self.longest = max(self.longest, len(execution.choices))

    def chance(self, executions: int) -> float:
        """Return how likely, at least, so many executions met a fault of this depth, if there is one."""
        least = 1 / (self.actors * self.longest ** (self.depth - 1))
        return 1.0 if least == 1 else -expm1(executions * log1p(-least))

    def summary(self, executions: int) -> str:
        """Say what so many executions that found nothing are worth."""
        return (
            f"{executions:,} schedules by priorities at random found nothing; a fault that needs "
            f"{self.depth} orderings among {self.actors} tasks within {self.longest:,} steps would "
            f"have been found with a probability of at least {percent(self.chance(executions))}"
        )


class UnseenStates:
    """Chooses as another one does, and counts the states on its way that a search has not seen."""

    def __init__(
        self, chooser: RandomPriorities, seen: Container[bytes], look: Fingerprinter | None
    ) -> None:
        self._chooser = chooser
        self._seen = seen
        self._look = look
        self._met: set[bytes] = set()
        self._new: set[bytes] = set()

    def choose(self, execution: Execution, options: tuple[Choice, ...]) -> Choice | None:
        if self._look is not None and branches(options):
            try:
                key = self._look(execution)
            except (Opaque, Unsteady, AgeDecides):
                self._look = None
            else:
                self._met.add(key)
                if key not in self._seen:
                    self._new.add(key)
        return self._chooser.choose(execution, options)

    def summary(self) -> str:
        """Say what share of the states was new; nothing, if states are not told apart."""
        if self._look is None or not self._met:
            return ""
        share = percent(len(self._new) / len(self._met))
        return f"of the {len(self._met):,} states on their way {share} had not been seen"


def percent(share: float) -> str:
    """Return a share in words, rounded down, so that what is nearly certain is not called so."""
    hundredths = 100 * share
    return f"{int(hundredths)} %" if hundredths >= 10 or share == 0 else f"{hundredths:.2g} %"

"""Make a failing execution smaller by leaving out what it did not need: one deviation at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from structsync.testing._execution.execution import Execution
    from structsync.testing._execution.schedule import Choice

    from .runs import Runs

Deviations = list[tuple[int, "Choice"]]


def deviations_of(execution: Execution) -> Deviations:
    """Return in which steps an execution did not do the first thing on offer, and what it did."""
    pairs = zip(execution.choices, execution.firsts, strict=True)
    return [(step, made) for step, (made, first) in enumerate(pairs) if made != first]


class InTheSameOrder:
    """Makes given deviations one after the other, each as soon as it is possible again."""

    def __init__(self, wanted: Deviations) -> None:
        self._wanted = wanted[::-1]

    def choose(self, execution: Execution, options: tuple[Choice, ...]) -> Choice | None:
        if self._wanted:
            step, choice = self._wanted[-1]
            if step <= len(execution.choices) and choice in options:
                del self._wanted[-1]
                return choice
        return options[0]


def shortened(runs: Runs, failed: Execution, limit: int) -> Execution:
    """Return an execution that fails alike, of whose deviations none can simply be left out."""
    assert failed.ending is not None
    wanted, signature = deviations_of(failed), failed.ending.signature
    left_out = len(wanted)
    while left_out and runs.executions < limit and not runs.interrupt and not runs.time_is_over:
        left_out -= 1
        execution = runs.execute(InTheSameOrder([*wanted[:left_out], *wanted[left_out + 1 :]]))
        assert execution.ending is not None
        made = deviations_of(execution)
        if execution.ending.signature == signature and len(made) < len(wanted):
            failed, wanted, left_out = execution, made, len(made)
    return failed

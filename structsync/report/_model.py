"""What a counterexample is, whoever found it and however it is shown.

Everything is text already: a picture needs no live object, and a stored report none of the code
that made it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a counterexample and the state after it."""

    action: str
    arguments: tuple[tuple[str, str], ...]
    """Name and value of each parameter."""
    state: Mapping[str, str]
    actor: str = ""
    """Who took the step, for a picture with one column each; empty if nobody in particular."""
    note: str = ""
    """What to notice here, in words."""

    @property
    def call(self) -> str:
        """The step as a call: `request(a)`."""
        return f"{self.action}({', '.join(value for _, value in self.arguments)})"


@dataclass(frozen=True, slots=True)
class Counterexample:
    """A behaviour that refutes a property, from the first state on."""

    spec: str
    refuted: str
    """The name of the property."""
    kind: str
    """The kind of property: invariant, step, leads_to, built-in."""
    start: Mapping[str, str]
    steps: tuple[Step, ...]
    claim: str = ""
    """The property in the words of its author."""
    detail: str = ""
    """What failed, as far as the property told."""
    start_note: str = ""
    cycle_start: int | None = None
    """The number of steps before the part that repeats for ever; None if the trace is finite."""

    @property
    def stutters(self) -> bool:
        """True if nothing happens any more after the last step, and that is the failure."""
        return self.cycle_start == len(self.steps)

    def changes(self, index: int) -> dict[str, str]:
        """Return the parts of the state that the step with this index changed, as they became."""
        before = self.steps[index - 1].state if index else self.start
        after = self.steps[index].state
        return {name: value for name, value in after.items() if before.get(name) != value}

    def length(self) -> str:
        """Say how many steps it takes: "in the first state", "in 1 step", "in 5 steps"."""
        if not self.steps:
            return "in the first state"
        return "in 1 step" if len(self.steps) == 1 else f"in {len(self.steps)} steps"

    def ending(self) -> str:
        """Say in a sentence how the behaviour goes on after the last step."""
        if self.cycle_start is None:
            return ""
        if self.stutters:
            return "then nothing more happens, for ever, and fairness demands nothing"
        first, last = self.cycle_start + 1, len(self.steps)
        if first == last:
            return f"then step {first} repeats for ever"
        return f"then steps {first} to {last} repeat for ever"

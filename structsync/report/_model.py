"""What a counterexample is, whatever found it and however it is shown.

Everything is text already: a picture needs no live object, and a stored report none of the code
that made it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any


def encodable(value: Any) -> Any:
    """Return text, or whatever is made of it, without characters that no file can hold.

    A lone surrogate, as in a file name that is no UTF-8, is written as its escape.
    """
    if isinstance(value, str):
        return value.encode(errors="backslashreplace").decode()
    if isinstance(value, tuple):
        return tuple(map(encodable, value))
    if isinstance(value, Mapping):
        return {encodable(name): encodable(one) for name, one in value.items()}
    if isinstance(value, Step | Blocked | Sentence):
        return replace(
            value, **{one.name: encodable(getattr(value, one.name)) for one in fields(value)}
        )
    return value


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a counterexample and the state after it."""

    action: str
    arguments: tuple[tuple[str, str], ...]
    """Name and value of each parameter."""
    state: Mapping[str, str]
    actor: str = ""
    """The actor of the step, for a picture with one column each; empty if no task in particular."""
    note: str = ""
    """What to notice here, in words."""
    deviation: bool = False
    """In a schedule, whether plain FIFO order would have gone on otherwise."""
    parked: str = ""
    """In a schedule, where the task parked, ``wait_for:41  await queue.get()``, or ``exits``."""
    woke: tuple[str, ...] = ()
    """In a schedule, the tasks that this step made runnable."""
    injected: bool = False
    """In a schedule, whether it is a cancellation or an early deadline, not a task that ran."""
    stack: tuple[str, ...] = ()
    """In a schedule, the frames of the program where the task parked, the innermost first:
    ``queue.py:41 in get``, ``test_queue.py:12 in worker``."""

    @property
    def call(self) -> str:
        """The step as a call, such as `request(who=a)`."""
        return (
            f"{self.action}({', '.join('='.join(filter(None, pair)) for pair in self.arguments)})"
        )

    @property
    def turn(self) -> str:
        """In a schedule, the task that ran, or `CANCEL worker#1`, `CANCEL scope main~0`."""
        if not self.injected:
            return self.actor
        words = [word for pair in self.arguments for word in pair] or [self.actor]
        return " ".join([self.action.upper(), *filter(None, words)])


@dataclass(frozen=True, slots=True)
class Blocked:
    """A task that never runs again."""

    task: str
    where: tuple[str, ...] = ()
    """Its frames in the program, the innermost first, each with its file, its line and its function."""
    why: str = ""
    """What it waits for, and which tasks have that."""
    source: str = ""
    """The line of source of the innermost frame."""
    waits_for: tuple[str, ...] = ()
    """The tasks that would have to do something first, where that is known."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """One line of the summary of a schedule: where it deviates, and what follows."""

    text: str
    step: int | None = None
    """The number of the step that it is about, from 1; None if it is about all of them."""


@dataclass(frozen=True, slots=True)
class Counterexample:
    """A behaviour that refutes a property, from the first state on.

    Either the behaviour of a spec, or the schedule of an explored program: then `spec` is the test,
    `refuted` and `kind` say how it failed (`deadlock`), `detail` is the message, and the state is that of
    the watched primitives.
    """

    spec: str
    refuted: str
    """The name of the property."""
    kind: str
    """The kind of property, such as invariant, step, leads_to, built-in."""
    start: Mapping[str, str]
    steps: tuple[Step, ...]
    claim: str = ""
    """The property in the words of its author."""
    detail: str = ""
    """What failed, as far as the property says it."""
    start_note: str = ""
    cycle_start: int | None = None
    """The number of steps before the part that repeats forever; None if the trace is finite."""
    blocked: tuple[Blocked, ...] = ()
    """The tasks that wait forever after the last step."""
    token: str = ""
    """What replays a schedule; empty for the behaviour of a spec."""
    replay: str = ""
    """The whole command that replays it, as one line for a shell."""
    summary: str = ""
    """How far a schedule is from plain FIFO order, and how it was found."""
    covered: str = ""
    """What the search saw before it found this."""
    actors: tuple[str, ...] = ()
    """The order of the columns of a picture; those not named come after them."""

    story: tuple[Sentence, ...] = ()
    """A schedule in a few lines, which say where it deviates from plain FIFO order, and what that leads to."""
    reasons: tuple[Sentence, ...] = ()
    """What explains the message, such as which task waits for what, or where an error was raised."""

    def __post_init__(self) -> None:
        for one in fields(self):
            object.__setattr__(self, one.name, encodable(getattr(self, one.name)))

    @property
    def is_schedule(self) -> bool:
        """True for the schedule of a program, false for the behaviour of a spec."""
        return bool(self.token)

    @property
    def stutters(self) -> bool:
        """True if the failure is that nothing happens after the last step."""
        return self.cycle_start == len(self.steps)

    @property
    def names(self) -> tuple[str, ...]:
        """The parts of the state, including those that appear later."""
        states = (self.start, *(step.state for step in self.steps))
        return tuple(dict.fromkeys(name for state in states for name in state))

    @property
    def columns(self) -> tuple[str, ...]:
        """The actors in the order of their columns.

        Tasks stand in the order in which they first ran, the actors of a spec are equals. What is
        injected opens no column: its target may be a scope, or nothing in particular.
        """
        ran = [step.actor for step in self.steps if not step.injected]
        woken = (name for step in self.steps for name in step.woke)
        blocked = (name for one in self.blocked for name in (one.task, *one.waits_for))
        first = ran if self.is_schedule else sorted(ran)
        return tuple(dict.fromkeys((*self.actors, *first, *woken, *blocked)))

    @property
    def star(self) -> int | None:
        """The index of the last deviation, the decisive step, after which all is in plain FIFO order.

        None in a schedule without any, and in the behaviour of a spec.
        """
        stars = [index for index, step in enumerate(self.steps) if step.deviation]
        return stars[-1] if stars else None

    @property
    def opens_at(self) -> int:
        """The index of the step at which a picture opens, which is the star, or without one the failure."""
        if not self.is_schedule:
            return 0
        if self.star is not None:
            return self.star
        return max(len(self.steps) - 1, 0) if self.cycle_start is None else self.cycle_start

    def step_of(self, told: Sentence) -> Step | None:
        """Return the step that a sentence is about; None if that is not one of those shown."""
        return self.steps[told.step - 1] if told.step and told.step <= len(self.steps) else None

    def next_turn(self, task: str, after: int) -> int | None:
        """Return the index of the step in which a task runs next; None if it never does."""
        for index, step in enumerate(self.steps[after + 1 :], after + 1):
            if step.actor == task and not step.injected:
                return index
        return None

    def changes(self, index: int) -> dict[str, str]:
        """Return the parts of the state that the step with this index changed, as they became."""
        before = self.steps[index - 1].state if index else self.start
        after = self.steps[index].state
        return {name: value for name, value in after.items() if before.get(name) != value}

    def length(self) -> str:
        """Return how many steps it takes, in words: "in the first state", "in 1 step", "in 5 steps"."""
        if not self.steps:
            return "in the first state"
        return "in 1 step" if len(self.steps) == 1 else f"in {len(self.steps)} steps"

    def ending(self) -> str:
        """Return a sentence on how the behaviour continues after the last step."""
        if self.cycle_start is None:
            return ""
        if self.stutters:
            return "then nothing more happens, forever, and fairness demands nothing"
        first, last = self.cycle_start + 1, len(self.steps)
        if first == last:
            return f"then step {first} repeats forever"
        return f"then steps {first} to {last} repeat forever"

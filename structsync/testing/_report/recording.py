"""An execution written down for people: who ran, where it parked, whom it woke, what state that left."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import outcome
import trio
from trio.lowlevel import Task

from structsync._core.queue.group import Claims
from structsync.report import Blocked, Counterexample, Step
from structsync.testing._execution import frames, oracles
from structsync.testing._execution.execution import Execution
from structsync.testing._execution.names import MAIN
from structsync.testing._execution.schedule import Choice, Schedule

_StepRecord = tuple[Choice, bool, dict[str, Any]]


class Recording:
    """Writes down one execution while it runs."""

    def __init__(self) -> None:
        self._steps: list[_StepRecord] = []
        self._states: list[dict[int, str]] = []
        self._start: dict[int, str] = {}
        self._labels: dict[int, str] = {}
        self._things: dict[int, object] = {}
        self._blocked: list[tuple[str, tuple[str, ...], object]] = []

    # For the execution.

    def before(self, execution: Execution, choice: Choice, first: Choice) -> None:
        """Note a choice, and what it meets."""
        facts: dict[str, Any] = {"parked": "", "woke": (), "note": ""}
        task = execution.names.tasks.get(choice.name)
        if choice.kind == "run" and task is not None:
            pending = execution.pending_of(task)
            if isinstance(pending, outcome.Error):
                facts["note"] = _met_by_error(execution, task, pending.error)
        elif choice.kind == "cancel" and task is not None:
            facts["note"] = _met_by_cancel(execution, task)
        self._steps.append((choice, choice != first, facts))

    def after(self, execution: Execution, woke: list[Task]) -> None:
        """Note what a step has led to."""
        choice, _, facts = self._steps[-1]
        task = execution.names.tasks.get(choice.name)
        names = execution.names.of
        facts["woke"] = tuple(names[one] for one in woke if one is not task)
        if task is not None and choice.kind in ("run", "cancel"):
            alive = execution.is_alive(task)
            facts["parked"] = frames.where(execution.coroutine_of(task)) if alive else "exits"
        self._look(execution)

    def stuck(self, execution: Execution) -> None:
        """Note who waits for what in a deadlock."""
        for task in execution.blocked():
            coroutine = execution.coroutine_of(task)
            stack = frames.stack(coroutine)
            self._blocked.append((execution.names.of[task], stack, _waited_for(coroutine)))

    def _look(self, execution: Execution) -> None:
        found: dict[int, str] = {}
        for name, thing in execution.watched.names():
            self._things[id(thing)] = thing
            if name is not None:
                self._labels[id(thing)] = name
            state = oracles.describe(thing, execution.names.for_report)
            found[id(thing)] = execution.names.readable(state)
        self._label(execution, [key for key in found if key not in self._labels])
        self._states.append(found)

    def _label(self, execution: Execution, keys: list[int]) -> None:
        """Call primitives as the program does, by the variable that holds one."""
        if not keys:
            return
        wanted = set(keys)
        for task in execution.names.of:
            if not execution.is_alive(task):
                continue
            for frame in frames.frames_of(execution.coroutine_of(task)):
                if not frames.is_below(frame):
                    for key, label in _variables(frame.f_locals):
                        if key in wanted:
                            self._labels.setdefault(key, label)

    # For the report.

    def counterexample(self, execution: Execution, test: str, **details: Any) -> Counterexample:
        """Return the execution as a picture of a failure."""
        ending = execution.ending
        assert ending is not None
        schedule = Schedule.of(execution.settings.order, execution.choices, execution.firsts)
        steps = tuple(self._report_steps())
        names = dict.fromkeys(execution.names.tasks)
        blocked = tuple(
            Blocked(name, where, self._why(thing)) for name, where, thing in self._blocked
        )
        return Counterexample(
            spec=test,
            refuted=ending.kind,
            kind=ending.kind,
            start={},
            steps=steps,
            detail=ending.message,
            blocked=blocked,
            token=schedule.token,
            actors=tuple(names),
            **details,
        )

    def _report_steps(self) -> Iterator[Step]:
        for place, (choice, deviates, facts) in enumerate(self._steps):
            kind, name = choice
            state = self._states[place] if place < len(self._states) else {}
            yield Step(
                action="run" if kind == "run" else "advance" if kind == "clock" else "cancel",
                arguments=_arguments(choice),
                state={
                    self._labels[key]: text for key, text in state.items() if key in self._labels
                },
                actor=name.partition("~")[0],
                note=facts["note"],
                deviation=deviates,
                parked=facts["parked"],
                woke=facts["woke"],
                injected=kind != "run",
            )

    def _why(self, thing: object) -> str:
        if thing is None:
            return ""
        if isinstance(thing, str):
            return thing
        if isinstance(thing, _GroupWait):
            return f"waits for {thing.how} of " + "; ".join(map(self._state, thing.primitives))
        return f"waits for {self._state(thing)}"

    def _state(self, thing: object) -> str:
        label = self._labels.get(id(thing), f"a {type(thing).__name__}")
        state = self._states[-1].get(id(thing)) if self._states else None
        return label + (f": {state}" if state else "")


def _arguments(choice: Choice) -> tuple[tuple[str, str], ...]:
    kind, name = choice
    if kind == "run":
        return ()
    if kind == "clock":
        return (("clock", "to the next deadline"),)
    if name == MAIN:
        return (("", "the whole test"),)
    return (("scope" if kind == "scope" else "", name),)


def _met_by_error(execution: Execution, task: Task, error: BaseException) -> str:
    if isinstance(error, trio.Cancelled):
        for frame in frames.frames_of(execution.coroutine_of(task)):
            deadline = frame.f_locals.get("deadline")
            if (
                frame.f_code is _SLEEP_UNTIL
                and deadline is not None
                and deadline <= execution.clock.now
            ):
                return "its sleep is over"
    return f"{type(error).__name__} is raised in it"


#: Where a task is that sleeps: trio ends that by a cancellation of its own.
_SLEEP_UNTIL = trio.sleep_until.__code__


def _met_by_cancel(execution: Execution, task: Task) -> str:
    if task in execution.pool:
        return "runnable: it gets Cancelled at its next checkpoint"
    return f"parked at {frames.where(execution.coroutine_of(task))}"


class _GroupWait(NamedTuple):
    """What a group waits for, taken down while it does: it forgets that when it ends."""

    how: str
    primitives: list[object]


_NAMES = ("condition", "group", "live", "barrier", "monitor", "self")


def _waited_for(coroutine: Any) -> object:
    """Return the primitive in whose method a coroutine is parked, or several, or a text, or None."""
    for frame in reversed([*frames.frames_of(coroutine)]):
        if frame.f_code.co_name == "_nested_child_finished":
            return "waits for the tasks of its nursery"
        for value in (frame.f_locals.get(name) for name in _NAMES):
            if isinstance(value, Claims):
                return _GroupWait(
                    "all" if value.every else "any", [one.primitive for one in value.members]
                )
            if isinstance(value, oracles.FOUND):
                return value
            if isinstance(value, trio.MemoryReceiveChannel):
                return "waits for an item of a memory channel"
        if not frames.is_below(frame):
            return None
    return None


def _variables(local: Any) -> Iterator[tuple[int, str]]:
    """Yield names for objects: those of variables, and of attributes of what they hold."""
    for name, value in local.items():
        yield id(value), name
    for name, value in local.items():
        for attribute, inner in getattr(value, "__dict__", {}).items():
            yield id(inner), f"{name}.{attribute}"

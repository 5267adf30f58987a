"""An execution written down for people: which task ran, where it parked, which tasks it woke, what state that left."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import outcome
from trio.lowlevel import Task

from structsync.report import Blocked, Counterexample, Sentence, Step
from structsync.report._words import an
from structsync.testing._execution import frames, oracles, places
from structsync.testing._execution.execution import Execution
from structsync.testing._execution.names import MAIN
from structsync.testing._execution.schedule import Choice, Schedule

from . import raised
from .notes import met_by_cancel, met_by_error, met_by_scope
from .story import reasons_of_a_deadlock, story
from .waits import Wait, wait_of

_StepRecord = tuple[Choice, bool, dict[str, Any]]


class Recording:
    """Writes down one execution while it runs."""

    def __init__(self) -> None:
        self._steps: list[_StepRecord] = []
        self._states: list[dict[int, str]] = []
        self._start: dict[int, str] = {}
        self._labels: dict[int, str] = {}
        self._things: dict[int, object] = {}
        self._blocked: list[tuple[Blocked, Wait]] = []

    # For the execution.

    def before(self, execution: Execution, choice: Choice, first: Choice) -> None:
        """Note a choice, and what it meets."""
        execution.scopes.write_down_places()
        facts: dict[str, Any] = {"parked": "", "woke": (), "note": "", "stack": ()}
        kind, name = choice
        task = execution.names.tasks.get(name.partition("~")[0])
        if task is not None:
            if kind == "run" and isinstance(pending := execution.pending_of(task), outcome.Error):
                facts["note"] = met_by_error(execution, task, pending.error)
            elif kind == "cancel":
                facts["note"] = met_by_cancel(execution, task)
            elif kind == "scope":
                facts["note"] = met_by_scope(execution, name)
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
        target = execution.names.tasks.get(choice.name.partition("~")[0])
        if target is not None and execution.is_alive(target):
            facts["stack"] = _stack(execution, target)
        self._look(execution)

    def stuck(self, execution: Execution) -> None:
        """Note which task waits for what in a deadlock."""
        for task in execution.blocked():
            innermost = frames.of_the_program(execution.coroutine_of(task))[0]
            wait = wait_of(execution, task)
            source = places.statement_at(innermost.f_code.co_filename, innermost.f_lineno)
            name, stack = execution.names.of[task], _stack(execution, task)
            one = Blocked(name, stack, "", source=source, waits_for=wait.holders)
            self._blocked.append((one, wait))

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
            replace(one, why=execution.names.readable(wait.said(self._state)))
            for one, wait in self._blocked
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
            story=tuple(story(steps, execution.choices, execution.firsts)),
            reasons=tuple(_reasons(execution, steps, blocked)),
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
                stack=facts["stack"],
            )

    def _state(self, thing: object) -> str:
        label = self._labels.get(id(thing), an(type(thing).__name__))
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


def _stack(execution: Execution, task: Task) -> tuple[str, ...]:
    """Return where a suspended task stands in the program, and the chain of callers."""
    found = frames.of_the_program(execution.coroutine_of(task))
    return tuple(places.place_of(frame.f_code, frame.f_lineno) for frame in found)


def _reasons(
    execution: Execution, steps: Sequence[Step], blocked: Sequence[Blocked]
) -> Iterator[Sentence]:
    """Yield what explains the ending: which task waits for what, or where an error was raised."""
    ending = execution.ending
    assert ending is not None
    if ending.kind == "deadlock":
        yield from reasons_of_a_deadlock(blocked)
    elif ending.error is not None:
        for text in raised.told(ending.error):
            yield Sentence(execution.names.readable(text))
    elif ending.kind == "violation" and steps and steps[-1].actor:
        where = f", at {steps[-1].stack[0]}" if steps[-1].stack else ""
        yield Sentence(f"after a step of {steps[-1].actor}{where}", len(steps))


def _variables(local: Any) -> Iterator[tuple[int, str]]:
    """Yield names for objects: those of variables, and of attributes of what they hold."""
    for name, value in local.items():
        yield id(value), name
    for name, value in local.items():
        for attribute, inner in getattr(value, "__dict__", {}).items():
            yield id(inner), f"{name}.{attribute}"

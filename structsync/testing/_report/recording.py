"""An execution told for people: who ran, where it parked, whom it woke, what state that left."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import outcome
import trio
from trio.lowlevel import Task

from structsync._core.queue.group import Claims
from structsync.report import Blocked, Counterexample, Step
from structsync.testing._execution import frames, oracles
from structsync.testing._execution.engine import Engine
from structsync.testing._execution.schedule import Choice, Schedule

_Kept = tuple[Choice, bool, dict[str, Any]]


class Recording:
    """Writes down one execution while it runs."""

    def __init__(self) -> None:
        self._steps: list[_Kept] = []
        self._states: list[dict[int, str]] = []
        self._start: dict[int, str] = {}
        self._labels: dict[int, str] = {}
        self._things: dict[int, object] = {}
        self._blocked: list[tuple[str, tuple[str, ...], object]] = []

    # For the engine.

    def before(self, engine: Engine, choice: Choice, first: Choice) -> None:
        """Note a choice, and what it meets."""
        facts: dict[str, Any] = {"parked": "", "woke": (), "note": ""}
        task = engine.names.tasks.get(choice.name)
        if choice.kind == "run" and task is not None:
            pending = engine.pending_of(task)
            if isinstance(pending, outcome.Error):
                facts["note"] = f"{type(pending.error).__name__} is raised in it"
        elif choice.kind == "cancel" and task is not None:
            facts["note"] = _met_by_cancel(engine, task)
        self._steps.append((choice, choice != first, facts))

    def after(self, engine: Engine, woke: list[Task]) -> None:
        """Note what a step has led to."""
        choice, _, facts = self._steps[-1]
        task = engine.names.tasks.get(choice.name)
        names = engine.names.of
        facts["woke"] = tuple(names[one] for one in woke if one is not task)
        if task is not None and choice.kind in ("run", "cancel"):
            alive = engine.is_alive(task)
            facts["parked"] = frames.where(engine.coroutine_of(task)) if alive else "exits"
        self._look(engine)

    def stuck(self, engine: Engine) -> None:
        """Note who waits for what in a deadlock."""
        for task in engine.blocked():
            coroutine = engine.coroutine_of(task)
            stack = frames.stack(coroutine)
            self._blocked.append((engine.names.of[task], stack, _waited_for(coroutine)))

    def _look(self, engine: Engine) -> None:
        found: dict[int, str] = {}
        for name, thing in engine.handle._watched.names():
            self._things[id(thing)] = thing
            if name is not None:
                self._labels[id(thing)] = name
            found[id(thing)] = oracles.describe(thing, engine.handle._name_of)
        self._label(engine, [key for key in found if key not in self._labels])
        self._states.append(found)

    def _label(self, engine: Engine, keys: list[int]) -> None:
        """Call primitives as the program does, by the variable that holds one."""
        if not keys:
            return
        wanted = set(keys)
        for task in engine.names.of:
            if not engine.is_alive(task):
                continue
            for frame in frames.frames_of(engine.coroutine_of(task)):
                if not frames.is_below(frame):
                    for key, label in _variables(frame.f_locals):
                        if key in wanted:
                            self._labels.setdefault(key, label)

    # For the report.

    def counterexample(self, engine: Engine, test: str, **told: Any) -> Counterexample:
        """Return the execution as a picture of a failure."""
        ending = engine.ending
        assert ending is not None
        schedule = Schedule.of(engine.settings.order, engine.choices, engine.firsts)
        steps = tuple(self._told_steps())
        names = dict.fromkeys(engine.names.tasks)
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
            **told,
        )

    def _told_steps(self) -> Iterator[Step]:
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
        if isinstance(thing, _Several):
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
    return (("scope" if kind == "scope" else "", name),)


def _met_by_cancel(engine: Engine, task: Task) -> str:
    if task in engine.pool:
        return "runnable: it gets Cancelled at its next checkpoint"
    return f"parked at {frames.where(engine.coroutine_of(task))}"


class _Several(NamedTuple):
    """What a group waits for, taken down while it does: it forgets that when it ends."""

    how: str
    primitives: list[object]


_NAMES = ("primitive", "condition", "group", "self")


def _waited_for(coroutine: Any) -> object:
    """Return the primitive in whose method a coroutine is parked, or several, or a text, or None."""
    for frame in reversed([*frames.frames_of(coroutine)]):
        if frame.f_code.co_name == "_nested_child_finished":
            return "waits for the tasks of its nursery"
        for value in (frame.f_locals.get(name) for name in _NAMES):
            if isinstance(value, Claims):
                return _Several(
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

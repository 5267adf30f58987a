"""What the explorer makes of an exhibit, and what is wrong with that."""

from __future__ import annotations

import re
from dataclasses import asdict, replace
from functools import cache
from typing import Any

from structsync.checking import Verdict
from structsync.testing import (
    Exploration,
    ExplorationFailed,
    Failure,
    ReplayError,
    Settings,
    explore,
)

from .exhibit import Exhibit, Program

#: What is recorded about an exhibit.
Entry = dict[str, str | int]


@cache
def explored(program: Program, settings: Settings) -> Exploration:
    """Explore a program once, however many tests ask about it."""
    return explore(program, **asdict(settings))


def hunt(exhibit: Exhibit) -> Exploration:
    """Look for the bug within the budget."""
    return explored(exhibit.buggy, replace(exhibit.settings, executions=exhibit.budget))


def confirm(exhibit: Exhibit) -> Exploration:
    """Explore the fix."""
    return explored(exhibit.fixed, exhibit.settings)


def failure_of(exhibit: Exhibit) -> Failure:
    """Return what the hunt has caught."""
    failure = hunt(exhibit).failure
    assert failure is not None, hunt(exhibit).covered
    return failure


def not_found(exhibit: Exhibit) -> list[str]:
    """Return what is wrong with the hunt for the bug."""
    failure = hunt(exhibit).failure
    if failure is None:
        return [f"{exhibit.name} was not found: {hunt(exhibit).covered}"]
    wrong = []
    if failure.kind != exhibit.finds:
        wrong.append(f"{exhibit.name} is a {exhibit.finds}, not a {failure.kind}")
    if failure.replayed != "same":
        wrong.append(f"{exhibit.name} is something else in trio.run: {failure.replayed}")
    return wrong


def unnamed(exhibit: Exhibit) -> list[str]:
    """Return what the text of the counterexample lacks."""
    text = str(ExplorationFailed(hunt(exhibit)))
    if re.search(exhibit.culprit, text, re.DOTALL):
        return []
    return [f"nothing matches {exhibit.culprit!r} in: {text}"]


def replays_differently(exhibit: Exhibit, failure: Failure) -> list[str]:
    """Return what the token of a failure replays, if that is not the failure."""
    try:
        again = explore(exhibit.buggy, **asdict(exhibit.settings), replay=failure.token).failure
    except ReplayError as error:
        return [str(error)]
    if again is None:
        return [f"{failure.token} replays no failure"]
    first = (failure.kind, failure.message, failure.counterexample.steps)
    second = (again.kind, again.message, again.counterexample.steps)
    return [] if first == second else [f"{failure.token} replays {second}, not {first}"]


def not_fixed(exhibit: Exhibit) -> list[str]:
    """Return what is wrong with the fix."""
    result = confirm(exhibit)
    if result.verdict is Verdict.CONFIRMED:
        return []
    return [
        f"{exhibit.name}: {result.covered}",
        *([result.failure.message] if result.failure else []),
    ]


def entry(exhibit: Exhibit) -> Entry:
    """Return what is on record about an exhibit once it was explored."""
    failure, fixed = failure_of(exhibit), confirm(exhibit)
    return {
        "source": exhibit.source,
        "mechanism": exhibit.mechanism,
        "finds": failure.kind,
        "executions": failure.execution,
        "deviations": failure.deviations,
        "steps": len(failure.counterexample.steps),
        "fixed_states": fixed.states,
        "fixed_executions": fixed.executions,
        "cancels": exhibit.settings.cancels,
    }


def differences(recorded: dict[str, Any], found: Entry) -> list[str]:
    """Return one sentence for each number that is not the one on record."""
    return [
        f"{key} is {found.get(key)!r}, on record {recorded.get(key)!r}"
        for key in sorted({*recorded, *found})
        if recorded.get(key) != found.get(key)
    ]

"""A recorded trace held against a specification: `structsync check --trace`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

from structsync.report import to_json, to_text
from structsync.report._words import counted

from ._check import spec_name
from ._errors import ANY_ERROR, SpecError, where_raised
from ._finding import error_text
from ._following import Follower
from ._load import Loaded
from ._nearest import nearest
from ._trace_file import read_events

FORMAT = "structsync.check-trace/1"


def follow_file(trace: Path, loaded: Sequence[Loaded], only: str) -> Follower:
    """Hold a recorded trace against the one spec whose name contains `only`.

    Raises:
        SpecError: no spec or several have such a name, the file is not a trace, or the spec breaks
            a rule of the language.
    """
    specs = {name: spec for one in loaded for name, spec in one.specs.items()}
    chosen = [name for name in specs if only in name]
    if len(chosen) != 1:
        raise SpecError(
            "a trace is held against one specification; choose it by --only, among "
            f"{', '.join(nearest(only, chosen or [*specs]))}"
        )
    follower = Follower(specs[chosen[0]])
    for event in read_events(trace):
        try:
            if not follower.see(event):
                break
        except SpecError:
            raise
        except ANY_ERROR as error:
            raise SpecError(
                f"{chosen[0]}: {error_text(error)} (raised in {where_raised(error)}), when event "
                f"{follower.events} of the trace, {event}, was followed"
            ) from error
    return follower


def print_following(follower: Follower, trace: Path, as_json: bool, console: Console) -> None:
    """Print what came of it: one JSON document, or a sentence and the counterexample if there is one."""
    spec, refuted = spec_name(follower.model.spec_class), follower.refutation
    if as_json:
        shown = refuted and to_json(refuted)
        told = {
            "format": FORMAT,
            "spec": spec,
            "events": follower.events,
            "steps": dict(follower.taken),
            "counterexample": shown,
        }
        # Not wrapped, and with its brackets as they are.
        console.print(json.dumps(told, indent=2), soft_wrap=True, markup=False, highlight=False)
    elif refuted is not None:
        console.print(to_text(refuted))
    elif nothing := follower.nothing_followed():
        console.print(Text(f"{trace}: {nothing}", style="yellow"))
    else:
        events = counted(follower.events, "event")
        console.print(Text(f"{trace}: {spec} allows all {events}", style="green"))
        console.print(Text(f"steps: {_steps(follower)}", style="dim"))


def _steps(follower: Follower) -> str:
    """Return how often the trace took each action, and which it never took."""
    taken = [f"{name} {times:,}" for name, times in follower.taken.items()]
    never = [one.name for one in follower.model.actions if one.name not in follower.taken]
    return ", ".join(taken) + (f"; never: {', '.join(never)}" if never else "")

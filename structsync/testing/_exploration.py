"""One exploration: a test is tried, searched, and the failure that was found is shown."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial

from ._errors import ExploreUsageError, NondeterminismError, ReplayError
from ._execution import current
from ._execution.execution import AsyncTest, Execution
from ._execution.own import standing_for
from ._execution.schedule import Choice, Schedule
from ._execution.skips import pass_on_a_skip
from ._parallel.program import Build
from ._parallel.search import search_shared
from ._report.failures import cycle_of, failure_of
from ._result import REPLAYED, Exploration, Partition
from ._search.choosers import Prefix, Replay
from ._search.result import SearchResult
from ._search.runs import Progress, Runs
from ._search.search import fingerprinter
from ._search.starts import Starts
from ._search.starvation import CycleReplay
from ._search.texts import TextsReplay
from ._settings import Settings

#: The parameter of a test that is the handle of the execution, never a fixture.
HANDLE = "x"

#: Where jitter could let the later of two come first.
DEADLINES = "deadlines came in their order only: clock='explore' lets them come at any time"

#: Of a test whose tasks run forever the first so many steps are tried twice before the search.
LOOK_STEPS = 100

_ONE_OF_SEVERAL = "shard {} of {} is complete, and only all of them together confirm anything"


def run(
    fn: Callable[..., Awaitable[object]],
    settings: Settings,
    *,
    replay: str | None = None,
    progress: Callable[[Progress], None] | None = None,
    name: str | None = None,
    build: Build | None = None,
) -> Exploration:
    """Explore a function with no parameter, or the handle; see :func:`explore`.

    With ``workers`` ``build`` makes what is explored in another process, if not ``fn`` can be sent there.
    """
    test = with_handle(fn)
    build = build or partial(with_handle, fn)
    title = str(name or getattr(fn, "__qualname__", repr(fn)))
    runs = Runs(test, settings, progress=progress)
    shard: Partition | None = None
    with runs.open():
        if replay is not None:
            found = replayed(runs, replay)
        else:
            starts = Starts(test)
            first = _check_worth(runs, starts)
            if first is None:
                found, shard = search_shared(runs, build)
            else:
                found = SearchResult(first, 1, 0, 0, "no execution ends")
            found = with_the_world_outside(runs, found)
            found = _with_what_is_left_behind(runs, found, starts)
            if shard is not None and found.failed is None and found.unfinished is None:
                shard = replace(shard, complete=True)
                found = replace(found, unfinished=_ONE_OF_SEVERAL.format(shard.number, shard.of))
        failure = None
        if found.failed is not None:
            failure = failure_of(runs, found, title)
        elif found.cycle is not None:
            failure = cycle_of(runs, found.cycle, title)
    return Exploration(
        test=title,
        settings=settings,
        executions=runs.executions,
        states=found.states,
        steps=runs.steps,
        seconds=runs.seconds,
        memory=found.memory,
        unfinished=found.unfinished,
        failure=failure,
        way=found.way,
        merges_audited=found.audited[0],
        schedules_audited=found.audited[1],
        notes=(*current.notes(), *found.notes, *_of_the_clock(runs)),
        interrupted=bool(runs.interrupt),
        shard=shard,
    )


def _of_the_clock(runs: Runs) -> tuple[str, ...]:
    """Say that deadlines came in their order only, if the order of some could be another."""
    return (DEADLINES,) if runs.raced and runs.settings.clock == "autojump" else ()


def with_the_world_outside(runs: Runs, found: SearchResult) -> SearchResult:
    """Take a confirmation back if the program has changed what no state shows."""
    changed = current.changed_outside()
    if changed is None or runs.settings.outside == "ignore" or found.failed or found.unfinished:
        return found
    text = (
        f"the test {changed}: no state shows that, and no execution starts it anew; put it behind a "
        "parameter, or say outside='ignore' if it decides nothing"
    )
    return replace(found, unfinished=text)


def _with_what_is_left_behind(runs: Runs, found: SearchResult, starts: Starts) -> SearchResult:
    """Take a confirmation back if not all executions began alike."""
    if runs.settings.outside == "ignore" or found.failed or found.cycle or found.unfinished:
        return found
    starts.look_again(runs, _first_in_first_out(runs))
    if starts.difference is None:
        return found
    text = (
        f"an execution leaves behind what the next one begins with: {starts.difference}; make it anew "
        "in each execution (in the test, before it starts a task, or in a fixture of it), or say "
        "outside='ignore' if it decides nothing"
    )
    return replace(found, unfinished=text)


def required_parameters(fn: Callable[..., object]) -> list[inspect.Parameter]:
    """Return the parameters for which a call has to have a value."""
    return [
        one
        for one in inspect.signature(fn).parameters.values()
        if one.default is one.empty and one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)
    ]


def with_handle(fn: Callable[..., Awaitable[object]]) -> AsyncTest:
    """Return a function that takes the handle, whether or not ``fn`` does.

    The only parameter without a default is the handle, and else one that is called x.

    Raises:
      ExploreUsageError: if ``fn`` has more parameters.
    """
    parameters, required = inspect.signature(fn).parameters, required_parameters(fn)
    by_keyword = any(one.kind is one.KEYWORD_ONLY and one.name != HANDLE for one in required)
    if len(required) > 1 or by_keyword:
        names = ", ".join(one.name for one in required)
        raise ExploreUsageError(
            f"the function has the parameters ({names}), but it is given no more than the handle "
            "x; bind the others with functools.partial, or write @explore() with parentheses to "
            "decorate a test, which gets them from pytest"
        )
    first = next(iter(parameters), None)
    name = required[0].name if required else HANDLE
    bound = fn.keywords if isinstance(fn, partial) else ()
    if name not in parameters or (name in bound and not required):
        return standing_for(fn, lambda _: fn())
    return fn if name == first else standing_for(fn, lambda x: fn(**{name: x}))


def _check_worth(runs: Runs, starts: Starts) -> Execution | None:
    """Refuse a test in which there is nothing to choose, or which differs from one to the next.

    Returns the first execution if it does not end: in a search all of them would be cut where they
    come back to a state, and none would be wrong.
    """
    first = runs.execute(starts.looking(_first_in_first_out(runs)))
    assert first.ending is not None
    pass_on_a_skip(first.ending)
    if not first.branched and not first.ending.failed:
        raise ExploreUsageError(
            "no task was spawned and nothing can be cancelled, so all schedules are the same: "
            "start at least two tasks in a nursery"
        )
    again = runs.execute(starts.looking(_first_in_first_out(runs, first.choices)))
    assert again.ending is not None
    if again.choices != first.choices or again.ending.signature != first.ending.signature:
        raise NondeterminismError(
            "under the same schedule the test ended differently the second time: "
            f"{first.ending.kind} {first.ending.message}, then {again.ending.kind} "
            f"{again.ending.message}; something outlives an execution: a global variable, a fixture"
        )
    runs.executions = 0
    runs.steps = 0
    return first if first.ending.kind == "endless" else None


def _first_in_first_out(runs: Runs, choices: Sequence[Choice] = ()) -> Prefix:
    return Prefix(choices, go_on=True, stop=LOOK_STEPS if runs.settings.liveness else None)


def replayed(runs: Runs, token: str) -> SearchResult:
    schedule = Schedule.parse(token)
    runs.settings = replace(runs.settings, order=schedule.order)  # type: ignore[arg-type]
    chooser: Replay = TextsReplay(schedule)
    if runs.settings.liveness:
        chooser = CycleReplay(schedule, fingerprinter(runs.settings))
    execution = runs.execute(chooser)
    pass_on_a_skip(execution.ending)
    made = Schedule.of(schedule.order, execution.choices, execution.firsts)
    if made.checksum != schedule.checksum:
        raise ReplayError(
            "this schedule no longer applies: its deviations are possible, but the steps between "
            f"them are others than when {token!r} was made (the test changed"
            f"{_other_order()}); explore again"
        )
    failed = execution if execution.ending is not None and execution.ending.failed else None
    cycle = None
    if isinstance(chooser, CycleReplay) and failed is None:
        cycle = chooser.cycle(execution.choices)
    if failed is None and isinstance(chooser, TextsReplay) and chooser.has_texts and _other_order():
        raise ReplayError(
            f"this schedule does not fail here. Either the test was mended{_other_order()}"
        )
    return SearchResult(failed, 1, 0, 0, REPLAYED, cycle)


def _other_order() -> str:
    """Return what else may be different where texts hash in another way in each process."""
    if not sys.flags.hash_randomization or os.environ.get("PYTHONHASHSEED", "random").isdigit():
        return ""
    return (
        ", or it depends on the order of a set of texts, which is another in each process: explore "
        "and replay with the same PYTHONHASHSEED=0, or sort the set"
    )

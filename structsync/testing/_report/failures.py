"""A failure that a search has found: made smaller, shown step by step, tried in the real trio."""

from __future__ import annotations

from dataclasses import replace

from structsync.report._words import counted
from structsync.testing._errors import NondeterminismError
from structsync.testing._execution.execution import Ending, Execution
from structsync.testing._execution.public_engine import PublicEngine
from structsync.testing._execution.schedule import Schedule
from structsync.testing._result import Failure
from structsync.testing._search.choosers import Prefix
from structsync.testing._search.livelock import Livelock
from structsync.testing._search.result import SearchResult
from structsync.testing._search.runs import Runs
from structsync.testing._search.search import deviations, in_trios_order, minimised
from structsync.testing._search.starvation import Starvation

from .recording import Recording

#: Of an execution without an end so many steps are shown.
SHOWN_STEPS = 40


def failure_of(runs: Runs, found: SearchResult, title: str) -> Failure:
    failed = found.failed
    assert failed is not None
    # Where states are distinguished, nothing like a failure without an end is met again.
    is_endless = failed.ending is not None and failed.ending.kind == "endless"
    is_first_in_first_out = found.execution == 1 and found.way != "sampled"
    if not is_first_in_first_out and runs.settings.search != "sweep" and not is_endless:
        assert failed.ending is not None
        what, _, _ = failed.ending.message.partition("\n")
        runs.found(f"{failed.ending.kind}: {what}")
        failed = minimised(runs, failed)
    recording = Recording()
    repeated = runs.execute(Prefix(failed.choices), recording)
    ending = repeated.ending
    assert ending is not None
    if failed.ending is None or ending.signature != failed.ending.signature:
        raise NondeterminismError(
            f"the failing schedule ended as {failed.ending} once and as {ending} when repeated"
        )
    real = _in_real_trio(runs, repeated)
    number = deviations(repeated)
    order = (
        f"{counted(number, 'deviation')} from plain FIFO order" if number else "plain FIFO order"
    )
    summary = (
        f"{order} in {counted(len(repeated.choices), 'step')}, "
        f"found at execution {found.execution:,}, replayed in trio.run: {real}"
    )
    if runs.settings.order == "any" and not is_endless:
        summary += f", possible in trio's own order: {in_trios_order(runs, repeated)}"
    token = Schedule.of(runs.settings.order, repeated.choices, repeated.firsts).token
    replay = f"explore(..., replay={token!r})"
    shown = recording.counterexample(repeated, title, summary=summary, replay=replay)
    if is_endless:
        detail = f"{ending.message}; the first {SHOWN_STEPS} of them are shown"
        shown = replace(shown, steps=shown.steps[:SHOWN_STEPS], detail=detail)
    return Failure(
        kind=ending.kind,  # type: ignore[arg-type]  # it has failed
        message=ending.message,
        error=ending.error,
        deviations=number,
        execution=found.execution,
        token=token,
        replayed=real,
        counterexample=shown,
    )


def cycle_of(runs: Runs, found: Starvation | Livelock, title: str) -> Failure:
    """Show a behaviour without an end: the way into the cycle, and the cycle once."""
    execution = runs.executions
    recording = Recording()
    repeated = runs.execute(Prefix(found.way + found.cycle), recording)
    repeated.ending = Ending(found.kind, found.message, culprit=found.culprit)
    real = "same" if _is_possible(runs, repeated) else "differs: the schedule is not possible there"
    token = Schedule.of(runs.settings.order, repeated.choices, repeated.firsts).token
    summary = f"{counted(len(found.way), 'step')} and a cycle, found on the graph of all states, "
    shown = recording.counterexample(
        repeated,
        title,
        summary=summary + f"replayed in trio.run: {real}",
        replay=f"explore(..., replay={token!r})",
        cycle_start=len(found.way),
    )
    return Failure(
        kind=found.kind,
        message=found.message,
        error=None,
        deviations=deviations(repeated),
        execution=execution,
        token=token,
        replayed=real,
        counterexample=shown,
    )


def _is_possible(runs: Runs, repeated: Execution) -> bool:
    try:
        runs.execute(Prefix(repeated.choices), kind=PublicEngine)
    except NondeterminismError:
        return False
    return True


def _in_real_trio(runs: Runs, repeated: Execution) -> str:
    """Run the schedule once more inside the real ``trio.run``; say whether it ends the same."""
    assert repeated.ending is not None
    try:
        real = runs.execute(Prefix(repeated.choices), kind=PublicEngine)
    except NondeterminismError as error:
        return f"differs: {error}"
    assert real.ending is not None
    if real.ending.signature == repeated.ending.signature:
        return "same"
    return f"differs: {real.ending.kind} {real.ending.message}".rstrip()

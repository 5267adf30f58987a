"""What is raised of a deadlock: its cycle in words, and which task waits for which in it."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import Any, cast

from trio.lowlevel import Task

from structsync._core.queue.waits_for import Need, unmet

from .needs import Reason
from .places import Names, line_of, titled
from .trace import traces
from .wait_graph import WaitEdge, WaitGraph


class DeadlockError(Exception):
    """Tasks wait for each other, and none of them ever continues.

    Raised by :func:`deadlock_guard` in the task that was about to close the cycle, where it acquires.
    The message is the cycle, task by task.

    Attributes:
      tasks: the tasks that wait for each other, the one that closes the cycle first.
      graph: which of them wait for which, and for what.
    """

    tasks: tuple[Task, ...]
    graph: WaitGraph

    def __init__(self, message: str, tasks: Iterable[Task] = (), graph: Any = None) -> None:
        super().__init__(message)
        self.tasks = tuple(tasks)
        self.graph = WaitGraph(()) if graph is None else graph


class DeadlockWarning(RuntimeWarning):
    """The warning of ``deadlock_guard("warn")``."""


def edges_of(waits: Any, names: Names, blocked: Any) -> Iterator[WaitEdge]:
    """Yield which of the stuck tasks waits for which."""
    seen = set()
    for who in names:
        for need in unmet(waits, who, blocked):
            live = _reason(need).primitive
            for holder, _ in need.holders:
                if holder in blocked and (who, holder, id(live)) not in seen:
                    seen.add((who, holder, id(live)))
                    yield WaitEdge(names[who], titled(live), names[holder])


def _reason(need: Need) -> Reason:
    return cast(Reason, need.why)


def message_of(cycle: list[tuple[Hashable, Need]], names: Names) -> str:
    """Return the cycle in words, a line for each task, and what to do."""
    alone = len(names) == 1
    because = "this task waits for itself:" if alone else "each of these waits for the next:"
    lines = [f"this wait would never end, because {because}"]
    for place, (who, need) in enumerate(cycle):
        after = cycle[(place + 1) % len(cycle)][0]
        lines.append(f"  {_sentence(who, need, after, names)}")
    if len(names) > len(cycle):
        lines.append(f"and every other way out leads to these {len(names)} tasks, too.")
    if any(_reason(need).is_job for _, need in cycle):
        lines.append("Hold nothing that a job needs while you wait for the job.")
    elif alone:
        lines.append(
            "Leave the block that holds it first, or take at once all that the task needs."
        )
    else:
        lines.append("Acquire in the same order everywhere, or together by acquire_all().")
    return "\n".join(lines)


def _sentence(who: Hashable, need: Need, after: Hashable, names: Names) -> str:
    reason = _reason(need)
    live = reason.primitive
    place = line_of(who)
    waits = f"{names[who]}{f' ({place})' if place else ''} waits for"
    if reason.is_job:
        return f"{waits} a job of {titled(live)}, where {names[after]} does not continue"
    if reason.is_partner and (after, 1) not in need.holders:
        return f"{waits} a rule over {titled(live)} to end, whose block {names[after]} has entered"
    if reason.is_partner:
        return f"{waits} a call of {titled(live)} to start together with, where {names[after]} is"
    text = f"{waits} {titled(live)}"
    held = traces[-1].hold_of(live, after) if traces else None
    if reason.is_ahead:
        return f"{text}, in whose queue {names[after]} is ahead"
    since = f" since {held.line}" if held is not None and held.line else ""
    return f"{text}, which {names[after]} holds{since}"

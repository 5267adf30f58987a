"""What a blocked task waits for: the primitive, its holders, and of a monitor the guard that is false."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from reprlib import Repr
from types import FrameType
from typing import Any

import trio
from trio.lowlevel import Task

import structsync
from structsync._core.monitors.entry import Invocation
from structsync._core.queue.group import Claims
from structsync._runtime.parking_together import wait_notified
from structsync.report._words import listed
from structsync.testing._execution import frames, oracles, places
from structsync.testing._execution.execution import Execution

#: Shown of the children of a nursery.
MOST_CHILDREN = 4


@dataclass(frozen=True, slots=True)
class Wait:
    """What a task waits for, taken down while it does: a group forgets that when it ends.

    Attributes:
      primitives: the objects whose state says more.
      text: how the sentence begins, or all of it.
      holders: the names of the tasks that would have to do something first.
    """

    text: str = ""
    primitives: Sequence[object] = ()
    holders: tuple[str, ...] = field(default=())

    def said(self, state_of: Callable[[object], str]) -> str:
        """Return the sentence, with the states of the primitives."""
        return self.text + "; ".join(map(state_of, self.primitives))


def wait_of(execution: Execution, task: Task) -> Wait:
    """Return what a blocked task waits for; a wait without words if that is not known."""
    names = execution.names
    for frame in reversed([*frames.frames_of(execution.coroutine_of(task))]):
        if frame.f_code.co_name == "_nested_child_finished":
            children = [names.of[one] for one in _children(frame.f_locals.get("self"))]
            text = "waits for the tasks of its nursery"
            few = listed(children, MOST_CHILDREN)
            return Wait(text + (f": {few}" if few else ""), (), tuple(children))
        wait = _wait_of_the_notified(execution, frame) or _wait_in(execution, frame.f_locals)
        if wait is not None:
            return wait
        if not frames.is_below(frame):
            break
    return Wait()


def _wait_of_the_notified(execution: Execution, frame: FrameType) -> Wait | None:
    """Return what a task waits for that is still in ``wait()``, but has been notified."""
    if frame.f_code is not wait_notified.__code__:
        return None
    owner, request = frame.f_locals["owner"], frame.f_locals["request"]
    if request not in owner._core.waiting():
        return None
    return Wait("was notified, and waits for ", [owner], _names(execution, [owner]))


_NAMES = ("condition", "group", "live", "barrier", "monitor", "self")


def _wait_in(execution: Execution, local: Any) -> Wait | None:
    group = getattr(local.get("request"), "group", None)  # a request that has not slept before
    for value in (group, *(local.get(name) for name in _NAMES)):
        if isinstance(value, Claims):
            found = [one.primitive for one in value.members]
            how = "all" if value.every else "any"
            return Wait(f"waits for {how} of ", found, _names(execution, found))
        if isinstance(value, structsync.Monitor):
            claim = next(one for one in local.values() if isinstance(one, Invocation))
            return _wait_for_monitor(execution, value, claim)
        if isinstance(value, oracles.FOUND):
            return Wait("waits for ", [value], _names(execution, [value]))
        if isinstance(value, trio.MemoryReceiveChannel):
            return Wait("waits for an item of a memory channel")
    return None


def _wait_for_monitor(execution: Execution, monitor: structsync.Monitor, claim: Invocation) -> Wait:
    holders = _names(execution, [monitor])
    called = f"{claim.entry.name}({', '.join(_arguments(claim))})"
    if holders:
        return Wait(f"waits to call {called} of ", [monitor], holders)
    return Wait(f"waits to call {called}, {_why_not(claim)}; ", [monitor])


_short = Repr()
_short.maxstring = _short.maxother = 30


def _arguments(claim: Invocation) -> Iterator[str]:
    yield from map(_short.repr, claim.args)
    yield from (f"{name}={_short.repr(value)}" for name, value in claim.kwargs.items())


def _why_not(claim: Invocation) -> str:
    """Say what keeps a call out of a monitor that no task is in.

    Its guard, or a synchronizer: had either let it in by now, the step before would be a violation.
    """
    guard = claim.entry.guard
    if guard is not None and not guard.holds(claim):
        return f"whose guard is false: {places.described(guard.function)}"
    return "which a synchronizer does not let start"


def _children(nursery: Any) -> list[Task]:
    return sorted(nursery.child_tasks, key=lambda task: task._counter) if nursery else []


def _names(execution: Execution, things: Sequence[object]) -> tuple[str, ...]:
    """Return the names of the tasks that have what another waits for."""
    holders = dict.fromkeys(one for thing in things for one in _holders(thing))
    return tuple(
        execution.names.of[one]
        for one in holders
        if isinstance(one, Task) and one in execution.names.of
    )


def _holders(thing: Any) -> Iterator[object]:
    numbers = thing.statistics()
    for name in ("owner", "writer"):
        yield getattr(numbers, name, None)
    for name in ("readers", "borrowers"):
        yield from getattr(numbers, name, ())

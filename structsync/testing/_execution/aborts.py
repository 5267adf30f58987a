"""Whether it matters in which order a step has aborted several waits.

trio aborts the tasks of a scope in no particular order; the explorer does it in the order of their spawns, and
deadlines that are equal come in that order. So which of two like tasks is older decides what follows, if
what one abort does depends on whether the other was first. Those of trio's own waits only take the task
out of where it waits. Those of the queues of structsync do no more to the other one if both want the same.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any, TypeAlias

import trio
from trio.lowlevel import Abort, RaiseCancelT, Task

from structsync._core.queue.arbiter import Arbiter
from structsync._core.queue.request import Request
from structsync._runtime.primitive import Primitive

from .watched_queues import hear

AbortFunction: TypeAlias = Callable[[RaiseCancelT], Abort]

_PLAIN = (int, float, str, bytes, type(None), Enum)


class Aborts:
    """The waits that were aborted in the last step, apart from those in trio, which change nothing else."""

    __slots__ = ("made", "succeeded")

    def __init__(self) -> None:
        self.made: list[AbortFunction] = []
        self.succeeded = 0

    def heard(self, abort: AbortFunction) -> AbortFunction:
        """Return a function that aborts like this one, and is noted when it does."""
        if type(abort) is types.FunctionType and abort.__module__.startswith("trio."):
            return abort
        return _Heard(self, abort)

    def order_matters(self, pending: Sequence[object]) -> bool:
        """Return whether another order could have had another effect; forget them.

        Args:
          pending: what those tasks will get that were woken in a cancelled scope, by these aborts or otherwise.
        """
        made, self.made = self.made, []
        succeeded, self.succeeded = self.succeeded, 0
        if not all(map(_is_of_a_queue, made)):
            return len(made) + len(pending) - succeeded > 1
        if not all(map(_is_cancelled, pending)):
            return True  # let in by an abort, and it would have been aborted
        wanted: dict[int, object] = {}
        return any(
            wanted.setdefault(id(one.primitive), kind) != kind
            for one in made
            if isinstance(one, Request)
            for kind in [_kind_of(one.claim)]
        )


class _Heard:
    """An abort function that is noted when it is called."""

    __slots__ = ("_abort", "_aborts")

    def __init__(self, aborts: Aborts, abort: AbortFunction) -> None:
        self._aborts = aborts
        self._abort = abort

    def __call__(self, raise_cancel: RaiseCancelT) -> Abort:
        aborts = self._aborts
        aborts.made.append(self._abort)
        done = self._abort(raise_cancel)
        aborts.succeeded += done is Abort.SUCCEEDED
        return done


def _is_of_a_queue(abort: AbortFunction) -> bool:
    """Return whether it withdraws a request, lets in those behind it, and does nothing else."""
    if not isinstance(abort, Request) or abort.group is not None:
        return False
    primitive: Any = abort.primitive
    return (
        type(primitive)._abort is Primitive._abort
        and type(primitive._core).withdraw is Arbiter.withdraw
        and all(one is hear for one in primitive._observers)
    )


def _is_cancelled(pending: object) -> bool:
    return isinstance(getattr(pending, "error", None), trio.Cancelled)


def _kind_of(claim: Any) -> object:
    """Return what is equal for claims of which each is admitted where the other is."""
    if isinstance(claim, Task):
        return Task  # whose claim it is
    if isinstance(claim, tuple):
        return type(claim), *map(_kind_of, claim)
    return claim if isinstance(claim, _PLAIN) else id(claim)

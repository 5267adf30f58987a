"""The test as a whole as the only thing that is cancelled: from outside, as its caller could."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import trio

from .handle import ExploredRun
from .names import Names, Scopes


class _OneScope(Scopes):
    """Knows one scope, whatever the program opens inside of it."""

    def __init__(self, names: Names, scope: trio.CancelScope) -> None:
        super().__init__(names)
        super().entered(scope, trio.lowlevel.current_task())

    def entered(self, *_: object, **__: object) -> None:
        """Take no note of it."""


@contextlib.contextmanager
def cancelled_as_a_whole(x: ExploredRun) -> Iterator[None]:
    """Offer the block alone for cancellation; opened at the start of an execution, round all of it."""
    execution = x._execution
    assert execution is not None
    with trio.CancelScope() as scope:
        execution.scopes = _OneScope(execution.names, scope)  # type: ignore[misc]  # a slot of each engine
        yield

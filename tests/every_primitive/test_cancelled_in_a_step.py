"""A wait that is cancelled in the middle of a step, by a finalizer, takes effect right after the step.

At the beginning of the k-th function of structsync that runs, for k = 1, 2, ..., the scopes of tasks that wait are
cancelled. Whatever k is, each of them is served or cancelled, and the next one is served.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

import pytest
import trio
import trio.testing

from structsync._runtime.transitions import of_this_thread

from .kinds import Kind
from .striking import Striker, every_call


class Program:
    """Two tasks wait, where two can; as often as one of them waits still, one more is let in."""

    def __init__(self, kind: Kind, first_only: bool, k: int) -> None:
        self.kind = kind
        self.primitive: Any = kind.make()
        self.scopes = [trio.CancelScope() for _ in range(2)]
        self.struck = self.scopes[:1] if first_only else self.scopes
        self.striker = Striker(k, self.cancel)
        self.ended = 0

    def cancel(self) -> None:
        for scope in self.struck:
            scope.cancel()

    def striking(self) -> AbstractContextManager[None]:
        return every_call(self.striker)

    async def want(self, scope: trio.CancelScope) -> None:
        with scope:
            await self.take_and_give()
        self.ended += 1

    async def take_and_give(self) -> None:
        await self.kind.take(self.primitive)
        if self.kind.lends:
            self.kind.give(self.primitive)

    async def main(self) -> None:
        kind, primitive = self.kind, self.primitive
        tasks = 2 if kind.crowd else 1
        with trio.fail_after(1):
            async with trio.open_nursery() as nursery:
                with self.striking():
                    kind.occupy(primitive)
                    for scope in self.scopes[:tasks]:
                        nursery.start_soon(self.want, scope)
                        await trio.testing.wait_all_tasks_blocked()
                    await kind.free_soon(primitive)
                    await trio.testing.wait_all_tasks_blocked()
                    while primitive.statistics().tasks_waiting:
                        await kind.free_soon(primitive)
                        await trio.testing.wait_all_tasks_blocked()
            assert self.ended == tasks
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self.take_and_give)
                await trio.testing.wait_all_tasks_blocked()
                if nursery.child_tasks:
                    await kind.free_soon(primitive)

    def run(self) -> bool:
        """Return whether it was struck."""
        trio.run(self.main, clock=trio.testing.MockClock(autojump_threshold=0))
        transitions = of_this_thread()
        assert not transitions.running
        assert not transitions.later
        assert self.primitive.statistics().tasks_waiting == 0
        return bool(self.striker.struck)


def sweep(kind: Kind, first_only: bool, step: int) -> int:
    k = 1
    while Program(kind, first_only, k).run():
        k += step
    return k


@pytest.mark.slow
@pytest.mark.parametrize("first_only", [True, False])
def test_a_wait_that_is_cancelled_in_a_step_ends_after_it(kind: Kind, first_only: bool) -> None:
    assert sweep(kind, first_only, 1) > 20

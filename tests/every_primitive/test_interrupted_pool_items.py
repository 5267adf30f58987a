"""C4 for what a pool lends: an interrupt at any instruction leaves no place taken, and no item half-closed.

By default the item of a block that fails is closed, by code of the user's, at the end of that block.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial

import pytest
import trio
from trio.lowlevel import checkpoint, enable_ki_protection

from structsync import ResourcePool

from .striking import Interrupts

pytestmark = pytest.mark.filterwarnings("ignore:coroutine .* was never awaited:RuntimeWarning")


class StopError(Exception):
    """What ends a block."""


class Connections:
    """A pool of connections, which of them were opened and closed, and who is using one."""

    def __init__(self, *, keep: bool) -> None:
        self.keep = keep
        self.opened: list[int] = []
        self.closed: list[int] = []
        self.pool = ResourcePool(self.open, 1, check=self.check, close=self.close)

    @enable_ki_protection
    async def open(self) -> int:
        await checkpoint()
        self.opened.append(len(self.opened))
        return self.opened[-1]

    async def check(self, connection: int) -> bool:
        await checkpoint()
        return True

    @enable_ki_protection
    async def close(self, connection: int) -> None:
        self.closed.append(connection)
        await checkpoint()

    async def ask(self, *, fails: bool) -> None:
        try:
            async with self.pool.item(keep_on_error=self.keep):
                await checkpoint()
                if fails:
                    raise StopError
        except StopError:
            pass

    def assert_whole(self, struck: list[str]) -> None:
        """What is not to be lent again is closed, by who comes past next if not before, and once."""
        numbers = self.pool.statistics()
        assert (numbers.lent, numbers.tasks_waiting) == (0, 0), struck
        trio.run(self.pool.close_stale)
        idle = self.pool.statistics().idle
        assert len(self.closed) == len({*self.closed}), struck
        # What calls the user's functions is as open to interrupts as they are: what one of them was about
        # to return or to close is lost then. (CPython looks for signals at none of these instructions.)
        lost = len(self.opened) - len(self.closed) - idle
        in_a_call = [one for one in struck if one.startswith("call,")]
        assert 0 <= lost <= len(in_a_call), struck
        assert idle <= 1, struck
        trio.run(partial(self.ask, fails=False))  # it can be used
        trio.run(self.pool.aclose)
        assert len(self.opened) - len(self.closed) == lost, struck


async def one_after_the_other(connections: Connections) -> None:
    await connections.ask(fails=True)
    await connections.ask(fails=True)


async def one_beside_the_other(connections: Connections) -> None:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(partial(connections.ask, fails=True))
        await connections.ask(fails=True)


@pytest.mark.parametrize(
    ("main", "keep"),
    [(one_after_the_other, False), (one_after_the_other, True), (one_beside_the_other, False)],
)
def test_an_interrupt_at_any_instruction_of_a_block_that_fails_loses_nothing(
    main: Callable[[Connections], Awaitable[None]], keep: bool, interrupted: Interrupts
) -> None:
    def program(k: int) -> list[str]:
        connections = Connections(keep=keep)
        struck = interrupted(partial(main, connections), k)
        connections.assert_whole(struck)
        return struck

    assert interrupted.sweep(program) > 50

"""C4 for items: an interrupt at any instruction neither loses one nor hands it out twice."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial

import pytest
import trio
from trio.lowlevel import checkpoint, enable_ki_protection

from structsync import Buffer

from .striking import Interrupts

pytestmark = pytest.mark.filterwarnings("ignore:coroutine .* was never awaited:RuntimeWarning")


class StopError(Exception):
    """What ends a block."""


class Ledger:
    """What was put and got, noted in the step in which the call returns."""

    def __init__(self) -> None:
        self.buffer = Buffer[int](1)
        self.put: list[int] = []
        self.got: list[int] = []

    @enable_ki_protection
    async def putting(self, item: int) -> None:
        await self.buffer.put(item)
        self.put.append(item)

    @enable_ki_protection
    async def getting(self) -> None:
        self.got.append(await self.buffer.get())

    @enable_ki_protection
    async def collecting(self) -> None:
        self.got += await self.buffer.get_batch(2, max_wait=0.001)

    async def working(self) -> None:
        with suppress(StopError):
            async with self.buffer.item() as item:
                await checkpoint()
                if item:
                    raise StopError
                await self.done(item)

    @enable_ki_protection
    async def done(self, item: int) -> None:
        self.got.append(item)

    def check(self, struck: list[str]) -> None:
        left = self.buffer.statistics().items
        rest = self.buffer.get_many_nowait(left) if left else []
        assert sorted(self.put) == sorted(self.got + rest), struck
        assert self.buffer.statistics().tasks_waiting == 0


async def put_by_main(ledger: Ledger) -> None:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(ledger.getting)
        nursery.start_soon(ledger.getting)
        for item in range(2):
            await ledger.putting(item)


async def got_by_main(ledger: Ledger) -> None:
    async with trio.open_nursery() as nursery:
        for item in range(2):
            nursery.start_soon(ledger.putting, item)
        await ledger.getting()
        await ledger.getting()


async def collected_by_main(ledger: Ledger) -> None:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(ledger.putting, 0)
        await ledger.collecting()


async def worked_on_by_main(ledger: Ledger) -> None:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(ledger.putting, 0)
        await ledger.working()
        nursery.start_soon(ledger.putting, 1)
        await ledger.working()
        await ledger.getting()


@pytest.mark.parametrize("main", [put_by_main, got_by_main, collected_by_main, worked_on_by_main])
def test_an_interrupt_at_any_instruction_loses_no_item(
    main: Callable[[Ledger], Awaitable[None]], interrupted: Interrupts
) -> None:
    def program(k: int) -> list[str]:
        ledger = Ledger()
        struck = interrupted(partial(main, ledger), k)
        ledger.check(struck)
        return struck

    assert interrupted.sweep(program) > 50

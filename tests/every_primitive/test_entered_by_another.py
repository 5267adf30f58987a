"""A block decides where its ``__aenter__`` is awaited, not where that is called: trio's blocks do, too."""

from __future__ import annotations

from typing import Any

import pytest
import trio
import trio.lowlevel
from trio.testing import wait_all_tasks_blocked

from .conftest import kinds
from .kinds import Kind

#: Where what is occupied leaves no room for a block.
OCCUPIED = kinds(
    lambda kind: (
        hasattr(kind.cls, "__aenter__")
        and kind.name not in ("three permits", "condition", "resource pool")
    )
)


@pytest.mark.parametrize("kind", OCCUPIED)
async def test_the_task_that_awaits_the_entry_is_the_one_that_waits(kind: Kind) -> None:
    primitive = kind.make()
    kind.occupy(primitive)
    before = primitive.statistics().tasks_waiting
    entry = primitive.__aenter__()
    assert primitive.statistics().tasks_waiting == before
    has_entered = False

    async def block() -> None:
        nonlocal has_entered
        await entry
        has_entered = True
        await primitive.__aexit__(None, None, None)

    # Had this task taken the position, it would be woken out of the sleep of the nursery.
    async with trio.open_nursery() as nursery:
        nursery.start_soon(block)
        await wait_all_tasks_blocked()
        assert primitive.statistics().tasks_waiting == before + 1
        kind.free(primitive)
        await trio.lowlevel.checkpoint()  # this task is not the one that is woken
    assert has_entered
    assert primitive.statistics().tasks_waiting == before


@pytest.mark.parametrize("kind", kinds(lambda kind: hasattr(kind.cls, "__aenter__")))
async def test_an_entry_that_is_never_awaited_has_taken_no_position(kind: Kind) -> None:
    primitive = kind.make()
    kind.occupy(primitive)
    before = kind.state(primitive)
    entry: Any = primitive.__aenter__()
    entry.close()
    assert kind.state(primitive) == before

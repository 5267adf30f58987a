"""What closing promises wherever a task may be inside and others may wait."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, TypeAlias

import trio
from trio.lowlevel import checkpoint

from structsync import Primitive
from structsync.testing import ExploredRun

from .sweeping import together

Use: TypeAlias = Callable[[], Awaitable[object]]


async def closed_meanwhile(x: ExploredRun, primitive: Primitive[Any], *uses: Use) -> None:
    """Run the uses and close the primitive at any moment: no task waits then, or gets in later."""
    closed = False
    x.always(lambda: not (closed and primitive.statistics().tasks_waiting), "no task waits then")

    async def user(use: Use) -> None:
        was_closed = closed
        try:
            await use()
        except trio.ClosedResourceError:
            if not closed:
                x.fail("told that it is closed before it was")
        else:
            if was_closed:
                x.fail("let in after it was closed")

    async def closer() -> None:
        nonlocal closed
        await checkpoint()
        primitive.close()
        closed = True

    users = {use: partial(user, use) for use in uses}  # equal ones are one: tasks that are alike
    await together(closer, *[users[use] for use in uses])

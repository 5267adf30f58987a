"""Waiting for what another session does, by what everybody can see."""

from __future__ import annotations

import trio

from structsync.distributed import SharedPrimitive


async def until_waiting(primitive: SharedPrimitive, count: int) -> None:
    """Return once so many wait for it; tests with it have a limit of time."""
    while (await primitive.statistics()).tasks_waiting != count:
        await trio.lowlevel.checkpoint()

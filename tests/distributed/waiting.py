"""Waiting for what another session does, by what every task can see."""

from __future__ import annotations

import trio

from structsync.distributed import Session, SharedPrimitive


async def until_waiting(primitive: SharedPrimitive, count: int) -> None:
    """Return once so many wait for it; tests with it have a limit of time."""
    while (await primitive.statistics()).tasks_waiting != count:
        await trio.lowlevel.checkpoint()


async def until_calling(session: Session, name: str) -> None:
    """Return once a call of the session waits for a host of that name."""
    while True:
        caller = None if session._calls is None else session._calls.callers.get(name)
        if caller is not None and caller.changed.statistics().tasks_waiting:
            return
        await trio.lowlevel.checkpoint()


async def until_queued(session: Session, name: str, count: int) -> None:
    """Return once so many calls wait for their turn at the host that the session is."""
    assert session._calls is not None
    while session._calls.hosts[name].permits.statistics().tasks_waiting != count:
        await trio.lowlevel.checkpoint()

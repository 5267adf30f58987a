"""Calls of the entries of a monitor: what begins, and can be handed on no more, is the entry and not the wait for it."""

from __future__ import annotations

from inspect import BoundArguments
from typing import Any

from trio.lowlevel import current_task, enable_ki_protection

from structsync import Entry
from structsync._core.monitors.entry import Invocation
from structsync._primitives.entries import run_body

from .running import Running


class NoAnswer(Exception):
    """The call has no result: it has not begun and is to be handed on; or it counts as begun, because others may have."""


@enable_ki_protection
async def enter(entry: Entry[..., Any], bound: BoundArguments, running: Running) -> Any:
    """Run the function of an entry, as awaiting the entry does.

    Raises:
      NoAnswer: if its wait was ended.
    """
    claim = Invocation(entry._core, current_task(), bound.args, bound.kwargs)
    with running.waiting:
        await entry._enter(claim)
        running.begin()
    if not running.is_begun:
        raise NoAnswer
    return await run_inside(entry, claim)


async def run_inside(entry: Entry[..., Any], claim: Invocation) -> Any:
    """Run the function of an entry that was granted to this task."""
    try:
        return await run_body(entry.__wrapped__, *claim.args, **claim.kwargs)
    finally:
        entry._leave(claim)

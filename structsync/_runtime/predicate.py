"""Waiting until a predicate holds, as every kind of condition does."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from trio.lowlevel import (
    cancel_shielded_checkpoint,
    checkpoint,
    checkpoint_if_cancelled,
    enable_ki_protection,
)

from structsync._core.queue.user_code import refuse_coroutine

from .transitions import of_this_thread

T = TypeVar("T")


@enable_ki_protection
async def wait_for(wait: Callable[[], Awaitable[None]], predicate: Callable[[], T]) -> T:
    """Wait until the predicate is true, evaluating it now and after each wait; return its value.

    For a task that keeps others out of what the predicate looks at.
    """
    await checkpoint_if_cancelled()
    if value := evaluate(predicate):
        await cancel_shielded_checkpoint()
        return value
    while True:
        await wait()
        if value := evaluate(predicate):
            return value


@enable_ki_protection
async def wait_for_outside(wait: Callable[[], Awaitable[None]], predicate: Callable[[], T]) -> T:
    """Do the same where no task is kept out meanwhile.

    The schedule point comes first: after it another task would have made the predicate false.
    """
    await checkpoint()
    while not (value := evaluate(predicate)):
        await wait()
    return value


def evaluate(predicate: Callable[[], T]) -> T:
    """Return the value of a predicate that the user wrote."""
    with of_this_thread():  # as in a transition: nothing may change meanwhile (I6)
        value = predicate()
    refuse_coroutine(value, "predicate")
    return value

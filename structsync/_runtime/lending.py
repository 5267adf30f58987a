"""Items that are made, checked and closed by functions of the user, around the transitions of a pool.

They run in the task that has a place in the pool, between two transitions, so that whatever they do, the place
is released by one more: with its item, without it, or with one that is to be closed. A task that is
cancelled while a check runs cannot know what became of the item, so that one is closed.

What is closed is closed in a shielded scope: a borrower that is cancelled closes its item as it would
otherwise. But the scope has a deadline, because a close that never ends, in a shield, would be a
program that never ends.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Protocol, TypeVar, cast

import trio
from trio.lowlevel import (
    Task,
    checkpoint_if_cancelled,
    disable_ki_protection,
    enable_ki_protection,
)

from structsync._core.primitives.resource_pool import ResourcePoolCore

from . import parking, releasing
from .arguments import not_async
from .cancelling import is_cancelled
from .causes import error_of
from .done import coroutine_function
from .live import Live
from .parking_in_time import running_clock
from .runs import transitions_of

T = TypeVar("T")
_log = logging.getLogger("structsync")


class Loan:
    """A place in a pool, and a claim to one.

    Attributes:
      borrower: the task whose block it is; None if it is of no block.
    """

    __slots__ = ("borrower",)
    borrower: Task | None

    def __init__(self, borrower: Task | None = None) -> None:
        self.borrower = borrower

    def __repr__(self) -> str:
        return f"<Loan at {id(self):#x}>"


class Lends(Protocol):
    """What is known of a pool here."""

    _core: ResourcePoolCore
    _factory: Callable[[], Awaitable[Any]]
    _check: Callable[[Any], Awaitable[bool]] | None
    _closer: Callable[[Any], Awaitable[object]] | None
    _close_timeout: float
    _clock: trio.abc.Clock | None


@enable_ki_protection
async def borrow(pool: Live[Any], loan: Loan) -> Any:
    """Wait for a place, and return its item: an idle one that passes the check, or a new one."""
    await parking.acquire(pool, loan)
    try:
        return await _fit_item(pool, loan)
    except BaseException:
        of(pool)._core.discard(loan)  # a check that did not end may have left it in any state
        leave(pool, loan)
        await close_stale(pool)
        raise


async def _fit_item(pool: Live[Any], loan: Loan) -> Any:
    core = of(pool)._core
    while (kept := core.loans[loan]) is not None:
        if core.is_fit(loan, time_of(pool)) and await _passes(pool, kept.item):
            return kept.item
        await _close(pool, core.take_out(loan))
        with transitions_of(pool):
            core.next_item(loan, time_of(pool))
    item = await call(of(pool)._factory, "factory")
    core.put_in(loan, item)
    return item


async def _passes(pool: Live[Any], item: Any) -> bool:
    check = of(pool)._check
    if check is None:
        return True
    passed: object = await call(check, "check", item)
    if not isinstance(passed, bool):
        raise TypeError(f"check must return whether the item can be used, a bool, not {passed!r}")
    return passed


@enable_ki_protection
def leave(pool: Live[Any], loan: Loan, *, is_borrowed: bool = True) -> None:
    """Release a place with what is in it, and wake the next; if a transition runs, right after it."""
    transitions = transitions_of(pool)
    if transitions.running:
        transitions.later.append(partial(leave, pool, loan, is_borrowed=is_borrowed))
        return
    put_back = partial(of(pool)._core.put_back, loan, time_of(pool))
    releasing.change(pool, put_back, events=[("released", loan)] if is_borrowed else [])


@coroutine_function
@enable_ki_protection
async def close_stale(pool: Live[Any]) -> None:
    """Close the idle items that are not to be used any more, one after the other.

    A cancelled task closes one, which may take it ``close_timeout``, and leaves the others to the next; of a pool
    that is closed it closes all, because there may be no next.
    """
    core, place = of(pool)._core, Loan()
    while True:
        with transitions_of(pool):
            found = core.evict(place, time_of(pool))
        if not found:
            return
        try:
            await _close(pool, core.take_out(place))
        finally:
            leave(pool, place, is_borrowed=False)
        if core.cause is None and is_cancelled():
            return


@enable_ki_protection
async def fill(pool: Live[Any]) -> None:
    """Make items until there are as many as there should be at least."""
    core, place = of(pool)._core, Loan()
    await checkpoint_if_cancelled()
    if core.cause is not None:
        raise error_of(core.cause)
    await close_stale(pool)
    while True:
        with transitions_of(pool):
            missing = core.reserve(place)
        if not missing:
            break
        try:
            core.put_in(place, await call(of(pool)._factory, "factory"))
        finally:
            leave(pool, place, is_borrowed=False)
    if core.cause is not None:  # what was being made could not be closed with the pool
        await close_stale(pool)
        raise error_of(core.cause)


async def _close(pool: Live[Any], item: Any) -> None:
    """Close an item that is in no place any more; afterwards it counts as closed in any case."""
    lends = of(pool)
    if lends._closer is None:
        return
    deadline = trio.current_time() + lends._close_timeout
    with trio.CancelScope(shield=True, deadline=deadline) as scope:
        try:
            await call(lends._closer, "close", item)
        except Exception:  # noqa: BLE001 - the task that closes it here need not be the one that spoilt it
            _log.exception("%r could not be closed, and counts as closed in %r", item, pool)
    if scope.cancelled_caught:
        _log.warning(
            "%r was not closed within %s s, and counts as closed in %r; its close was cancelled",
            item,
            lends._close_timeout,
            pool,
        )


@disable_ki_protection
async def call(function: Callable[..., Awaitable[T]], what: str, *args: Any) -> T:
    """Run an async function of the user; Ctrl-C may interrupt that."""
    awaitable: object = function(*args)
    if not inspect.isawaitable(awaitable):
        raise not_async(what, awaitable)
    # Nothing is called between these two, so that no interrupt comes between them: an item would be lost.
    found: T = await awaitable
    return found


def time_of(pool: Live[Any]) -> float:
    """Return the time since which what comes back now is idle; constant where no time is asked for."""
    lends = of(pool)
    clock = None if lends._core.max_idle is None else running_clock()
    if clock is None:
        return 0
    if clock is not lends._clock:  # of another run: between the two no time has passed
        lends._clock = clock
        lends._core.change_clock(clock.current_time())
    return clock.current_time()


def of(pool: Live[Any]) -> Lends:
    """Return the pool by what is known of it here."""
    return cast(Lends, pool)

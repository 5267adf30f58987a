"""Our limiter in trio's own thread pool: trio calls it as it calls its own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from structsync import CapacityLimiter


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    """What the worker threads wait for; opened in any case, or trio would wait for them forever."""
    gate = threading.Event()
    yield gate
    gate.set()


async def in_thread(
    limiter: CapacityLimiter, function: Callable[..., Any], *args: object, abandon: bool = False
) -> None:
    # trio annotates the argument with its own final class, and asks for two methods at run time.
    trios: Any = limiter
    await trio.to_thread.run_sync(function, *args, abandon_on_cancel=abandon, limiter=trios)


async def test_a_running_thread_holds_one_token(gate: threading.Event) -> None:
    limiter = CapacityLimiter(2)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(in_thread, limiter, gate.wait)
        await wait_all_tasks_blocked()
        held = limiter.borrowed_tokens
        gate.set()
    assert (held, limiter.borrowed_tokens) == (1, 0)


async def test_a_call_beyond_the_tokens_waits_for_one(gate: threading.Event) -> None:
    limiter = CapacityLimiter(1)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(in_thread, limiter, gate.wait)
        nursery.start_soon(in_thread, limiter, gate.wait)
        await wait_all_tasks_blocked()
        statistics = limiter.statistics()
        gate.set()
    assert (statistics.borrowed_tokens, statistics.tasks_waiting) == (1, 1)


async def test_a_call_cancelled_while_it_waits_starts_no_thread(gate: threading.Event) -> None:
    limiter = CapacityLimiter(1)
    limiter.acquire_on_behalf_of_nowait("a borrower")
    started: list[str] = []
    async with trio.open_nursery() as nursery:
        nursery.start_soon(in_thread, limiter, started.append, "x")
        await wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()
    limiter.release_on_behalf_of("a borrower")
    assert (started, limiter.borrowed_tokens) == ([], 0)


async def test_an_abandoned_thread_keeps_its_token_until_it_ends(gate: threading.Event) -> None:
    limiter = CapacityLimiter(1)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(partial(in_thread, limiter, gate.wait, abandon=True))
        await wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()
    assert limiter.borrowed_tokens == 1
    gate.set()
    await limiter.acquire()  # granted when the thread gives its token back, else never


async def test_a_thread_that_raises_gives_its_token_back() -> None:
    limiter = CapacityLimiter(1)
    with pytest.raises(ZeroDivisionError):
        await in_thread(limiter, lambda: 1 / 0)
    assert limiter.available_tokens == 1


async def test_no_token_pauses_the_calls_until_there_is_one() -> None:
    limiter = CapacityLimiter(0)
    ran: list[str] = []
    async with trio.open_nursery() as nursery:
        nursery.start_soon(in_thread, limiter, ran.append, "x")
        await wait_all_tasks_blocked()
        assert ran == []
        limiter.total_tokens = 1
    assert ran == ["x"]

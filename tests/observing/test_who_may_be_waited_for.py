"""A guard follows the waits of a task only if a task may be waiting for that task: else it closes no cycle."""

from __future__ import annotations

from typing import Any

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

import structsync
from structsync import DeadlockError, deadlock_guard
from structsync.observing import deadlock, needs


@pytest.fixture
def followed(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The requests that are followed, each as often as it is."""
    found: list[Any] = []
    follow = needs.alternatives_of

    def alternatives_of(request: Any, view: Any) -> Any:
        found.append(request)
        return follow(request, view)

    monkeypatch.setattr(deadlock, "alternatives_of", alternatives_of)
    return found


async def test_a_chain_of_groups_costs_no_look_at_the_chain_for_each(followed: list[Any]) -> None:
    locks = [structsync.Lock() for _ in range(31)]

    async def link(number: int) -> None:
        async with structsync.acquire_all(locks[number].claim(), locks[number + 1].claim()):
            pass

    with deadlock_guard():
        async with trio.open_nursery() as nursery, locks[0]:
            for number in range(30):
                nursery.start_soon(link, number)
                await wait_all_tasks_blocked()
            assert followed == []


async def test_what_is_released_beyond_a_block_does_not_hide_what_another_block_holds() -> None:
    much = structsync.Semaphore(4, max_value=4)
    other = structsync.Semaphore(1, max_value=1)
    with deadlock_guard():
        await much.acquire(2)
        async with other, much:
            much.release(3)
            with pytest.raises(DeadlockError):
                await other.acquire()
            much.acquire_nowait(3)
        much.release(2)

"""A buffer whose items are all in hand is waited for as what those blocks hold; otherwise it has no owner."""

from __future__ import annotations

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

import structsync
from structsync import Buffer, DeadlockError, Lock, deadlock_guard, snapshot

from .crossing import use


def filled() -> Buffer[int]:
    buffer = Buffer[int](2, name="jobs")
    for number in range(2):
        buffer.put_nowait(number)
    return buffer


@pytest.mark.parametrize("kind", ["put", "get", "item", "claim"])
async def test_while_all_items_are_in_hand_a_task_that_wants_the_buffer_waits_for_these_blocks(
    kind: str,
) -> None:
    buffer, lock = filled(), Lock(name="ledger")

    async def wants() -> None:
        if kind == "put":
            await buffer.put(3)
        elif kind == "get":
            await buffer.get()
        elif kind == "item":
            async with buffer.item():
                pass
        else:
            async with structsync.acquire_all(buffer.put_claim(3), Lock().claim()):
                pass

    with deadlock_guard():
        async with lock, trio.open_nursery() as nursery:
            for _ in range(2):
                nursery.start_soon(holds_item_and_wants, buffer, lock, name="worker")
            await wait_all_tasks_blocked()
            assert [one.name for one in snapshot([buffer]).primitives[0].holders] == [
                "worker #1",
                "worker #2",
            ]
            with pytest.raises(DeadlockError, match="waits for Buffer 'jobs', which worker #"):
                await wants()
            lock.release()
            await wait_all_tasks_blocked()
            await lock.acquire()


async def holds_item_and_wants(buffer: Buffer[int], lock: Lock) -> None:
    async with buffer.item():
        await use(lock)


async def test_one_who_works_on_an_item_and_goes_on_is_a_way_out() -> None:
    buffer, lock = filled(), Lock()
    with deadlock_guard():
        async with trio.open_nursery() as nursery, lock:
            nursery.start_soon(holds_item_and_wants, buffer, lock)
            await wait_all_tasks_blocked()

            async def goes_on() -> None:
                async with buffer.item():
                    await wait_all_tasks_blocked(0.01)

            nursery.start_soon(goes_on)
            await wait_all_tasks_blocked()
            await buffer.put(3)


async def test_while_there_is_an_item_or_room_any_task_may_get_or_put() -> None:
    """The guard says nothing: a buffer has no owner."""
    full, empty, lock = filled(), Buffer[int](1), Lock()

    async def helps() -> None:
        await wait_all_tasks_blocked(0.01)
        await full.get()
        await empty.put(1)

    with deadlock_guard():
        async with trio.open_nursery() as nursery:
            nursery.start_soon(helps)
            async with lock:
                nursery.start_soon(holds_item_and_wants, full, lock)
                await wait_all_tasks_blocked()
                await full.put(3)
                await empty.get()


async def test_who_puts_ahead_is_in_no_way_of_who_gets() -> None:
    """A group that would put stands ahead, and waits for what the one who gets holds."""
    buffer, lock = filled(), Lock()

    async def puts() -> None:
        async with structsync.acquire_all(buffer.put_claim(3), lock.claim()):
            pass

    async def works() -> None:
        async with buffer.item():
            await wait_all_tasks_blocked(0.01)
            raise ZeroDivisionError  # so that the item is back, and can be got

    async def survives() -> None:
        with pytest.raises(ZeroDivisionError):
            await works()

    with deadlock_guard():
        async with trio.open_nursery() as nursery, lock:
            for _ in range(2):
                nursery.start_soon(survives)
            await wait_all_tasks_blocked()
            nursery.start_soon(puts)
            await wait_all_tasks_blocked()
            await buffer.get()

"""A request for several claims: one position in each queue, without a task that sleeps there."""

import threading
from typing import Any

import pytest
import trio
import trio.testing

from structsync import (
    GroupRequest,
    Lock,
    RequestWithdrawn,
    Semaphore,
    acquire_all,
    acquire_any,
)

settle = trio.testing.wait_all_tasks_blocked


async def test_it_is_granted_at_the_call_if_all_are_free() -> None:
    semaphore, lock = Semaphore(3), Lock()
    with acquire_all(semaphore.claim(2), lock.claim()).request() as request:
        assert request.status == "granted"
        assert semaphore.value == 1
        assert lock.statistics().owner is trio.lowlevel.current_task()
    assert semaphore.value == 3
    assert not lock.locked()


async def test_it_takes_a_position_in_each_queue_and_nothing_else() -> None:
    one, other = Semaphore(1), Semaphore(0)
    request = acquire_all(one.claim(), other.claim()).request()
    assert request.status == "pending"
    assert (one.value, one.statistics().tasks_waiting) == (1, 1)
    behind = one.request()
    assert behind.status == "pending"
    assert request.withdraw()
    assert behind.status == "granted"
    assert other.statistics().tasks_waiting == 0


async def test_wait_returns_what_is_held_the_same_each_time() -> None:
    one, other = Semaphore(1), Semaphore(1)
    claims = one.claim(), other.claim()
    with acquire_all(*claims).request() as request:
        held = await request.wait()
        assert held.claims == claims
        held.release(claims[0])
        assert (await request.wait()) is held
        assert (one.value, other.value) == (1, 0)
    assert (one.value, other.value) == (1, 1)


async def test_any_returns_the_claim_that_was_granted() -> None:
    one, other = Semaphore(0), Semaphore(0)
    claims = one.claim(), other.claim()
    request = acquire_any(*claims).request()
    assert request.status == "pending"
    other.release()
    assert request.status == "granted"
    assert (await request.wait()) is claims[1]
    assert one.statistics().tasks_waiting == 0
    request.close()
    assert other.value == 1


async def test_what_is_kept_outlives_the_request() -> None:
    semaphore = Semaphore(1)
    with acquire_all(semaphore.claim()).request() as request:
        held = (await request.wait()).keep()
    assert semaphore.value == 0
    held.close()
    assert semaphore.value == 1


async def test_an_error_of_a_primitive_breaks_it_and_it_leaves_the_other_queues() -> None:
    one, other = Semaphore(0), Semaphore(0)
    request = acquire_any(one.claim(), other.claim()).request()
    other.close()
    assert request.status == "broken"
    assert one.statistics().tasks_waiting == 0
    with pytest.raises(trio.ClosedResourceError):
        await request.wait()


async def test_what_can_never_be_granted_is_refused_and_nothing_is_queued() -> None:
    one, other = Semaphore(0), Semaphore(1, max_value=1)
    with pytest.raises(ValueError, match="never had more than 1"):
        acquire_all(one.claim(), other.claim(2)).request()
    assert one.statistics().tasks_waiting == 0


async def test_withdrawing_wakes_who_waits() -> None:
    request = acquire_all(Semaphore(1).claim(), Semaphore(0).claim()).request()

    async def wait() -> None:
        with pytest.raises(RequestWithdrawn):
            await request.wait()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(wait)
        await settle()
        assert request.withdraw()
    assert not request.withdraw()


async def test_the_owner_that_ends_takes_its_pending_request_along() -> None:
    lock, semaphore = Lock(), Semaphore(0)
    requests: list[GroupRequest[Any]] = []

    async def asker() -> None:
        requests.append(acquire_all(lock.claim(), semaphore.claim()).request())

    async with trio.open_nursery() as nursery:
        nursery.start_soon(asker)
    assert requests[0].status == "withdrawn"
    assert semaphore.statistics().tasks_waiting == 0
    lock.acquire_nowait()
    lock.release()


def test_what_a_run_left_behind_is_withdrawn_from_outside() -> None:
    one, other = Semaphore(0), Semaphore(0)

    async def leave_behind() -> GroupRequest[Any]:
        return acquire_all(one.claim(), other.claim()).request()

    request = trio.run(leave_behind)
    thread = threading.Thread(target=request.close)
    thread.start()
    thread.join()
    assert request.status == "withdrawn"
    assert (one.statistics().tasks_waiting, other.statistics().tasks_waiting) == (0, 0)


async def test_it_shows_of_what_it_is_and_how_it_stands() -> None:
    request = acquire_any(Semaphore(0).claim()).request()
    assert "acquire_any" in repr(request)
    assert "pending" in repr(request)
    assert "acquire_all" in repr(acquire_all(Semaphore(0).claim()).request())

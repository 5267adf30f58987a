"""A request is a position in the queue that can be held, waited for, and given up from anywhere.

What holds of the requests of every primitive is in ``test_request_close``.
"""

import pytest
import trio
import trio.testing

from structsync import RequestWithdrawn, Semaphore
from structsync._runtime import cancelling

settle = trio.testing.wait_all_tasks_blocked


async def test_a_request_that_fits_is_granted_at_the_call() -> None:
    semaphore = Semaphore(2)
    assert semaphore.request(2).status == "granted"
    assert semaphore.value == 0


async def test_a_request_takes_its_place_in_queue_at_the_call() -> None:
    semaphore = Semaphore(0)
    first = semaphore.request()
    second = semaphore.request()
    semaphore.release()
    assert (first.status, second.status) == ("granted", "pending")


async def test_a_request_that_no_task_waits_for_holds_up_those_behind_it() -> None:
    semaphore = Semaphore(1)
    request = semaphore.request(2)
    with pytest.raises(trio.WouldBlock):
        semaphore.acquire_nowait()
    assert request.withdraw()
    semaphore.acquire_nowait()


async def test_withdrawing_a_pending_request_says_so_and_takes_nothing() -> None:
    semaphore = Semaphore(1)
    request = semaphore.request(2)
    assert request.withdraw() is True
    assert (request.status, semaphore.value) == ("withdrawn", 1)


async def test_withdrawing_a_granted_request_returns_false_and_changes_nothing() -> None:
    semaphore = Semaphore(1)
    request = semaphore.request()
    assert request.withdraw() is False
    assert (request.status, semaphore.value) == ("granted", 0)


async def test_withdrawing_twice_returns_false_the_second_time() -> None:
    request = Semaphore(0).request()
    assert [request.withdraw(), request.withdraw()] == [True, False]


async def test_withdrawing_the_head_lets_those_behind_it_in_at_once() -> None:
    semaphore = Semaphore(1)
    head = semaphore.request(2)
    behind = semaphore.request(1)
    head.withdraw()
    assert behind.status == "granted"


async def test_withdrawing_in_the_middle_lets_no_task_pass_the_head() -> None:
    semaphore = Semaphore(1)
    head, middle, last = semaphore.request(2), semaphore.request(5), semaphore.request(1)
    middle.withdraw()
    assert (head.status, last.status) == ("pending", "pending")


async def test_a_request_can_be_withdrawn_by_another_task() -> None:
    semaphore = Semaphore(0)
    request = semaphore.request()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(trio.lowlevel.checkpoint)
        withdrawn = await trio.to_thread.run_sync(trio.from_thread.run_sync, request.withdraw)
    assert withdrawn


async def test_wait_on_a_granted_request_in_a_cancelled_scope_raises_and_keeps_the_grant() -> None:
    request = Semaphore(1).request()
    with trio.CancelScope() as scope:
        scope.cancel()
        await request.wait()
    assert scope.cancelled_caught
    assert request.status == "granted"


async def test_cancelling_wait_keeps_the_place_in_queue() -> None:
    semaphore = Semaphore(0)
    first, second = semaphore.request(), semaphore.request()
    with trio.CancelScope() as scope:
        scope.cancel()
        await first.wait()
    semaphore.release()
    assert (first.status, second.status) == ("granted", "pending")


async def test_a_grant_beats_the_cancellation_of_wait_in_the_same_step() -> None:
    semaphore = Semaphore(0)
    request = semaphore.request()
    returned = []

    async def wait(scope: trio.CancelScope) -> None:
        with scope:
            await request.wait()
            returned.append("returned")

    async with trio.open_nursery() as nursery:
        scope = trio.CancelScope()
        nursery.start_soon(wait, scope)
        await settle()
        semaphore.release()
        scope.cancel()
    assert returned == ["returned"]


async def test_withdrawing_wakes_who_waits_with_request_withdrawn() -> None:
    request = Semaphore(0).request()

    async def wait() -> None:
        with pytest.raises(RequestWithdrawn):
            await request.wait()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(wait)
        await settle()
        assert request.withdraw()


async def test_closing_leaves_a_granted_request_granted() -> None:
    semaphore = Semaphore(1)
    request = semaphore.request()
    semaphore.close()
    await request.wait()
    assert request.status == "granted"


async def test_a_request_that_was_given_back_by_hand_is_not_given_back_again_silently() -> None:
    semaphore = Semaphore(1, max_value=1)
    with pytest.raises(ValueError, match="released too many times"):
        with semaphore.request():
            semaphore.release()


async def test_repr_shows_the_status_and_the_primitive() -> None:
    request = Semaphore(0).request()
    assert "pending" in repr(request)
    assert "Semaphore" in repr(request)


async def test_the_place_of_a_priority_request_is_fixed_at_the_call() -> None:
    semaphore = Semaphore(0, policy="priority")
    low, high = semaphore.request(priority=1), semaphore.request(priority=-1)
    semaphore.release()
    assert (low.status, high.status) == ("pending", "granted")


async def test_an_abort_that_comes_after_the_grant_changes_nothing() -> None:
    semaphore = Semaphore(1)
    request = semaphore._core.submit(1)
    request.primitive = semaphore
    aborted = cancelling.abort_by(semaphore._core.withdraw, request, lambda: None)
    assert aborted is trio.lowlevel.Abort.FAILED
    assert request.status == "granted"
    assert semaphore.value == 0

"""Weights, resizing and policies of a semaphore; grants are read off the requests."""

import pytest
import trio
import trio.testing

from structsync import Semaphore, Status


def granted(*requests: object) -> list[bool]:
    return [getattr(request, "status", None) == Status.GRANTED for request in requests]


# ==== weights ====


async def test_a_large_claim_at_the_head_holds_up_small_ones() -> None:
    semaphore = Semaphore(2)
    large, small = semaphore.request(3), semaphore.request(1)
    assert granted(large, small) == [False, False]


async def test_a_claim_is_never_granted_in_parts() -> None:
    semaphore = Semaphore(0)
    semaphore.request(3)
    semaphore.release(2)
    assert semaphore.value == 2


async def test_permits_takes_and_gives_back_as_many() -> None:
    semaphore = Semaphore(5)
    async with semaphore.permits(3):
        assert semaphore.value == 2
    assert semaphore.value == 5


async def test_a_block_of_permits_can_be_entered_by_several_tasks() -> None:
    semaphore = Semaphore(4)
    block = semaphore.permits(2)
    async with block, block:
        assert semaphore.value == 0
    assert semaphore.value == 4


async def test_a_permit_may_be_released_by_another_task() -> None:
    semaphore = Semaphore(1)
    await semaphore.acquire()

    async def release() -> None:
        semaphore.release()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(release)
    assert semaphore.value == 1


# ==== resizing ====


async def test_growing_lets_in_those_that_fit_now() -> None:
    semaphore = Semaphore(1, max_value=1)
    semaphore.acquire_nowait()
    first, second = semaphore.request(), semaphore.request()
    semaphore.resize(2)
    assert granted(first, second) == [True, False]


async def test_a_shrink_below_what_is_out_makes_the_value_negative() -> None:
    semaphore = Semaphore(3, max_value=3)
    semaphore.acquire_nowait(3)
    semaphore.resize(1)
    assert (semaphore.value, semaphore.max_value) == (-2, 1)


def test_what_was_taken_before_a_shrink_can_be_given_back() -> None:
    semaphore = Semaphore(3, max_value=3)
    semaphore.acquire_nowait(3)
    semaphore.resize(1)
    semaphore.release(3)
    assert semaphore.value == 1
    with pytest.raises(ValueError, match="released too many times"):
        semaphore.release()


async def test_a_queued_claim_survives_a_shrink_and_is_granted_after_growing() -> None:
    semaphore = Semaphore(2, max_value=2)
    semaphore.acquire_nowait()
    request = semaphore.request(2)
    semaphore.resize(1)
    assert request.status == "pending"
    semaphore.release()
    semaphore.resize(2)
    assert granted(request) == [True]


async def test_a_claim_up_to_the_largest_maximum_so_far_may_wait() -> None:
    semaphore = Semaphore(3, max_value=3)
    semaphore.resize(1)
    assert semaphore.request(3).status == "pending"


def test_a_shrink_to_zero_pauses() -> None:
    semaphore = Semaphore(1, max_value=1)
    semaphore.resize(0)
    with pytest.raises(trio.WouldBlock):
        semaphore.acquire_nowait()
    semaphore.resize(1)
    semaphore.acquire_nowait()


async def test_resizing_wakes_a_task_that_waits() -> None:
    semaphore = Semaphore(0, max_value=0)
    async with trio.open_nursery() as nursery:
        semaphore.resize(1)
        semaphore.acquire_nowait()
        nursery.start_soon(semaphore.acquire)
        await trio.testing.wait_all_tasks_blocked()
        semaphore.resize(2)


# ==== policies ====


async def test_priority_serves_the_smaller_number_first() -> None:
    semaphore = Semaphore(0, policy="priority")
    low, high = semaphore.request(priority=5), semaphore.request(priority=-5)
    semaphore.release()
    assert granted(low, high) == [False, True]


async def test_equal_priorities_are_served_first_come_first_served() -> None:
    semaphore = Semaphore(0, policy="priority")
    requests = [semaphore.request(priority=1) for _ in range(3)]
    semaphore.release(2)
    assert granted(*requests) == [True, True, False]


@pytest.mark.parametrize(
    ("ageing", "levels", "overtaking"), [(0, 1, 0), (1, 1, 0), (3, 1, 2), (3, 2, 5)]
)
async def test_later_arrivals_overtake_while_their_rank_is_smaller(
    ageing: int, levels: int, overtaking: int
) -> None:
    """A rank is ticket + ageing x priority, and the older goes first where two are equal."""
    semaphore = Semaphore(0, policy="priority", ageing=ageing)
    old = semaphore.request(priority=levels)
    young = [semaphore.request(priority=0) for _ in range(10)]
    while not granted(old)[0]:
        semaphore.release()
    assert sum(granted(*young)) == overtaking


async def test_by_default_fewer_than_a_hundred_later_arrivals_overtake() -> None:
    semaphore = Semaphore(0, policy="priority")
    old = semaphore.request(priority=1)
    for _ in range(200):
        semaphore.request(priority=0)
    semaphore.release(99)
    assert granted(old) == [False]
    semaphore.release()
    assert granted(old) == [True]


async def test_strict_levels_let_every_later_arrival_overtake() -> None:
    semaphore = Semaphore(0, policy="priority", ageing=None)
    old = semaphore.request(priority=1)
    young = [semaphore.request(priority=0) for _ in range(500)]
    semaphore.release(500)
    assert granted(old) == [False]
    assert all(granted(*young))


async def test_eligible_grants_the_oldest_claim_that_fits() -> None:
    semaphore = Semaphore(0, policy="eligible")
    large, small, late = semaphore.request(3), semaphore.request(1), semaphore.request(1)
    semaphore.release()
    assert granted(large, small, late) == [False, True, False]


async def test_eligible_lets_a_newcomer_that_fits_pass_those_that_do_not() -> None:
    semaphore = Semaphore(1, policy="eligible")
    semaphore.request(2)
    semaphore.acquire_nowait()


async def test_a_priority_acquire_that_stands_first_passes_the_queue_at_once() -> None:
    semaphore = Semaphore(1, policy="priority")
    semaphore.request(2)
    with trio.fail_after(60):
        await semaphore.acquire(priority=-1)
    assert semaphore.value == 0

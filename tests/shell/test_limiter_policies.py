"""A limiter serves the smaller number first, where it is asked to."""

import pytest
import trio
import trio.testing

from structsync import CapacityLimiter

settle = trio.testing.wait_all_tasks_blocked


async def test_the_smaller_number_is_served_first(nursery: trio.Nursery) -> None:
    limiter = CapacityLimiter(1, policy="priority")
    served = []

    async def borrow(name: str, priority: int) -> None:
        await limiter.acquire_on_behalf_of(name, priority=priority)
        served.append(name)
        limiter.release_on_behalf_of(name)

    async def borrow_for_itself(priority: int) -> None:
        await limiter.acquire(priority=priority)
        served.append("task")
        limiter.release()

    limiter.acquire_on_behalf_of_nowait("first")
    for name, priority in (("low", 2), ("high", -1), ("middle", 0)):
        nursery.start_soon(borrow, name, priority)
        await settle()
    nursery.start_soon(borrow_for_itself, 1)
    await settle()
    limiter.release_on_behalf_of("first")
    await settle()
    assert served == ["high", "middle", "task", "low"]


async def test_a_request_has_a_priority_too() -> None:
    limiter = CapacityLimiter(1, policy="priority", ageing=None)
    limiter.acquire_nowait()
    low, high = limiter.request("low", priority=1), limiter.request("high", priority=0)
    limiter.release()
    assert (low.status, high.status) == ("pending", "granted")


async def test_late_arrivals_overtake_fewer_than_the_ageing_allows() -> None:
    limiter = CapacityLimiter(1, policy="priority", ageing=2)
    limiter.acquire_nowait()
    low = limiter.request("low", priority=1)
    late = [limiter.request(number, priority=0) for number in range(3)]
    limiter.release()
    assert (late[0].status, low.status) == ("granted", "pending")
    late[0].close()
    assert (low.status, late[1].status) == ("granted", "pending")


@pytest.mark.parametrize("policy", ["fifo", "eligible"])
async def test_without_priorities_a_number_is_refused(policy: str) -> None:
    limiter = CapacityLimiter(1, policy=policy)  # type: ignore[arg-type]  # a plain str
    for acquire in (limiter.acquire(priority=1), limiter.acquire_on_behalf_of("x", priority=1)):
        with pytest.raises(ValueError, match="create the primitive with policy='priority'"):
            await acquire
    with pytest.raises(ValueError, match="priority must be 0"):
        limiter.request(priority=1)
    with pytest.raises(TypeError, match="priority must be an int"):
        limiter.request(priority=True)
    assert limiter.borrowed_tokens == 0


def test_a_policy_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match="policy must be 'fifo', 'eligible' or 'priority'"):
        CapacityLimiter(1, policy="lifo")  # type: ignore[arg-type]  # what is refused


async def test_a_borrower_that_waits_is_refused_whatever_its_priority() -> None:
    limiter = CapacityLimiter(1, policy="priority")
    limiter.acquire_nowait()
    limiter.request("a borrower", priority=1)
    with pytest.raises(RuntimeError, match="already waiting"):
        await limiter.acquire_on_behalf_of("a borrower", priority=-1)

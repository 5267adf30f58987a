"""A primitive of the user's own: twenty queues, and a guard that cannot do harm (I6)."""

import gc
import weakref
from collections.abc import Callable
from typing import Any

import pytest
import trio
import trio.testing

from structsync import Arbiter, PermitLeakError, Primitive, Semaphore, open_scope

settle = trio.testing.wait_all_tasks_blocked


class TankCore(Arbiter[int]):
    """Litres in a tank; ``guard`` is what a user might do while a claim is judged."""

    litres: int

    def __init__(self, litres: int, policy: str = "fifo") -> None:
        super().__init__(policy=policy)
        self.litres = litres
        self.guard: Callable[[int], object] = lambda claim: None

    def admits(self, claim: int) -> bool:
        self.guard(claim)
        return claim <= self.litres

    def admit(self, claim: int) -> None:
        self.litres -= claim

    def discharge(self, claim: int) -> None:
        self.litres += claim


class Tank(Primitive[int]):
    """Made to be drawn from."""

    def __init__(self, core: TankCore) -> None:
        super().__init__(core)
        self.core = core

    async def draw(self, litres: int) -> None:
        await self._acquire(litres)

    def drawn(self, litres: int) -> Any:
        return self._held(litres)

    def ask(self, litres: int, priority: int = 0) -> Any:
        return self._request(litres, priority=priority)

    def fill(self, litres: int) -> None:
        self._release(litres)


def tank(litres: int = 0, policy: str = "fifo") -> Tank:
    return Tank(TankCore(litres, policy))


def fail_for(unlucky: int) -> Callable[[int], None]:
    def guard(claim: int) -> None:
        if claim == unlucky:
            raise ZeroDivisionError(f"guard of {claim}")

    return guard


async def test_its_state_is_in_its_repr() -> None:
    assert "litres=3, 0 waiting" in repr(tank(3))


async def test_a_block_gives_back() -> None:
    one = tank(3)
    async with one.drawn(2):
        assert one.core.litres == 1
    assert one.core.litres == 3


async def test_a_scope_counts_the_claims_that_were_not_given_back() -> None:
    with pytest.raises(PermitLeakError, match="1 not returned to <Tank"):
        async with open_scope() as scope:
            await scope.own(tank(3)).draw(2)


async def test_a_policy_of_the_core_is_kept() -> None:
    one = tank(0, "priority")
    late, early = one.ask(1, priority=1), one.ask(1, priority=-1)
    one.fill(1)
    assert (late.status, early.status) == ("pending", "granted")


async def test_a_guard_that_raises_at_the_call_fails_that_call_alone() -> None:
    one = tank(3)
    one.core.guard = fail_for(2)
    with pytest.raises(ZeroDivisionError, match="guard of 2"):
        await one.draw(2)
    await one.draw(3)
    assert one.statistics().tasks_waiting == 0


async def test_a_guard_that_raises_at_a_release_ends_its_own_request_alone() -> None:
    one, ended = tank(0), []

    async def draw(litres: int) -> None:
        try:
            await one.draw(litres)
        except ZeroDivisionError as error:
            ended.append(str(error))
        else:
            ended.append(f"drew {litres}")

    async with trio.open_nursery() as nursery:
        for litres in (2, 1):
            nursery.start_soon(draw, litres)
            await settle()
        one.core.guard = fail_for(2)
        one.fill(1)
    assert sorted(ended) == ["drew 1", "guard of 2"]
    assert one.core.litres == 0


async def test_a_guard_that_raises_inside_a_cancellation_ends_its_own_request_alone() -> None:
    one, ended = tank(1), []

    async def draw(litres: int) -> None:
        try:
            await one.draw(litres)
        except ZeroDivisionError as error:
            ended.append(str(error))

    async with trio.open_nursery() as nursery:
        scope = trio.CancelScope()

        async def cancelled() -> None:
            with scope:
                await one.draw(5)

        nursery.start_soon(cancelled)
        await settle()
        nursery.start_soon(draw, 2)
        await settle()
        one.core.guard = fail_for(2)
        scope.cancel()
    assert ended == ["guard of 2"]
    assert scope.cancelled_caught


async def test_a_request_that_its_guard_ended_is_broken_and_keeps_the_error() -> None:
    one = tank(0)
    request = one.ask(2)
    one.core.guard = fail_for(2)
    one.fill(1)
    assert request.status == "broken"
    with pytest.raises(ZeroDivisionError, match="guard of 2"):
        await request.wait()


CHANGES: dict[str, Callable[[Tank, Semaphore], object]] = {
    "request of itself": lambda one, _: one.ask(1),
    "close itself": lambda one, _: one.close(),
    "acquire another": lambda _, semaphore: semaphore.acquire_nowait(),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
async def test_a_guard_that_changes_a_primitive_is_refused(
    change: Callable[[Tank, Semaphore], object],
) -> None:
    one, semaphore = tank(3), Semaphore(1)
    one.core.guard = lambda claim: change(one, semaphore)
    with pytest.raises(RuntimeError, match="must not change"):
        await one.draw(1)
    assert (one.core.litres, semaphore.value) == (3, 1)
    one.core.guard = lambda claim: None
    await one.draw(1)


async def test_what_a_guard_releases_is_released_right_after_the_step() -> None:
    one, semaphore, values = tank(3), Semaphore(0), list[int]()

    def release(claim: int) -> None:
        if not values:
            semaphore.release()
            values.append(semaphore.value)

    one.core.guard = release
    await one.draw(1)
    assert (values, semaphore.value) == ([0], 1)


async def test_a_guard_that_withdraws_its_request_has_it_withdrawn_right_after_the_step() -> None:
    one, said = tank(0), list[bool]()
    request = one.ask(2)
    one.core.guard = lambda claim: said.append(request.withdraw())
    one.fill(1)
    assert (said, request.status) == ([True], "withdrawn")


async def test_what_its_guard_withdrew_and_the_step_granted_is_released() -> None:
    one = tank(0)
    with one.ask(1) as request:
        one.core.guard = lambda claim: request.withdraw()
        one.fill(1)
        one.core.guard = lambda claim: None
        assert (request.status, one.core.litres) == ("granted", 1)
    assert one.core.litres == 1  # once, though the block was left too


async def test_a_guard_that_releases_each_time_is_stopped(caplog: pytest.LogCaptureFixture) -> None:
    one = tank(0)
    request = one.ask(1_000_000)
    one.core.guard = lambda claim: one.fill(1)
    one.fill(1)
    (record,) = caplog.records
    assert "makes one each time that it runs" in record.getMessage()
    caplog.clear()
    request.withdraw()


@pytest.mark.parametrize("victim", [0, 1])
async def test_a_waiter_that_a_guard_cancels_ends_after_the_step(victim: int) -> None:
    one = tank(0)
    scopes = [trio.CancelScope(), trio.CancelScope()]

    async def draw(scope: trio.CancelScope) -> None:
        with scope:
            await one.draw(5)

    async with trio.open_nursery() as nursery:
        for scope in scopes:
            nursery.start_soon(draw, scope)
            await settle()
        one.core.guard = lambda claim: scopes[victim].cancel()
        one.fill(1)
        await settle()
        assert scopes[victim].cancelled_caught
        assert one.statistics().tasks_waiting == 1
        nursery.cancel_scope.cancel()
    assert one.core.litres == 1


async def test_a_waiter_that_its_own_guard_cancels_and_admits_is_granted() -> None:
    one, scope, got = tank(0), trio.CancelScope(), []

    async def draw() -> None:
        with scope:
            await one.draw(1)
            got.append("granted")

    async with trio.open_nursery() as nursery:
        nursery.start_soon(draw)
        await settle()
        one.core.guard = lambda claim: scope.cancel()
        one.fill(1)
    assert got == ["granted"]
    assert one.core.litres == 0


async def test_a_late_cancellation_does_not_hit_a_later_wait_of_the_same_task() -> None:
    one, scope, ended = tank(0), trio.CancelScope(), []

    async def draw_twice() -> None:
        with scope:
            await one.draw(1)
        await trio.lowlevel.checkpoint()
        await one.draw(1)
        ended.append("drew twice")

    async with trio.open_nursery() as nursery:
        nursery.start_soon(draw_twice)
        await settle()
        one.core.guard = lambda claim: scope.cancel()
        one.fill(1)
        one.core.guard = lambda claim: None
        await settle()
        one.fill(1)
    assert ended == ["drew twice"]


class AsyncCore(TankCore):
    async def admits(self, claim: int) -> bool:  # type: ignore[override]
        return True


def test_an_async_guard_is_a_type_error_at_creation() -> None:
    with pytest.raises(TypeError, match="admits must be a sync function"):
        Tank(AsyncCore(1))


async def test_nothing_keeps_it_alive_but_its_users() -> None:
    one = tank(1)
    async with one.drawn(1):
        pass
    reference = weakref.ref(one)
    del one
    gc.collect()
    assert reference() is None


async def test_a_claim_without_a_number_has_the_priority_0() -> None:
    priority = tank(policy="priority")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(priority.draw, 1)
        await settle()
        with priority.ask(1, priority=0) as later:
            priority.fill(1)
            assert later.status == "pending"  # of equal numbers the older is first
            priority.fill(1)

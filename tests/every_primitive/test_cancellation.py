"""C1 for every primitive: ``Cancelled`` means that nothing was taken, a grant beats a cancel."""

import inspect

import pytest
import trio
import trio.testing

from .attempt import Attempt, waiting
from .kinds import Kind

HAS_REASONS = "reason" in inspect.signature(trio.CancelScope.cancel).parameters


async def test_a_cancelled_take_has_taken_nothing(kind: Kind) -> None:
    primitive = kind.make()
    kind.occupy(primitive)
    before = kind.state(primitive)
    async with trio.open_nursery() as nursery:
        attempt = await waiting(kind, primitive, nursery)
        attempt.scope.cancel()
    assert attempt.outcome == "cancelled"
    assert attempt.scope.cancelled_caught
    assert kind.state(primitive) == before


async def test_a_waiter_is_counted_until_it_is_cancelled(kind: Kind) -> None:
    """H10 of the bugs of peers: a count was raised before an await and lowered after it."""
    primitive = kind.make()
    kind.occupy(primitive)
    async with trio.open_nursery() as nursery:
        attempt = await waiting(kind, primitive, nursery)
        assert primitive.statistics().tasks_waiting == 1
        attempt.scope.cancel()
        assert primitive.statistics().tasks_waiting == 0


async def test_a_request_behind_a_cancelled_waiter_is_granted(crowd: Kind) -> None:
    primitive = crowd.make()
    crowd.occupy(primitive)
    async with trio.open_nursery() as nursery:
        first = await waiting(crowd, primitive, nursery)
        second = await waiting(crowd, primitive, nursery)
        first.scope.cancel()
        await trio.testing.wait_all_tasks_blocked()  # a condition's waiter needs its lock to raise
        crowd.free(primitive)
    assert (first.outcome, second.outcome) == ("cancelled", "granted")


async def test_a_grant_beats_a_cancel_in_the_same_step(kind: Kind) -> None:
    primitive = kind.make()
    kind.occupy(primitive)
    async with trio.open_nursery() as nursery:
        attempt = await waiting(kind, primitive, nursery)
        kind.free(primitive)
        attempt.scope.cancel()
    assert attempt.outcome == "granted"
    assert not attempt.scope.cancelled_caught


async def test_a_cancel_before_the_grant_in_the_same_step_takes_nothing(lending: Kind) -> None:
    primitive = lending.make()
    lending.occupy(primitive)
    async with trio.open_nursery() as nursery:
        attempt = await waiting(lending, primitive, nursery)
        attempt.scope.cancel()
        lending.free(primitive)
    assert attempt.outcome == "cancelled"
    lending.take_nowait(primitive)
    lending.give(primitive)


async def test_grant_and_cancel_in_one_step_lose_nothing_to_the_next(crowd: Kind) -> None:
    primitive = crowd.make()
    crowd.occupy(primitive)
    async with trio.open_nursery() as nursery:
        first = await waiting(crowd, primitive, nursery)
        second = await waiting(crowd, primitive, nursery)
        crowd.free(primitive)
        first.scope.cancel()
        if not crowd.lends:  # a wake is spent by the one that it woke
            await trio.testing.wait_all_tasks_blocked()
            crowd.free(primitive)
    assert (first.outcome, second.outcome) == ("granted", "granted")


async def test_a_free_take_in_a_cancelled_scope_raises_and_takes_nothing(passing: Kind) -> None:
    primitive = passing.make()
    passing.prepare(primitive)
    before = passing.state(primitive)
    attempt = Attempt(passing, primitive)
    attempt.scope.cancel()
    await attempt.run()
    assert attempt.outcome == "cancelled"
    assert passing.state(primitive) == before


async def test_a_busy_take_in_a_cancelled_scope_raises_and_takes_nothing(kind: Kind) -> None:
    primitive = kind.make()
    kind.occupy(primitive)
    before = kind.state(primitive)
    attempt = Attempt(kind, primitive)
    attempt.scope.cancel()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(attempt.run)
    assert attempt.outcome == "cancelled"
    assert kind.state(primitive) == before


async def test_a_take_of_what_is_closed_in_a_cancelled_scope_is_cancelled(kind: Kind) -> None:
    """C2: it checks for cancellation first."""
    primitive = kind.make()
    kind.prepare(primitive)
    primitive.close()
    attempt = Attempt(kind, primitive)
    attempt.scope.cancel()
    await attempt.run()
    assert attempt.outcome == "cancelled"


async def test_a_deadline_ends_the_wait(kind: Kind, autojump_clock: trio.testing.MockClock) -> None:
    primitive = kind.make()
    kind.occupy(primitive)
    before = kind.state(primitive)
    async with trio.open_nursery() as nursery:
        attempt = await waiting(kind, primitive, nursery)
        attempt.scope.deadline = 7
    assert trio.current_time() == pytest.approx(7)
    assert kind.state(primitive) == before


async def test_two_deadlines_at_one_instant_take_nothing(
    kind: Kind, autojump_clock: trio.testing.MockClock
) -> None:
    """P12 of the bugs of peers: nested timeouts lost the element."""
    primitive = kind.make()
    kind.occupy(primitive)
    before = kind.state(primitive)
    with trio.move_on_after(7):
        async with trio.open_nursery() as nursery:
            attempt = await waiting(kind, primitive, nursery)
            attempt.scope.deadline = 7
    assert kind.state(primitive) == before


@pytest.mark.skipif(not HAS_REASONS, reason="this trio has no reasons for a cancellation")
async def test_the_original_cancelled_with_its_reason_passes_through(kind: Kind) -> None:
    primitive = kind.make()
    kind.occupy(primitive)
    async with trio.open_nursery() as nursery:
        attempt = await waiting(kind, primitive, nursery)
        attempt.scope.cancel(reason="the shop closes")
    assert isinstance(attempt.error, trio.Cancelled)
    assert attempt.error.reason == "the shop closes"
    assert attempt.error.__context__ is None


async def test_a_shielded_waiter_outlasts_a_cancellation(kind: Kind) -> None:
    primitive = kind.make()
    kind.occupy(primitive)
    async with trio.open_nursery() as nursery:
        attempt = await waiting(kind, primitive, nursery)
        attempt.scope.shield = True
        nursery.cancel_scope.cancel()
        kind.free(primitive)
    assert attempt.outcome == "granted"

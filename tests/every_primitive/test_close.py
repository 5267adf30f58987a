"""C8 for every primitive: closing wakes every task, is final, and leaves giving back alone."""

import pytest
import trio
import trio.testing

from .attempt import Attempt, waiting
from .conftest import kinds
from .kinds import Kind


async def test_closing_wakes_a_waiter_with_closed_resource_error(kind: Kind) -> None:
    primitive = kind.make()
    kind.occupy(primitive)
    async with trio.open_nursery() as nursery:
        attempt = await waiting(kind, primitive, nursery)
        primitive.close()
    assert type(attempt.error) is trio.ClosedResourceError


async def test_closing_wakes_all_waiters(crowd: Kind) -> None:
    primitive = crowd.make()
    crowd.occupy(primitive)
    async with trio.open_nursery() as nursery:
        attempts = [await waiting(crowd, primitive, nursery) for _ in range(5)]
        primitive.close()
        assert primitive.statistics().tasks_waiting == 0
    assert [type(attempt.error) for attempt in attempts] == [trio.ClosedResourceError] * 5


async def test_waiters_do_not_share_one_error_object(crowd: Kind) -> None:
    primitive = crowd.make()
    crowd.occupy(primitive)
    async with trio.open_nursery() as nursery:
        attempts = [await waiting(crowd, primitive, nursery) for _ in range(2)]
        primitive.close()
    assert attempts[0].error is not attempts[1].error


async def test_closing_twice_is_closing_once(kind: Kind) -> None:
    primitive = kind.make()
    primitive.close()
    once = repr(primitive)
    primitive.close()
    assert repr(primitive) == once


async def test_a_take_after_closing_is_refused_by_name(kind: Kind) -> None:
    primitive = kind.make()
    kind.prepare(primitive)
    primitive.close()
    with pytest.raises(trio.ClosedResourceError, match=rf"{type(primitive).__name__} was closed"):
        await kind.take(primitive)


async def test_a_refused_take_changes_nothing(kind: Kind) -> None:
    primitive = kind.make()
    kind.prepare(primitive)
    primitive.close()
    before = kind.state(primitive)
    with pytest.raises(trio.ClosedResourceError):
        await kind.take(primitive)
    assert kind.state(primitive) == before


async def test_a_take_without_waiting_after_closing_is_refused(lending: Kind) -> None:
    primitive = lending.make()
    primitive.close()
    with pytest.raises(trio.ClosedResourceError, match="was closed"):
        lending.take_nowait(primitive)


async def test_giving_back_works_after_closing(lending: Kind) -> None:
    primitive, free = lending.make(), lending.make()
    lending.take_nowait(primitive)
    primitive.close()
    free.close()
    lending.give(primitive)
    assert primitive.statistics() == free.statistics()


@pytest.mark.parametrize(
    "lending", kinds(lambda kind: kind.lends and hasattr(kind.cls, "__aenter__"))
)
async def test_a_block_whose_primitive_closes_ends_without_a_second_error(lending: Kind) -> None:
    primitive = lending.make()
    async with primitive:
        primitive.close()


async def test_a_grant_beats_closing_in_the_same_step(lending: Kind) -> None:
    primitive = lending.make()
    lending.occupy(primitive)
    async with trio.open_nursery() as nursery:
        attempt = await waiting(lending, primitive, nursery)
        lending.free(primitive)
        primitive.close()
    assert attempt.outcome == "granted"


@pytest.mark.parametrize("first", ["close", "cancel"])
async def test_closing_and_cancelling_in_one_step_ends_the_waiter_once(
    kind: Kind, first: str
) -> None:
    """C3 of the bugs of peers: a dispose right after a cancel left the waiter asleep forever."""
    primitive = kind.make()
    kind.occupy(primitive)
    async with trio.open_nursery() as nursery:
        attempt = await waiting(kind, primitive, nursery)
        for verb in (first, "cancel" if first == "close" else "close"):
            if verb == "close":
                primitive.close()
            else:
                attempt.scope.cancel()
    assert attempt.outcome == ("failed" if first == "close" else "cancelled")


async def test_it_stays_closed_whatever_follows(lending: Kind) -> None:
    """C1 of the bugs of peers: an operation cleared the closed bit."""
    primitive = lending.make()
    lending.take_nowait(primitive)
    primitive.close()
    lending.give(primitive)
    attempt = Attempt(lending, primitive)
    await attempt.run()
    assert type(attempt.error) is trio.ClosedResourceError


def test_an_unused_primitive_closes_outside_a_run(kind: Kind) -> None:
    primitive = kind.make()
    primitive.close()
    assert "closed" in repr(primitive)

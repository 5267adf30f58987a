"""Latch: a count that falls to zero, once."""

import pytest
import trio
import trio.testing

from structsync import Latch, open_scope

settle = trio.testing.wait_all_tasks_blocked


async def test_the_last_count_lets_all_in_who_wait() -> None:
    latch = Latch(3)
    through = 0

    async def wait() -> None:
        nonlocal through
        await latch.wait()
        through += 1

    async with trio.open_nursery() as nursery:
        nursery.start_soon(wait)
        nursery.start_soon(wait)
        await settle()
        latch.count_down(2)
        await settle()
        assert (through, latch.count) == (0, 1)
        latch.count_down()
    assert (through, latch.count) == (2, 0)
    await latch.wait()


async def test_a_latch_of_zero_is_open() -> None:
    await Latch(0).wait()


@pytest.mark.parametrize("n", [3, 2**70])
def test_it_never_goes_below_zero(n: int) -> None:
    latch = Latch(2)
    with pytest.raises(ValueError, match=f"cannot count down by {n} where 2 is left"):
        latch.count_down(n)
    assert latch.count == 2


@pytest.mark.parametrize("n", [0, -1, True, 1.5])
def test_a_count_down_must_be_by_a_positive_int(n: object) -> None:
    latch = Latch(2)
    with pytest.raises((TypeError, ValueError), match="n must be"):
        latch.count_down(n)  # type: ignore[arg-type]  # the mistake
    assert latch.count == 2


@pytest.mark.parametrize("count", [-1, True, 1.5, None])
def test_a_count_must_be_an_int_that_is_not_negative(count: object) -> None:
    with pytest.raises((TypeError, ValueError), match="count must be"):
        Latch(count)  # type: ignore[arg-type]  # the mistake


async def test_a_scope_does_not_miss_what_was_counted_down() -> None:
    async with open_scope() as scope:
        latch = scope.own(Latch(2))
        latch.count_down()

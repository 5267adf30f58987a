"""ResourcePool: items that grow old, are made ahead, are too many, or closed with their pool."""

from __future__ import annotations

import logging
import math

import pytest
import trio
import trio.testing
from trio.testing import wait_all_tasks_blocked

import structsync
from structsync import ResourcePool
from structsync._runtime import lending
from structsync._runtime.lending import Loan

from .items import Item, Workshop
from .test_resource_pool import lent_and_idle

Clock = trio.testing.MockClock


async def borrow_at_once(pool: ResourcePool[Item], number: int) -> None:
    """Have so many items made, and returned: the first one last."""
    if number:
        async with pool.item():
            await borrow_at_once(pool, number - 1)


# ==== too old ====


async def test_an_item_that_was_idle_for_too_long_is_not_lent_again(autojump_clock: Clock) -> None:
    shop = Workshop()
    pool = ResourcePool(shop.make, 1, close=shop.close, max_idle=60)
    async with pool.item() as one:
        await trio.sleep(100)  # not idle
    await trio.sleep(59)
    async with pool.item() as item:
        assert item is one
    await trio.sleep(60)
    async with pool.item() as item:
        assert item.number == 2
    assert shop.closed == [one]


async def test_who_returns_an_item_closes_those_that_are_over(autojump_clock: Clock) -> None:
    shop = Workshop()
    pool = ResourcePool(shop.make, 3, close=shop.close, max_idle=60)
    await borrow_at_once(pool, 3)
    await trio.sleep(30)
    async with pool.item() as item:
        await trio.sleep(30)
        assert shop.closed == []
    assert shop.open == [item]
    assert lent_and_idle(pool) == (0, 1)


async def test_a_cancelled_task_closes_one_that_is_over_and_leaves_the_others_to_the_next(
    autojump_clock: Clock,
) -> None:
    async def never_closes(item: Item) -> None:
        await trio.sleep_forever()

    shop = Workshop()
    pool = ResourcePool(shop.make, 3, close=never_closes, max_idle=60, close_timeout=5)
    await borrow_at_once(pool, 3)
    await trio.sleep(60)
    began = trio.current_time()
    with trio.move_on_after(1):
        await pool.close_stale()
    assert trio.current_time() - began == 5
    assert lent_and_idle(pool) == (0, 2)
    with trio.move_on_after(1):
        await pool.aclose()
    assert trio.current_time() - began == 15
    assert lent_and_idle(pool) == (0, 0)


async def test_they_can_be_closed_without_a_borrower(autojump_clock: Clock) -> None:
    shop = Workshop()
    pool = ResourcePool(shop.make, 3, close=shop.close, max_idle=60)
    await borrow_at_once(pool, 3)
    await pool.close_stale()
    assert shop.closed == []
    await trio.sleep(60)
    with trio.testing.assert_checkpoints():
        await pool.close_stale()
    assert shop.open == []


async def test_so_many_as_are_made_ahead_do_not_expire(autojump_clock: Clock) -> None:
    shop = Workshop()
    pool = ResourcePool(shop.make, 3, min_size=2, close=shop.close, max_idle=60)
    await borrow_at_once(pool, 3)
    await trio.sleep(600)
    await pool.close_stale()
    assert len(shop.closed) == 1
    async with pool.item() as item:
        assert item.number == 1


def test_between_two_runs_no_item_grows_older() -> None:
    shop = Workshop()
    pool = ResourcePool(shop.make, 2, close=shop.close, max_idle=60)

    async def borrow() -> int:
        async with pool.item() as item:
            await trio.sleep(59)
            return item.number

    assert [trio.run(borrow, clock=Clock(autojump_threshold=0)) for _ in range(3)] == [1, 1, 1]


def test_an_item_that_comes_back_after_its_run_is_kept() -> None:
    shop = Workshop()
    pool = ResourcePool(shop.make, 2, close=shop.close, max_idle=60)
    place = Loan()
    pool._acquire_nowait(place)
    pool._core.put_in(place, Item(7))
    lending.leave(pool, place)

    async def borrow() -> int:
        async with pool.item() as item:
            return item.number

    assert trio.run(borrow) == 7


async def test_what_is_to_be_closed_is_so_by_any_clock() -> None:
    shop = Workshop()
    pool = ResourcePool(shop.make, 2, close=shop.close, max_idle=60)
    block = pool.item()
    pool.discard(await block.__aenter__())
    block.__aexit__(None, None, None).close()  # as Ctrl-C does it there
    pool._clock = None
    async with pool.item() as item:
        assert item.number == 2
    assert [one.number for one in shop.closed] == [1]


# ==== too many ====


async def test_a_pool_that_grows_lets_those_in_who_wait() -> None:
    pool, entered = ResourcePool(Workshop().make, 1), trio.Event()

    async def borrow() -> None:
        async with pool.item():
            entered.set()

    async with trio.open_nursery() as nursery:
        async with pool.item():
            nursery.start_soon(borrow)
            await trio.testing.wait_all_tasks_blocked()
            pool.resize(2)
            with trio.fail_after(1):
                await entered.wait()
    assert pool.max_size == 2


async def test_a_pool_that_shrinks_closes_its_oldest_items_as_others_come_back() -> None:
    shop = Workshop()
    pool = ResourcePool(shop.make, 3, close=shop.close)
    async with pool.item() as one:
        await borrow_at_once(pool, 2)
        pool.resize(1)
        assert shop.closed == []
    assert shop.open == [one]


async def test_a_resize_is_an_event() -> None:
    pool, events = ResourcePool(Workshop().make, 3), list[object]()
    with structsync.observe(lambda event: events.append((event.kind, event.claim))):
        pool.resize(2)
    assert events == [("changed", ("resize", 2))]


@pytest.mark.parametrize(("size", "error"), [(0, ValueError), (1, ValueError), (2.0, TypeError)])
async def test_a_pool_cannot_shrink_below_what_is_made_ahead(
    size: int, error: type[Exception]
) -> None:
    pool = ResourcePool(Workshop().make, 3, min_size=2)
    with pytest.raises(error, match="max_size must be"):
        pool.resize(size)
    assert pool.max_size == 3


# ==== made ahead ====


async def test_the_block_of_a_pool_makes_items_ahead_and_closes_them() -> None:
    shop = Workshop()
    async with ResourcePool(shop.make, 3, min_size=2, close=shop.close) as pool:
        assert lent_and_idle(pool) == (0, 2)
        await pool.fill()
        assert shop.made == 2
    assert len(shop.closed) == 2
    assert pool.closed


async def test_a_block_that_cannot_make_its_items_closes_those_that_are_made() -> None:
    shop = Workshop()
    pool = ResourcePool(shop.make, 2, min_size=2, close=shop.close)
    await pool.fill()
    pool.resize(3)
    shop.errors.append(OSError("refused"))
    async with pool.item() as item:
        pool.discard(item)
    with pytest.raises(OSError, match="refused"):
        async with pool:
            pass
    assert (shop.open, pool.closed) == ([], True)


async def test_filling_a_closed_pool_is_refused() -> None:
    pool = ResourcePool(Workshop().make, 2, min_size=2, name="lines")
    pool.close()
    with pytest.raises(trio.ClosedResourceError, match="'lines' was closed"):
        await pool.fill()


async def test_filling_is_a_checkpoint_and_makes_nothing_where_it_is_cancelled() -> None:
    shop = Workshop()
    pool = ResourcePool(shop.make, 2, min_size=2)
    with trio.CancelScope() as scope:
        scope.cancel()
        await pool.fill()
    assert (shop.made, scope.cancelled_caught) == (0, True)
    with trio.testing.assert_checkpoints():
        await pool.fill()


# ==== closing ====


async def test_closing_tells_who_waits_and_the_borrower_closes_its_item() -> None:
    shop = Workshop()
    pool = ResourcePool(shop.make, 1, close=shop.close)

    async def wait() -> None:
        with pytest.raises(trio.ClosedResourceError, match="was closed"):
            async with pool.item():
                pass

    async with trio.open_nursery() as nursery:
        async with pool.item() as item:
            nursery.start_soon(wait)
            await trio.testing.wait_all_tasks_blocked()
            await pool.aclose()
            assert shop.closed == []
        assert shop.closed == [item]


@pytest.mark.parametrize("missing", [1, 2])
async def test_an_item_that_is_made_ahead_while_the_pool_is_closed_is_closed_too(
    missing: int,
) -> None:
    shop = Workshop()
    shop.gate = trio.Event()
    pool = ResourcePool(shop.make, 2, min_size=missing, close=shop.close)

    async def fill() -> None:
        with pytest.raises(trio.ClosedResourceError, match="was closed"):
            await pool.fill()
        assert [item.number for item in shop.closed] == [1]

    async with trio.open_nursery() as nursery:
        nursery.start_soon(fill)
        await wait_all_tasks_blocked()
        await pool.aclose()
        shop.gate.set()
    assert (shop.open, lent_and_idle(pool)) == ([], (0, 0))


@pytest.mark.parametrize("is_checked", [False, True])
async def test_an_item_that_is_made_or_checked_for_a_borrower_while_the_pool_is_closed_is_lent(
    is_checked: bool,
) -> None:
    shop = Workshop()
    pool = ResourcePool(shop.make, 1, check=shop.check, close=shop.close)
    if is_checked:
        await borrow_at_once(pool, 1)
    gate = shop.gate = shop.check_gate = trio.Event()

    async def borrow() -> None:
        async with pool.item() as item:
            assert (shop.open, shop.closed) == ([item], [])
        assert (shop.open, shop.closed) == ([], [item])

    async with trio.open_nursery() as nursery:
        nursery.start_soon(borrow)
        await wait_all_tasks_blocked()
        await pool.aclose()
        gate.set()


async def test_closing_closes_what_is_idle_also_where_it_is_cancelled() -> None:
    shop = Workshop()
    pool = ResourcePool(shop.make, 2, close=shop.close)
    await borrow_at_once(pool, 2)
    with trio.CancelScope() as scope:
        scope.cancel()
        await pool.aclose()
    assert scope.cancelled_caught
    assert (len(shop.closed), shop.open) == (2, [])
    await pool.aclose()


async def test_a_scope_that_owns_a_pool_closes_its_items() -> None:
    shop = Workshop()
    async with structsync.open_scope() as scope:
        pool = scope.own(ResourcePool(shop.make, 2, close=shop.close))
        await borrow_at_once(pool, 2)
    assert (len(shop.closed), pool.closed) == (2, True)


async def test_a_scope_reports_an_item_that_did_not_come_back() -> None:
    pool = ResourcePool(Workshop().make, 2)
    with pytest.raises(structsync.PermitLeakError, match="1 not returned to <ResourcePool"):
        async with structsync.open_scope() as scope:
            await scope.own(pool).item().__aenter__()


# ==== a close that fails ====


async def test_what_a_close_raises_is_logged_and_its_place_is_free(
    caplog: pytest.LogCaptureFixture,
) -> None:
    shop = Workshop()
    shop.close_errors.append(OSError("broken pipe"))
    pool = ResourcePool(shop.make, 1, close=shop.close)
    async with pool.item() as item:
        pool.discard(item)
    assert "item 1 could not be closed, and counts as closed in <ResourcePool" in caplog.text
    assert "broken pipe" in caplog.text
    assert lent_and_idle(pool) == (0, 0)


async def test_a_close_that_hangs_is_cancelled_in_time(
    caplog: pytest.LogCaptureFixture, autojump_clock: Clock
) -> None:
    shop = Workshop()
    shop.close_gate = trio.Event()
    pool = ResourcePool(shop.make, 1, close=shop.close, close_timeout=3)
    with trio.move_on_after(1):
        async with pool.item():
            await trio.sleep_forever()
    assert trio.current_time() == pytest.approx(4)
    assert caplog.record_tuples[0][1] == logging.WARNING
    assert "item 1 was not closed within 3 s" in caplog.text
    assert lent_and_idle(pool) == (0, 0)


async def test_a_close_may_be_given_all_the_time_it_takes(autojump_clock: Clock) -> None:
    shop = Workshop()
    shop.close_gate = trio.Event()
    pool = ResourcePool(shop.make, 1, close=shop.close, close_timeout=math.inf)
    async with trio.open_nursery() as nursery:
        await borrow_at_once(pool, 1)
        nursery.start_soon(pool.aclose)
        await trio.sleep(80_000)
        assert lent_and_idle(pool) == (1, 0)
        shop.close_gate.set()
    assert lent_and_idle(pool) == (0, 0)


async def test_an_interrupt_in_a_close_leaves_the_place_free() -> None:
    async def interrupted(item: Item) -> None:
        raise KeyboardInterrupt

    pool = ResourcePool(Workshop().make, 1, close=interrupted)
    with pytest.raises(KeyboardInterrupt):
        async with pool.item() as item:
            pool.discard(item)
    async with pool.item() as item:
        assert item.number == 2

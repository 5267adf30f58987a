"""ResourcePool: who gets which item, and what becomes of places where a function of the user fails."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
import trio
import trio.testing
from trio.testing import wait_all_tasks_blocked

import structsync
from structsync import PoolItem, PrimitiveEvent, ResourcePool, ResourcePoolStatistics

from .items import Item, Workshop


def lent_and_idle(pool: ResourcePool[Item]) -> tuple[int, int]:
    numbers = pool.statistics()
    return numbers.lent, numbers.idle


# ==== who is lent what ====


async def test_an_item_is_made_for_the_first_borrower_and_kept_for_the_next() -> None:
    shop = Workshop()
    pool = ResourcePool(shop.make, 2)
    async with pool.item() as first:
        assert lent_and_idle(pool) == (1, 0)
    async with pool.item() as second:
        assert second is first
    assert lent_and_idle(pool) == (0, 1)


async def test_the_item_that_was_returned_last_is_lent_first() -> None:
    pool = ResourcePool(Workshop().make, 2)
    one, other = pool.item(), pool.item()
    async with one as first:
        await other.__aenter__()
    await other.__aexit__(None, None, None)
    async with pool.item() as newest:
        assert newest is not first


async def test_no_more_items_exist_than_there_are_places() -> None:
    shop = Workshop()
    pool = ResourcePool(shop.make, 2, close=shop.close)

    async def borrow() -> None:
        for turn in range(3):
            async with pool.item() as item:
                await trio.lowlevel.checkpoint()
                if turn == 1:
                    pool.discard(item)

    async with trio.open_nursery() as nursery:
        for _ in range(5):
            nursery.start_soon(borrow)
    assert shop.most == 2
    assert lent_and_idle(pool) == (0, len(shop.open))


async def test_who_waits_is_served_in_the_order_of_arrival() -> None:
    pool, order = ResourcePool(Workshop().make, 1), list[int]()

    async def borrow(number: int) -> None:
        async with pool.item():
            order.append(number)

    async with trio.open_nursery() as nursery:
        async with pool.item():
            for number in range(3):
                nursery.start_soon(borrow, number)
                await wait_all_tasks_blocked()
            assert pool.statistics().tasks_waiting == 3
    assert order == [0, 1, 2]


async def test_returning_an_item_has_no_schedule_point() -> None:
    pool = ResourcePool(Workshop().make, 1)
    block = pool.item()
    await block.__aenter__()
    with trio.testing.assert_no_checkpoints():
        await block.__aexit__(None, None, None)


async def test_a_block_that_was_left_cannot_be_left_again() -> None:
    pool = ResourcePool(Workshop().make, 1)
    block = pool.item()
    async with block:
        pass
    for error in (None, ValueError()):
        with pytest.raises(RuntimeError, match="is not entered; leave it once"):
            await block.__aexit__(None, error, None)
    assert lent_and_idle(pool) == (0, 1)


# ==== a factory that fails ====


async def test_the_error_of_a_factory_is_the_borrowers_and_its_place_goes_to_the_next() -> None:
    shop = Workshop()
    shop.errors.append(OSError("refused"))
    shop.gate = trio.Event()
    pool, ended = ResourcePool(shop.make, 1), list[str]()

    async def borrow() -> None:
        try:
            async with pool.item() as item:
                ended.append(repr(item))
        except OSError as error:
            ended.append(str(error))

    async with trio.open_nursery() as nursery:
        for _ in range(2):
            nursery.start_soon(borrow)
            await wait_all_tasks_blocked()
        shop.gate.set()
    assert ended == ["refused", "item 1"]
    assert lent_and_idle(pool) == (0, 1)


async def test_a_place_whose_factory_is_cancelled_goes_to_the_next() -> None:
    shop = Workshop()
    shop.gate = trio.Event()
    pool = ResourcePool(shop.make, 1)
    scope = trio.CancelScope()

    async def give_up() -> None:
        with scope:
            async with pool.item():
                raise AssertionError("there is no item yet")

    async with trio.open_nursery() as nursery:
        nursery.start_soon(give_up)
        await wait_all_tasks_blocked()
        assert lent_and_idle(pool) == (1, 0)
        scope.cancel()
        shop.gate.set()
        async with pool.item() as item:
            assert item.number == 1
    assert scope.cancelled_caught


@pytest.mark.parametrize("cancel_first", [True, False])
async def test_a_queued_request_that_is_cancelled_as_a_place_becomes_free_keeps_none(
    cancel_first: bool,
) -> None:
    """encode/httpcore #1093: its place was a connection in state CONNECTING that no task made."""
    shop = Workshop()
    pool = ResourcePool(shop.make, 1, close=shop.close)
    second = trio.CancelScope()

    async def first(borrowed: trio.Event, over: trio.Event) -> None:
        async with pool.item() as item:
            borrowed.set()
            await over.wait()
            pool.discard(item)
            if cancel_first:
                second.cancel()
        second.cancel()

    async def queue() -> None:
        with second:
            async with pool.item():
                await trio.sleep_forever()

    borrowed, over = trio.Event(), trio.Event()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(first, borrowed, over)
        await borrowed.wait()
        nursery.start_soon(queue)
        await wait_all_tasks_blocked()
        over.set()
    with trio.fail_after(60):
        async with pool.item():
            assert lent_and_idle(pool) == (1, 0)
    assert shop.most == 1


async def test_a_factory_that_is_no_async_function_is_refused() -> None:
    pool = ResourcePool[int](lambda: 3, 1)  # type: ignore[arg-type, return-value]
    with pytest.raises(TypeError, match="factory must be an async function, but it returned 3"):
        async with pool.item():
            pass
    assert pool.statistics().lent == 0


# ==== checks ====


async def test_an_item_that_fails_its_check_is_closed_and_the_next_one_tried() -> None:
    shop = Workshop()
    pool = ResourcePool(shop.make, 3, check=shop.check, close=shop.close)
    async with pool.item() as one, pool.item() as two, pool.item() as three:
        pass
    shop.bad = {one, two}  # the newest ones: the innermost block is left first
    async with pool.item() as item:
        assert item is three
    assert shop.closed == [one, two]


async def test_a_new_item_is_made_where_all_fail_their_checks_and_it_is_not_checked() -> None:
    shop = Workshop()
    pool = ResourcePool(shop.make, 2, check=shop.check, close=shop.close)
    async with pool.item() as one:
        pass
    shop.bad = {one}
    async with pool.item() as item:
        assert item.number == 2
    assert shop.checked == [one]
    assert lent_and_idle(pool) == (0, 1)


async def test_what_a_check_raises_is_the_borrowers_and_the_item_is_closed() -> None:
    shop = Workshop()
    pool = ResourcePool(shop.make, 1, check=shop.check, close=shop.close)
    async with pool.item() as one:
        pass
    shop.check_error = ZeroDivisionError()
    with pytest.raises(ZeroDivisionError):
        async with pool.item():
            pass
    assert shop.closed == [one]
    async with pool.item() as item:
        assert item.number == 2


async def test_an_item_whose_check_is_cancelled_is_closed_and_its_place_free() -> None:
    shop = Workshop()
    pool = ResourcePool(shop.make, 1, check=shop.check, close=shop.close)
    async with pool.item() as one:
        pass
    shop.check_gate = trio.Event()
    with trio.CancelScope() as scope:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(pool.item().__aenter__)
            await wait_all_tasks_blocked()
            assert shop.checked == [one]
            scope.cancel()
    assert (shop.closed, shop.open, lent_and_idle(pool)) == ([one], [], (0, 0))


async def test_who_waits_meanwhile_closes_what_a_cancelled_check_left() -> None:
    """The place goes to the next in the step in which it is given back, with the item in it."""
    shop = Workshop()
    pool = ResourcePool(shop.make, 1, check=shop.check, close=shop.close)
    async with pool.item() as one:
        pass
    shop.check_gate = trio.Event()
    scope, got = trio.CancelScope(), list[int]()

    async def give_up() -> None:
        with scope:
            async with pool.item():
                pass

    async def wait() -> None:
        async with pool.item() as item:
            got.append(item.number)

    async with trio.open_nursery() as nursery:
        for task in (give_up, wait):
            nursery.start_soon(task)
            await wait_all_tasks_blocked()
        scope.cancel()
    assert (shop.closed, got) == ([one], [2])


async def test_a_check_that_says_neither_yes_nor_no_is_refused() -> None:
    async def forget(item: Item) -> bool:
        return None  # type: ignore[return-value]

    pool = ResourcePool(Workshop().make, 1, check=forget)
    async with pool.item():
        pass
    with pytest.raises(TypeError, match=r"check must return whether .* a bool, not None"):
        async with pool.item():
            pass


# ==== discarding ====


async def test_a_discarded_item_is_closed_instead_of_returned() -> None:
    shop = Workshop()
    pool = ResourcePool(shop.make, 1, close=shop.close)
    async with pool.item() as item:
        pool.discard(item)
        pool.discard(item)
        assert shop.closed == []
    assert shop.closed == [item]
    assert lent_and_idle(pool) == (0, 0)


async def test_only_what_is_lent_can_be_discarded() -> None:
    pool = ResourcePool(Workshop().make, 2)
    async with pool.item() as item:
        with pytest.raises(ValueError, match=r"only a borrowed item .* inside the block of item"):
            pool.discard(Item(1))  # equal is not enough
    with pytest.raises(ValueError, match="only a borrowed item can be discarded"):
        pool.discard(item)


async def test_the_item_of_a_block_that_fails_is_closed_unless_it_is_to_be_kept() -> None:
    shop = Workshop()
    pool = ResourcePool(shop.make, 1, close=shop.close)
    for keeps in (False, True):
        with pytest.raises(KeyError):
            async with pool.item(keep_on_error=keeps):
                raise KeyError
        assert lent_and_idle(pool) == ((0, 1) if keeps else (0, 0))


async def test_a_block_that_ends_well_returns_its_item() -> None:
    pool = ResourcePool(Workshop().make, 1)
    async with pool.item():
        pass
    assert lent_and_idle(pool) == (0, 1)


async def test_the_item_of_a_cancelled_block_is_closed() -> None:
    """A request that is given up has left an answer in its connection; no task is to read that for another's."""
    shop = Workshop()
    pool = ResourcePool(shop.make, 1, close=shop.close)
    with trio.CancelScope() as scope:
        async with pool.item() as item:
            scope.cancel()
            await trio.sleep_forever()
    assert shop.closed == [item]
    assert lent_and_idle(pool) == (0, 0)


async def test_without_a_close_function_a_discarded_item_is_dropped() -> None:
    pool = ResourcePool(Workshop().make, 1)
    async with pool.item() as item:
        pool.discard(item)
    async with pool.item() as item:
        assert item.number == 2


# ==== what it shows ====


async def test_it_shows_what_is_lent_and_idle() -> None:
    pool = ResourcePool(Workshop().make, 2, name="lines")
    block = pool.item()
    async with block:
        assert pool.statistics() == ResourcePoolStatistics(0, lent=1, idle=0, max_size=2)
        assert "<ResourcePool 'lines' at" in repr(block)
        assert repr(block).endswith("entered>")
    assert "0 lent, 1 idle, max_size 2, 0 waiting" in repr(pool)
    assert "entered" not in repr(block)
    assert (pool.max_size, pool.min_size) == (2, 0)


async def test_observers_see_a_loan_requested_granted_and_released_and_no_more() -> None:
    events, claims = list[tuple[str, dict[str, object]]](), list[object]()

    def observer(event: PrimitiveEvent) -> None:
        claims.append(event.claim)
        events.append((event.kind, event.details))

    shop = Workshop()
    pool = ResourcePool(shop.make, 1, min_size=1, close=shop.close)
    with structsync.observe(observer):
        await pool.fill()
        async with pool.item() as item:
            pool.discard(item)
    task = trio.lowlevel.current_task().name
    assert re.match(r"<Loan at 0x\w+>$", repr(claims[0]))
    assert len(set(claims)) == 1
    assert events == [(kind, {"task": task}) for kind in ("requested", "granted", "released")]


async def test_a_block_cannot_be_entered_twice_at_a_time() -> None:
    block = ResourcePool(Workshop().make, 2).item()
    async with block:
        with pytest.raises(RuntimeError, match=r"call item\(\) for each block"):
            async with block:
                pass
    async with block:
        pass


async def test_a_block_that_could_not_be_entered_can_be_tried_again() -> None:
    shop = Workshop()
    shop.errors.append(OSError("refused"))
    block = ResourcePool(shop.make, 1).item()
    with pytest.raises(OSError, match="refused"):
        await block.__aenter__()
    async with block:
        pass


def test_a_block_is_final() -> None:
    with pytest.raises(TypeError, match=r"ResourcePool\.item\(\) makes them"):
        type("Mine", (PoolItem,), {})


async def test_an_item_that_comes_back_in_the_middle_of_a_step_is_returned_right_after_it() -> None:
    """As a finalizer does it that abandons a block."""
    pool, other = ResourcePool(Workshop().make, 1), structsync.Semaphore(1)
    block, seen = pool.item(), list[int]()
    await block.__aenter__()

    def observer(event: PrimitiveEvent) -> None:
        if event.primitive is other and event.kind == "granted":
            block.__aexit__(None, None, None)
            seen.append(pool.statistics().lent)

    with structsync.observe(observer):
        other.acquire_nowait()
    assert (seen, lent_and_idle(pool)) == ([1], (0, 1))


async def nothing() -> Item:
    return Item(0)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: ResourcePool(3, 1), TypeError, "factory must be an async function, not 3"),  # type: ignore[arg-type]
        (lambda: ResourcePool(None, 1), TypeError, "factory must be .* not None"),  # type: ignore[arg-type]
        (lambda: ResourcePool(nothing, "1"), TypeError, "max_size must be an int"),  # type: ignore[arg-type]
        (lambda: ResourcePool(nothing, 0), ValueError, "max_size must be >= 1"),
        (lambda: ResourcePool(nothing, 1, min_size=True), TypeError, "min_size must be an int"),
        (lambda: ResourcePool(nothing, 1, min_size=-1), ValueError, "min_size must be >= 0"),
        (lambda: ResourcePool(nothing, 1, min_size=2), ValueError, "min_size must be <= max_size"),
        (lambda: ResourcePool(nothing, 1, check=1), TypeError, "check must be an async function"),  # type: ignore[arg-type]
        (lambda: ResourcePool(nothing, 1, close=1), TypeError, "close must be an async function"),  # type: ignore[arg-type]
        (lambda: ResourcePool(nothing, 1, max_idle=0), ValueError, "max_idle must be > 0, not 0"),
        (lambda: ResourcePool(nothing, 1, max_idle="1"), TypeError, "max_idle must be a number"),  # type: ignore[arg-type]
        (
            lambda: ResourcePool(nothing, 1, close_timeout=float("nan")),
            ValueError,
            "close_timeout must be > 0",
        ),
        (
            lambda: ResourcePool(nothing, 1, close_timeout=10**400),
            ValueError,
            "close_timeout must be a number that a float can hold, or math.inf",
        ),
        (lambda: ResourcePool(nothing, 1, name=1), TypeError, "name must be a str"),  # type: ignore[arg-type]
    ],
)
def test_what_it_cannot_be_made_of_is_refused(
    make: Callable[[], object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        make()

"""Broadcast: each item to every consumer, each at its own pace."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest
import trio
import trio.testing

from structsync import (
    Broadcast,
    Buffer,
    PermitLeakError,
    PrimitiveEvent,
    Semaphore,
    Subscription,
    observe,
    open_scope,
)

settle = trio.testing.wait_all_tasks_blocked


def rest(subscription: Subscription[Any]) -> list[Any]:
    return [subscription.get_nowait() for _ in range(subscription.statistics().items)]


async def test_every_consumer_gets_each_item_that_is_put_after_it_subscribed() -> None:
    broadcast = Broadcast[int](3)
    await broadcast.put(0)  # to no task
    with broadcast.subscribe() as early:
        await broadcast.put(1)
        with broadcast.subscribe() as late:
            broadcast.put_nowait(2)
            assert (rest(early), rest(late)) == ([1, 2], [2])
        assert broadcast.subscriptions == (early,)


async def test_a_put_waits_for_the_slowest_and_is_put_for_all_in_one_step() -> None:
    broadcast = Broadcast[int](1)
    slow, fast = broadcast.subscribe(), broadcast.subscribe()
    broadcast.put_nowait(1)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(broadcast.put, 2)
        await settle()
        assert await fast.get() == 1
        with pytest.raises(trio.WouldBlock):
            broadcast.put_nowait(3)
        await settle()
        assert fast.statistics().items == 0
        assert slow.get_nowait() == 1
    assert (rest(slow), rest(fast)) == ([2], [2])


async def test_a_put_does_not_wait_for_who_has_left() -> None:
    broadcast = Broadcast[int](1)
    slow, fast = broadcast.subscribe(), broadcast.subscribe()
    broadcast.put_nowait(1)
    fast.get_nowait()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(broadcast.put, 2)
        await settle()
        slow.close()
        slow.close()
    assert rest(fast) == [2]
    with pytest.raises(trio.ClosedResourceError):
        await slow.get()


async def test_a_put_that_waits_for_the_last_consumer_ends_when_that_leaves() -> None:
    broadcast = Broadcast[int](1)
    consumer = broadcast.subscribe()
    broadcast.put_nowait(1)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(broadcast.put, 2)
        await settle()
        consumer.close()


async def test_a_cancelled_put_has_put_nothing_for_any_task() -> None:
    broadcast = Broadcast[int](1)
    slow, fast = broadcast.subscribe(), broadcast.subscribe()
    broadcast.put_nowait(1)
    fast.get_nowait()
    with trio.move_on_after(0):
        await broadcast.put(2)
    assert (rest(slow), rest(fast)) == ([1], [])


async def test_the_slow_one_loses_its_oldest_item() -> None:
    broadcast = Broadcast[int](2, slow="drop")
    slow, fast = broadcast.subscribe(), broadcast.subscribe()
    for item in range(4):
        await broadcast.put(item)
        fast.get_nowait()
    assert (rest(slow), slow.dropped, fast.dropped) == ([2, 3], 2, 0)


async def test_who_conflates_has_the_latest() -> None:
    broadcast = Broadcast[int](1, slow="drop")
    latest = broadcast.subscribe()
    got: list[int] = []

    async def get() -> None:
        got.append(await latest.get())

    async with trio.open_nursery() as nursery:
        nursery.start_soon(get)
        await settle()
        for item in range(5):
            broadcast.put_nowait(item)
    assert (got, rest(latest)) == ([0], [4])


async def test_the_end_is_told_to_each_when_it_has_all() -> None:
    broadcast = Broadcast[int](3)
    one = broadcast.subscribe()
    broadcast.put_nowait(1)
    broadcast.complete()
    assert broadcast.completed
    assert await one.get_batch(3, max_wait=9) == [1]
    for subscription in (one, broadcast.subscribe()):
        assert [item async for item in subscription] == []
    with pytest.raises(trio.ClosedResourceError, match="this Broadcast is complete"):
        await broadcast.put(2)
    with pytest.raises(trio.ClosedResourceError):
        broadcast.put_nowait(2)


@pytest.mark.parametrize("slow", ["wait", "drop"])
@pytest.mark.parametrize("subscribed", [False, True])
def test_nothing_is_put_for_no_task_after_the_end(slow: Any, subscribed: bool) -> None:
    """Where a put never waits, an item that is put is gone without a word."""
    broadcast = Broadcast[int](1, slow=slow)
    if subscribed:
        broadcast.subscribe()
    broadcast.complete()
    with pytest.raises(trio.ClosedResourceError, match="this Broadcast is complete"):
        broadcast.put_nowait(1)


async def test_who_waits_to_put_is_told_of_the_end() -> None:
    for end in (Broadcast[int].complete, Broadcast[int].close):
        broadcast = Broadcast[int](1)
        broadcast.subscribe()
        broadcast.put_nowait(1)

        async def told(broadcast: Broadcast[int]) -> None:
            with pytest.raises(trio.ClosedResourceError):
                await broadcast.put(2)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(told, broadcast)
            await settle()
            end(broadcast)


def test_what_makes_no_broadcast_is_refused() -> None:
    with pytest.raises(ValueError, match="max_items must be"):
        Broadcast[int](0)
    with pytest.raises(ValueError, match="slow must be"):
        Broadcast[int](1, slow="block")  # type: ignore[arg-type]  # the mistake
    with pytest.raises(TypeError):
        Broadcast[int](1, name=1)  # type: ignore[arg-type]  # the mistake
    broadcast = Broadcast[int](1, name="news")
    assert "'news'" in repr(broadcast)
    assert "0 dropped, of <Buffer 'news'" in repr(broadcast.subscribe())
    broadcast.complete()
    assert repr(broadcast).endswith("1 subscriptions, slow='wait', complete>")


def test_one_that_is_closed_says_so_and_by_which_name() -> None:
    broadcast = Broadcast[int](1, name="news")
    subscription = broadcast.subscribe()
    broadcast.complete()
    assert not broadcast.closed
    with pytest.raises(trio.ClosedResourceError, match="this Broadcast 'news' is complete"):
        broadcast.put_nowait(1)
    broadcast.close()
    assert broadcast.closed
    assert repr(broadcast).endswith("0 subscriptions, slow='wait', closed>")
    with pytest.raises(trio.ClosedResourceError, match="this Broadcast 'news' was closed"):
        broadcast.put_nowait(1)
    with pytest.raises(trio.ClosedResourceError, match="this Broadcast 'news' was closed"):
        subscription.get_nowait()


def test_a_consumer_is_told_of_what_it_knows_and_of_no_buffer() -> None:
    broadcast = Broadcast[int](1, name="news")
    left, drained = broadcast.subscribe(), broadcast.subscribe()
    left.close()
    with pytest.raises(trio.ClosedResourceError, match="this Subscription was closed"):
        left.get_nowait()
    broadcast.complete()
    for subscription in (drained, broadcast.subscribe()):
        with pytest.raises(trio.EndOfChannel, match="this Broadcast 'news' is complete, and empty"):
            subscription.get_nowait()


async def test_its_statistics_count_each_put_and_each_get_that_waits_once() -> None:
    broadcast = Broadcast[int](1)
    assert dataclasses.astuple(broadcast.statistics()) == (0, 0, 0, 1, 0, 0, False)
    slow, fast = broadcast.subscribe(), broadcast.subscribe()
    broadcast.put_nowait(1)
    fast.get_nowait()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(broadcast.put, 2)
        nursery.start_soon(broadcast.put, 3)
        nursery.start_soon(fast.get)
        await settle()
        found = broadcast.statistics()
        assert (found.tasks_waiting, found.tasks_putting, found.tasks_getting) == (3, 2, 1)
        assert (found.subscriptions, found.most_behind) == (2, 1)
        slow.close()
    broadcast.complete()
    assert broadcast.statistics().completed


def test_it_is_never_broken_and_its_name_is_a_text() -> None:
    broadcast = Broadcast[int](1)
    broadcast.close()
    assert not broadcast.broken
    broadcast.name = "prices"
    assert broadcast.name == "prices"
    with pytest.raises(TypeError, match="name must be a str or None"):
        broadcast.name = 3  # type: ignore[assignment]  # the mistake


async def test_a_subscription_to_a_closed_one_is_closed() -> None:
    broadcast = Broadcast[int](1, name="news")
    broadcast.close()
    subscription = broadcast.subscribe()
    assert subscription.closed
    assert broadcast.subscriptions == ()
    with pytest.raises(trio.ClosedResourceError, match="this Broadcast 'news' was closed"):
        await subscription.get()


async def test_a_scope_that_owns_it_closes_it_with_its_subscriptions() -> None:
    async with open_scope() as scope:
        broadcast = scope.own(Broadcast[int](1))
        subscription = broadcast.subscribe()
        assert (broadcast.closed, subscription.closed) == (False, False)
    assert broadcast.closed
    assert subscription.closed


async def test_one_scope_owns_it_once_and_none_owns_a_closed_one() -> None:
    broadcast = Broadcast[int](1, name="news")
    async with open_scope() as outer, open_scope() as inner:
        assert outer.own(broadcast) is broadcast
        for scope in (outer, inner):
            with pytest.raises(ValueError, match="owned by a scope already; own it once"):
                scope.own(broadcast)
    async with open_scope() as scope:
        with pytest.raises(trio.ClosedResourceError, match="this Broadcast 'news' was closed"):
            scope.own(broadcast)
        complete = Broadcast[int](1)
        complete.complete()
        scope.own(complete)
    assert complete.closed


async def test_one_that_another_run_uses_hides_nothing_of_how_its_scope_ends() -> None:
    broadcast, semaphore = Broadcast[int](1), Semaphore(1, max_value=1)
    used, other = broadcast.subscribe(), Broadcast[int](1)

    async def fail() -> None:
        async with open_scope() as scope:
            for each in (semaphore, broadcast, other):
                scope.own(each)
            semaphore.acquire_nowait()
            raise KeyError("original")

    async with trio.open_nursery() as nursery:
        nursery.start_soon(used.get)
        await settle()
        with pytest.raises(ExceptionGroup) as caught:
            await trio.to_thread.run_sync(trio.run, fail)
        assert [type(error) for error in caught.value.exceptions] == [KeyError, PermitLeakError]
        assert (broadcast.closed, other.closed) == (False, True)
        broadcast.put_nowait(1)
    async with open_scope() as scope:
        scope.own(broadcast)
    assert broadcast.closed


# ==== what is refused has changed nothing ====

ENDS: dict[str, Callable[[Broadcast[int], Subscription[int]], None]] = {
    "the broadcast is closed": lambda broadcast, _: broadcast.close(),
    "the broadcast is complete": lambda broadcast, _: broadcast.complete(),
    "the subscription is closed": lambda _, subscription: subscription.close(),
}
each_end = pytest.mark.parametrize("end", ENDS.values(), ids=[*ENDS])


async def goes_on(broadcast: Broadcast[int], *subscriptions: Subscription[int]) -> None:
    assert (broadcast.completed, broadcast.closed) == (False, False)
    assert broadcast.subscriptions == subscriptions
    await broadcast.put(1)
    for subscription in subscriptions:
        assert not subscription.closed
        assert rest(subscription) == [1]


@each_end
async def test_an_end_that_another_thread_is_refused_has_ended_nothing(end: Any) -> None:
    broadcast = Broadcast[int](1)
    idle, used = broadcast.subscribe(), broadcast.subscribe()

    def refused() -> None:
        with pytest.raises(RuntimeError, match="in use by another trio run"):
            end(broadcast, used)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(used.get)
        await settle()
        await trio.to_thread.run_sync(refused)
        assert not idle.closed
        broadcast.put_nowait(0)
    assert rest(idle) == [0]
    await goes_on(broadcast, idle, used)


@each_end
@pytest.mark.parametrize("subscribed", [False, True])
async def test_an_end_that_an_observer_is_refused_has_ended_nothing(
    end: Any, subscribed: bool
) -> None:
    broadcast = Broadcast[int](1)
    subscription = broadcast.subscribe()
    if not subscribed:
        subscription.close()
    errors: list[str] = []

    def observer(event: PrimitiveEvent) -> None:
        with pytest.raises(RuntimeError) as caught:
            end(broadcast, subscription)
        errors.append(str(caught.value))

    with observe(observer):
        await Semaphore(1).acquire()
    assert "observer must not change" in errors[0]
    await goes_on(broadcast, *[subscription][: int(subscribed)])


async def test_an_item_that_another_thread_may_not_put_for_all_it_puts_for_none() -> None:
    broadcast = Broadcast[int](1, slow="drop")
    idle, used = broadcast.subscribe(), broadcast.subscribe()

    def refused() -> None:
        with pytest.raises(RuntimeError, match="in use by another trio run"):
            broadcast.put_nowait(0)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(used.get)
        await settle()
        await trio.to_thread.run_sync(refused)
        assert rest(idle) == []
        broadcast.put_nowait(1)
    assert rest(idle) == [1]


# ==== who subscribes while a put waits ====


@pytest.mark.parametrize("another_leaves", [False, True])
async def test_an_item_is_for_those_alone_who_had_subscribed_when_its_put_was_called(
    another_leaves: bool,
) -> None:
    broadcast = Broadcast[int](1)
    slow, another = broadcast.subscribe(), broadcast.subscribe()
    broadcast.put_nowait(1)
    another.get_nowait()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(broadcast.put, 2)
        await settle()
        late = broadcast.subscribe()
        if another_leaves:
            another.close()
            await settle()
        assert slow.get_nowait() == 1
    assert (rest(slow), rest(late)) == ([2], [])


async def test_an_item_whose_consumers_have_all_left_is_handed_to_no_later_one() -> None:
    broadcast = Broadcast[int](1)
    consumer = broadcast.subscribe()
    broadcast.put_nowait(1)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(broadcast.put, 2)
        await settle()
        late = broadcast.subscribe()
        consumer.close()
    assert rest(late) == []


# ==== a block that is left in the middle of a step, by an observer or a finalizer ====


async def test_a_subscription_whose_block_is_left_in_a_step_ends_right_after_it() -> None:
    broadcast = Broadcast[int](1)
    stays, leaves = broadcast.subscribe(), broadcast.subscribe()
    broadcast.put_nowait(1)

    def observer(event: PrimitiveEvent) -> None:
        leaves.__exit__(None, None, None)

    with observe(observer):
        assert stays.get_nowait() == 1
    assert broadcast.subscriptions == (stays,)
    broadcast.put_nowait(2)
    assert rest(stays) == [2]


@pytest.mark.parametrize("slow", ["wait", "drop"])
async def test_an_item_is_put_for_the_others_though_one_leaves_meanwhile(slow: Any) -> None:
    broadcast = Broadcast[int](1, slow=slow)
    leaves, stays = broadcast.subscribe(), broadcast.subscribe()
    put_claim = Buffer.put_claim

    def leave(buffer: Any, *item: Any) -> Any:
        leaves.close()  # as a finalizer may
        return put_claim(buffer, *item) if item else statistics(buffer)

    statistics = Buffer.statistics
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Buffer, "put_claim", leave)
        patch.setattr(Buffer, "statistics", leave)
        broadcast.put_nowait(1)
    assert rest(stays) == [1]
    assert broadcast.subscriptions == (stays,)


async def test_nothing_is_put_where_all_is_complete_meanwhile() -> None:
    broadcast = Broadcast[int](1)
    broadcast.subscribe()
    put_claim = Buffer.put_claim

    def complete(buffer: Any, item: Any) -> Any:
        broadcast.complete()  # as a finalizer may
        return put_claim(buffer, item)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Buffer, "put_claim", complete)
        with pytest.raises(trio.ClosedResourceError, match="this Broadcast is complete"):
            broadcast.put_nowait(1)

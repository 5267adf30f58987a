"""What passes items along keeps their type: for mypy, for pyright, and when it runs."""

# pyright: reportUnnecessaryTypeIgnoreComment=error

from __future__ import annotations

import contextlib
import math
from typing import Any, assert_type

import trio

from structsync import (
    Broadcast,
    BroadcastStatistics,
    Buffer,
    BufferItem,
    BufferPolicy,
    BufferStatistics,
    Claim,
    First,
    ReceivingEnd,
    SendingEnd,
    Subscription,
    WhenSlow,
    acquire_all,
    first_of,
    open_channel,
)


async def test_a_buffer_returns_what_was_put() -> None:
    policy: BufferPolicy = "priority"
    buffer = Buffer[str](5, policy=policy, key=len, name="words")
    assert_type(await buffer.put("a"), None)
    assert_type(buffer.put_nowait("bb"), None)
    assert_type(await buffer.put_many(["ccc", "dddd"]), None)
    assert_type(buffer.put_many_nowait(("eeeee",)), None)
    assert type(assert_type(await buffer.get(), str)) is str
    assert type(assert_type(buffer.get_nowait(), str)) is str
    assert assert_type(await buffer.get_many(1), list[str]) == ["ccc"]
    assert assert_type(buffer.get_many_nowait(1), list[str]) == ["dddd"]
    assert assert_type(await buffer.get_batch(1, max_wait=0), list[str]) == ["eeeee"]
    assert type(assert_type(buffer.completed, bool)) is bool
    assert assert_type(buffer.max_items, float) == 5
    assert assert_type(buffer.statistics(), BufferStatistics).items == 0
    assert_type(buffer.complete(), None)
    async for word in buffer:
        assert_type(word, str)


async def test_an_item_in_hand_has_its_type() -> None:
    buffer = Buffer[int](2)
    buffer.put_nowait(7)
    block = assert_type(buffer.item(), BufferItem[int])
    async with block as item, contextlib.AsyncExitStack() as stack:
        assert assert_type(item, int) == 7
        await buffer.put(8)
        assert assert_type(await stack.enter_async_context(buffer.item()), int) == 8


async def test_the_first_of_several_says_which_and_what() -> None:
    buffer, other = Buffer[int](1), Buffer[int](math.inf)
    buffer.put_nowait(3)
    first = assert_type(await first_of(buffer.get_claim(), other.get_claim()), First)
    assert type(assert_type(first.claim, Claim[Any])) is Claim
    assert assert_type(first.item, Any) == 3
    assert type(assert_type(other.put_claim(4), Claim[Buffer[int]])) is Claim
    words = Buffer[str](1)
    words.put_nowait("word")
    async with acquire_all(word := words.get_claim()) as held:
        assert assert_type(held.item(word), str) == "word"


async def test_the_ends_of_a_channel_have_the_type_of_its_items() -> None:
    ends: tuple[SendingEnd[str], ReceivingEnd[str]] = open_channel(2)
    sender, receiver = ends
    assert_type(await sender.send("a"), None)
    assert_type(sender.send_nowait("b"), None)
    assert type(assert_type(await receiver.receive(), str)) is str
    assert type(assert_type(receiver.receive_nowait(), str)) is str
    assert isinstance(assert_type(sender.clone(), SendingEnd[str]), SendingEnd)
    assert isinstance(assert_type(receiver.buffer, Buffer[str]), Buffer)
    assert assert_type(receiver.statistics(), BufferStatistics).items == 0
    as_trios: trio.abc.SendChannel[str] = sender
    assert as_trios is sender
    sorted_ends: tuple[SendingEnd[str], ReceivingEnd[str]] = open_channel(
        2, policy="priority", key=len
    )
    await sorted_ends[0].aclose()
    async for word in sorted_ends[1]:
        assert_type(word, str)


async def test_a_subscription_has_the_type_of_the_broadcast() -> None:
    slow: WhenSlow = "drop"
    broadcast = Broadcast[int](2, slow=slow, name="numbers")
    with broadcast.subscribe() as subscription:
        assert isinstance(assert_type(subscription, Subscription[int]), Subscription)
        assert_type(await broadcast.put(1), None)
        assert_type(broadcast.put_nowait(2), None)
        assert type(assert_type(await subscription.get(), int)) is int
        assert type(assert_type(subscription.get_nowait(), int)) is int
        assert assert_type(broadcast.subscriptions, tuple[Subscription[int], ...]) == (
            subscription,
        )
        assert type(assert_type(subscription.dropped, int)) is int
        assert assert_type(subscription.statistics(), BufferStatistics).items == 0
        assert assert_type(broadcast.statistics(), BroadcastStatistics).subscriptions == 1
        broadcast.put_nowait(3)
        assert assert_type(await subscription.get_batch(1, max_wait=0), list[int]) == [3]
        broadcast.complete()
        assert assert_type(broadcast.completed, bool)
        async for number in subscription:
            assert_type(number, int)


# Each line must be refused by both: an ignore that is not needed is an error, too.
async def refused(
    buffer: Buffer[str],
    sender: SendingEnd[str],
    receiver: ReceivingEnd[int],
    broadcast: Broadcast[int],
) -> None:
    await buffer.put(1)  # type: ignore[arg-type]  # no str
    buffer.put_many_nowait([1])  # type: ignore[list-item]  # no str
    await buffer.get_batch(3)  # type: ignore[call-arg]  # for how long?
    await buffer.get_batch(3, 1.0)  # type: ignore[call-arg]  # by keyword
    buffer.get_claim("a")  # type: ignore[call-arg]  # takes nothing
    Buffer[str](3, policy="random")  # type: ignore[arg-type]  # no such policy
    Buffer[str](3, policy="priority", key=math.sqrt)  # type: ignore[arg-type]  # not of a str
    await first_of(buffer)  # type: ignore[arg-type]  # of its claims
    await sender.send(1)  # type: ignore[arg-type]  # no str
    word: str = await receiver.receive()  # type: ignore[assignment]  # an int
    await broadcast.put("a")  # type: ignore[arg-type]  # no int
    Broadcast[int](3, slow="block")  # type: ignore[arg-type]  # no such rule
    with broadcast:  # type: ignore[attr-defined]  # its subscriptions are
        pass
    del word

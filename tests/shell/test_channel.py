"""The two ends of a buffer: trio's channels, cloned and closed apart."""

from __future__ import annotations

from typing import Any

import pytest
import trio
import trio.testing

from structsync import PrimitiveEvent, ReceivingEnd, SendingEnd, observe, open_channel

settle = trio.testing.wait_all_tasks_blocked
Ends = tuple[SendingEnd[int], ReceivingEnd[int]]


class Told:
    """Tasks, and what they were told."""

    def __init__(self, nursery: trio.Nursery) -> None:
        self.nursery = nursery
        self.errors: dict[str, str] = {}

    async def start(self, name: str, call: Any, *args: Any) -> None:
        async def run() -> None:
            try:
                self.errors[name] = repr(await call(*args))
            except Exception as error:  # noqa: BLE001 - to be compared
                self.errors[name] = type(error).__name__

        self.nursery.start_soon(run)
        await settle()


async def test_they_are_channels_of_trio() -> None:
    ends: Ends = open_channel(2)
    sender, receiver = ends
    assert isinstance(sender, trio.abc.SendChannel)
    assert isinstance(receiver, trio.abc.ReceiveChannel)
    async with sender:
        await sender.send(1)
        sender.send_nowait(2)
        with pytest.raises(trio.WouldBlock):
            sender.send_nowait(3)
        assert sender.statistics().items == 2
    async with receiver:
        assert receiver.receive_nowait() == 1
        assert [item async for item in receiver] == [2]
        with pytest.raises(trio.EndOfChannel):
            await receiver.receive()
        with pytest.raises(trio.EndOfChannel):
            receiver.receive_nowait()


async def test_a_side_is_closed_with_its_last_end() -> None:
    ends: Ends = open_channel(1)
    sender, receiver = ends
    another = sender.clone()
    async with trio.open_nursery() as nursery:
        told = Told(nursery)
        await told.start("receives", receiver.receive)
        await told.start("receives too", receiver.clone().receive)
        with sender:
            pass
        assert sender.closed
        sender.close()  # which counts once
        await settle()
        assert told.errors == {}
        await another.send(1)
        another.close()
        another.close()
    assert told.errors == {"receives": "1", "receives too": "EndOfChannel"}


async def test_who_has_used_an_end_before_is_not_told_that_it_is_closed() -> None:
    ends: Ends = open_channel(1)
    sender, receiver = ends
    another = sender.clone()

    async def send_by_both() -> None:
        await sender.send(1)
        await another.send(2)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(send_by_both)
        await settle()
        sender.close()
        assert [await receiver.receive(), await receiver.receive()] == [1, 2]


async def test_who_waits_by_an_end_that_is_closed_is_told_and_no_other_task() -> None:
    ends: Ends = open_channel(1)
    sender, receiver = ends
    another = sender.clone()
    sender.send_nowait(0)
    async with trio.open_nursery() as nursery:
        told = Told(nursery)
        await told.start("first", sender.send, 1)
        await told.start("second", another.send, 2)
        sender.close()
        await settle()
        assert told.errors == {"first": "ClosedResourceError"}
        assert [await receiver.receive(), await receiver.receive()] == [0, 2]
        await told.start("receives", receiver.receive)
        receiver.close()
    assert told.errors["receives"] == "ClosedResourceError"
    for end in (sender, receiver):
        assert end.closed
        with pytest.raises(trio.ClosedResourceError):
            end.clone()
    with pytest.raises(trio.ClosedResourceError):
        await sender.send(1)
    with pytest.raises(trio.ClosedResourceError):
        sender.send_nowait(1)
    with pytest.raises(trio.ClosedResourceError):
        receiver.receive_nowait()


async def test_without_receivers_nothing_can_be_sent() -> None:
    ends: Ends = open_channel(1)
    sender, receiver = ends
    sender.send_nowait(0)
    async with trio.open_nursery() as nursery:
        told = Told(nursery)
        await told.start("sends", sender.send, 1)
        await receiver.aclose()
    assert told.errors == {"sends": "BrokenResourceError"}
    with pytest.raises(trio.BrokenResourceError, match="every receiving end"):
        await sender.send(1)
    with pytest.raises(trio.BrokenResourceError):
        sender.send_nowait(1)
    assert sender.buffer.broken
    assert sender.statistics().items == 0


async def test_a_closed_end_is_a_checkpoint_all_the_same() -> None:
    ends: Ends = open_channel(1)
    ends[0].close()
    with trio.CancelScope() as scope:
        scope.cancel()
        await ends[0].send(1)
    assert scope.cancelled_caught


async def test_a_cancelled_send_or_receive_has_done_nothing() -> None:
    ends: Ends = open_channel(1)
    sender, receiver = ends
    with trio.move_on_after(0):
        await receiver.receive()
    sender.send_nowait(1)
    with trio.move_on_after(0):
        await sender.send(2)
    assert receiver.receive_nowait() == 1
    with pytest.raises(trio.WouldBlock):
        receiver.receive_nowait()


async def test_an_end_shows_its_state() -> None:
    ends: Ends = open_channel(1, policy="lifo", name="jobs")
    sender, receiver = ends
    assert "SendingEnd" in repr(sender)
    assert "open, of <Buffer 'jobs'" in repr(sender)
    receiver.close()
    assert "closed, of" in repr(receiver)


def test_there_is_no_channel_without_room() -> None:
    with pytest.raises(ValueError, match="max_items must be >= 1"):
        open_channel(0)


async def test_an_end_whose_block_is_left_in_a_step_is_closed_right_after_it() -> None:
    """By an observer here; a finalizer does the same, and nothing else would close it."""
    ends: Ends = open_channel(2)
    send, receive = ends
    send.send_nowait(1)

    def observer(event: PrimitiveEvent) -> None:
        send.__exit__(None, None, None)

    with observe(observer):
        assert receive.receive_nowait() == 1
    assert send.closed
    with pytest.raises(trio.EndOfChannel):
        receive.receive_nowait()

"""The ends of a channel: every schedule of a few tasks, any of them cancelled, and ends that close meanwhile."""

from __future__ import annotations

from functools import partial

import trio
from trio.lowlevel import checkpoint

from structsync import ReceivingEnd, SendingEnd, open_channel
from structsync.testing import ExploredRun

from .sweeping import swept, together


class Ledger:
    """What was sent and what was received, by what the calls said."""

    def __init__(self) -> None:
        self.sender: SendingEnd[int]
        self.receiver: ReceivingEnd[int]
        self.sender, self.receiver = open_channel(1)
        self.sent: list[int] = []
        self.received: list[int] = []
        self.ended = 0

    async def send(self, end: SendingEnd[int], item: int) -> None:
        """Send an item and close, whatever comes."""
        with end:
            try:
                await end.send(item)
            except trio.BrokenResourceError:  # who receives was cancelled
                return
            self.sent.append(item)

    async def receive(self, end: ReceivingEnd[int]) -> None:
        """Receive until the other side is closed, and close."""
        with end:
            async for item in end:
                self.received.append(item)
            self.ended += 1


@swept(least=50)
async def test_what_is_sent_is_received_once_and_then_it_ends(x: ExploredRun, tasks: int) -> None:
    """Each sender has an end of its own; the last one that closes ends it for the receiver."""
    ledger = Ledger()
    senders = [(ledger.sender.clone(), number) for number in range(tasks - 1)]
    ledger.sender.close()
    await together(
        partial(ledger.receive, ledger.receiver), *[partial(ledger.send, *one) for one in senders]
    )
    if ledger.ended:
        if sorted(ledger.received) != sorted(ledger.sent):
            x.fail(f"sent {ledger.sent}, received {ledger.received}")
    elif not {*ledger.received} <= {*ledger.sent}:
        x.fail(f"sent {ledger.sent}, received {ledger.received}")


@swept(least=50, long=True)
async def test_each_item_is_received_by_one_clone(x: ExploredRun, tasks: int) -> None:
    ledger = Ledger()
    receivers = [ledger.receiver.clone() for _ in range(tasks - 1)]
    ledger.receiver.close()

    async def send_all() -> None:
        with ledger.sender:
            for item in range(2):
                await ledger.send(ledger.sender.clone(), item)

    await together(send_all, *[partial(ledger.receive, one) for one in receivers])
    if ledger.ended and sorted(ledger.received) != sorted(ledger.sent):
        x.fail(f"sent {ledger.sent}, received {ledger.received}")


@swept(least=30, long=True)
async def test_an_end_that_is_closed_tells_those_who_wait_by_it_alone(
    x: ExploredRun, tasks: int
) -> None:
    ledger = Ledger()
    closes, stays = ledger.receiver, ledger.receiver.clone()
    told: list[str] = []

    async def close() -> None:
        await checkpoint()
        closes.close()

    async def wait_by(end: ReceivingEnd[int]) -> None:
        try:
            ledger.received.append(await end.receive())
        except trio.ClosedResourceError:
            told.append("closed")
            if end is stays:
                x.fail("the end that stays open was told")

    async def send() -> None:
        await ledger.sender.send(1)
        ledger.sent.append(1)

    with trio.move_on_after(10):
        waiting = [partial(wait_by, closes), partial(wait_by, stays)][: tasks - 1]
        await together(close, send, *waiting)
    left = ledger.sender.statistics().items
    if len(ledger.received) + left != len(ledger.sent):
        x.fail(f"sent {ledger.sent}, received {ledger.received}, left {left}")

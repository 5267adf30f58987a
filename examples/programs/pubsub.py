"""A chat room: all members get every message from the moment they join until they leave, in the same order.

Each has a subscription of their own and may be two messages behind; the sender of the next one waits for them.
No sender waits for a member who has left: that is what the ``with`` is for.

Prints::

    anna heard hello, is anyone there, bye
    ben heard hello
"""

from collections.abc import Awaitable, Callable

import trio
from trio.testing import MockClock

from structsync import Broadcast
from structsync.testing import ExploredRun, explore


class Room:
    """Messages, and the members who hear them."""

    def __init__(self, behind: int) -> None:
        self.messages = Broadcast[str](behind, slow="wait")

    async def listen(
        self,
        hear: Callable[[str], Awaitable[None]],
        most: int,
        task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
    ) -> None:
        """Hear so many messages at most, and go."""
        with self.messages.subscribe() as subscription:
            task_status.started()
            async for message in subscription:
                await hear(message)
                most -= 1
                if not most:
                    return


async def main() -> None:
    room = Room(behind=2)
    heard: dict[str, list[str]] = {"anna": [], "ben": []}

    async def visit(
        name: str, most: int, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
    ) -> None:
        async def hear(message: str) -> None:
            heard[name].append(message)
            await trio.sleep(1)

        await room.listen(hear, most, task_status)

    async with trio.open_nursery() as nursery:
        await nursery.start(visit, "anna", 9)
        await nursery.start(visit, "ben", 1)
        for message in ("hello", "is anyone there", "bye"):
            await room.messages.put(message)
        room.messages.complete()
    for name, messages in heard.items():
        print(name, "heard", ", ".join(messages))


@explore(exhaustive=True, search="states")
async def test_no_message_is_missed_and_a_subscriber_that_leaves_holds_up_no_other(
    x: ExploredRun,
) -> None:
    said = ("one", "two")
    room = Room(behind=1)

    async def visit(most: int, task_status: trio.TaskStatus[None]) -> None:
        heard: list[str] = []

        async def hear(message: str) -> None:
            await trio.lowlevel.checkpoint()
            heard.append(message)

        with trio.CancelScope() as scope:
            await room.listen(hear, most, task_status)
        if not scope.cancelled_caught:
            assert heard == [*said[:most]]

    async def stay(task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        await visit(9, task_status)

    async def go(task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        with x.not_cancelled():
            await visit(1, task_status)

    async with trio.open_nursery() as nursery:
        with x.not_cancelled():
            await nursery.start(stay)
            await nursery.start(go)
        for message in said:
            await room.messages.put(message)
        room.messages.complete()


if __name__ == "__main__":
    trio.run(main, clock=MockClock(autojump_threshold=0))

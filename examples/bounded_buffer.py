"""A bounded buffer by guards: the functions do the work, and guards decide when they may run.

No task waits in a loop, and no task notifies another. A producer that is cancelled while it waits has put
nothing.

Prints::

    3 wait to put c, d and e
    the producer of d gives up
    got a, b, c, e
"""

from collections import deque

import trio
from trio.testing import wait_all_tasks_blocked

from structsync import Monitor, entry


class BoundedBuffer(Monitor):
    def __init__(self, room: int) -> None:
        super().__init__()
        self.room = room
        self.items = deque[str]()

    @entry(when=lambda self: len(self.items) < self.room)
    def put(self, item: str) -> None:
        self.items.append(item)

    @entry(when=lambda self: self.items)
    def get(self) -> str:
        return self.items.popleft()


async def main() -> None:
    buffer = BoundedBuffer(2)
    scopes = {item: trio.CancelScope() for item in "abcde"}

    async def produce(item: str) -> None:
        with scopes[item]:
            await buffer.put(item)

    async with trio.open_nursery() as nursery:
        for item in scopes:
            nursery.start_soon(produce, item)
            await wait_all_tasks_blocked()
        print(buffer.statistics().tasks_waiting, "wait to put c, d and e")
        scopes["d"].cancel()
        await wait_all_tasks_blocked()
        print("the producer of d gives up")
        got = [await buffer.get() for _ in range(4)]
        print("got", ", ".join(got))


trio.run(main)

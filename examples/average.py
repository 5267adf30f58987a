"""The average of numbers in three other processes: asynchronous calls with one callback, and synchronous ones.

The forms of Silvestre and others 2010: a function that calls another process and returns at once, with a callback
and without one, is a function around ``session.start``; a call that waits suspends its task, and no other.

Prints::

    the average of 3 values is 20
    the first one has 11 now
    no task has asked what became of the last call, and it was carried out: 12
"""

import sys
import tempfile
from pathlib import Path
from typing import Protocol

import trio

from structsync.distributed import RemoteCall, open_session


class Peer(Protocol):
    async def get_value(self) -> int: ...
    async def set_value(self, value: int) -> None: ...


class Holder:
    def __init__(self, value: int) -> None:
        self.value = value

    async def get_value(self) -> int:
        return self.value

    async def set_value(self, value: int) -> None:
        self.value = value


async def child(url: str, number: int) -> None:
    async with open_session(url, namespace="example") as session:
        async with session.host(f"peer {number}", Holder(10 * number)):
            await trio.sleep_forever()


async def parent(url: str) -> None:
    async with open_session(url, namespace="example") as session, trio.open_nursery() as nursery:
        for number in (1, 2, 3):
            nursery.start_soon(trio.run_process, [sys.executable, __file__, url, str(number)])
        peers = [session.connect(f"peer {number}", Peer) for number in (1, 2, 3)]

        # Asynchronous, with a callback: the values come in any order, and no task waits for each of them.
        values: list[int] = []
        all_are_here = trio.Event()

        def received(call: RemoteCall[int]) -> None:
            values.append(call.result())
            if len(values) == len(peers):
                print(f"the average of {len(values)} values is {sum(values) // len(values)}")
                all_are_here.set()

        def send_request(peer: Peer) -> RemoteCall[int]:
            return session.start(peer.get_value).then(received)

        for peer in peers:
            send_request(peer)
        await all_are_here.wait()

        # Synchronous: read, compute, write.
        first = peers[0]
        await first.set_value(await first.get_value() + 1)
        print(f"the first one has {await first.get_value()} now")

        # Asynchronous, without a callback. Calls of one task that are awaited are in order; this one is not awaited.
        session.start(first.set_value, 12)
        while (value := await first.get_value()) != 12:
            pass
        print(f"no task has asked what became of the last call, and it was carried out: {value}")
        nursery.cancel_scope.cancel()


if len(sys.argv) > 1:
    trio.run(child, sys.argv[1], int(sys.argv[2]))
elif sys.platform != "linux":
    sys.exit("sqlite:// needs Linux")
else:
    with tempfile.TemporaryDirectory() as folder:
        trio.run(parent, f"sqlite://{Path(folder).resolve()}/calls.db")

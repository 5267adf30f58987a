"""A pipeline of three stages on real sockets: lines arrive, workers answer them, answers are sent in batches.

A semaphore limits the number of clients. A buffer between two stages holds a few items; while it is full, the
stage before it waits, and so do the clients, so memory does not fill up. The last stage writes its answers in
batches: 4 answers, or what there is after 10 ms. When the clients have gone, each stage tells the next that
nothing more will come.

Prints::

    3 clients had 30 answers, each its own
    never more than 2 clients at a time
    never more than 4 lines between two stages, or 4 answers in a batch
    every stage has ended, and no item is left
"""

from collections.abc import Awaitable, Callable
from functools import partial

import trio

from structsync import Buffer, Semaphore
from structsync.testing import ExploredRun, explore

CLIENTS, LINES, SEATS, ROOM = 3, 10, 2, 4


class Pipeline:
    """The stages, and what they have seen."""

    def __init__(self, seats: int, workers: int, room: int) -> None:
        self.seats, self.workers, self.room = Semaphore(seats, max_value=seats), workers, room
        self.lines = Buffer[tuple[trio.abc.Stream, bytes]](room, name="lines")
        self.answers = Buffer[tuple[trio.abc.Stream, bytes]](room, name="answers")
        self.clients = self.most_clients = self.most_lines = self.largest_batch = 0

    async def run(self, accept: Callable[[trio.Nursery], Awaitable[None]]) -> None:
        """Run all stages until no client is accepted any more, and those accepted have gone."""
        async with trio.open_nursery() as stages:
            stages.start_soon(self.work_all)
            stages.start_soon(self.write)
            async with trio.open_nursery() as readers:
                await accept(readers)
            self.lines.complete()

    async def read(self, stream: trio.abc.Stream) -> None:
        """First stage, once for each client: take its lines apart."""
        async with stream, self.seats:
            self.clients += 1
            self.most_clients = max(self.most_clients, self.clients)
            rest = b""
            while chunk := await stream.receive_some():
                *whole, rest = (rest + chunk).split(b"\n")
                for line in whole:
                    await self.lines.put((stream, line))
                    self.most_lines = max(self.most_lines, self.lines.statistics().items)
            self.clients -= 1

    async def work(self) -> None:
        """Second stage, one worker: the lines of all clients, one by one."""
        async for stream, line in self.lines:
            await trio.lowlevel.checkpoint()
            await self.answers.put((stream, line.upper()))

    async def work_all(self) -> None:
        async with trio.open_nursery() as nursery:
            for _ in range(self.workers):
                nursery.start_soon(self.work)
        self.answers.complete()

    async def write(self) -> None:
        """Third stage: the answers of a moment, each client's in one piece."""
        while True:
            try:
                batch = await self.answers.get_batch(self.room, max_wait=0.01)
            except trio.EndOfChannel:
                return
            self.largest_batch = max(self.largest_batch, len(batch))
            for client in dict.fromkeys(stream for stream, _ in batch):
                mine = [line + b"\n" for stream, line in batch if stream is client]
                try:
                    await client.send_all(b"".join(mine))
                except (trio.BrokenResourceError, trio.ClosedResourceError):
                    pass  # the client has gone, and its answers are not needed


async def call(port: int, number: int, heard: list[list[str]]) -> None:
    """One client: send all lines, and read as many answers."""
    async with await trio.open_tcp_stream("127.0.0.1", port) as stream:
        text = "".join(f"client {number} line {at}\n" for at in range(LINES))
        await stream.send_all(text.encode())
        answer = b""
        while answer.count(b"\n") < LINES:
            answer += await stream.receive_some()
    heard.append(answer.decode().splitlines())


async def main() -> None:
    pipeline, heard = Pipeline(SEATS, workers=2, room=ROOM), list[list[str]]()
    (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    port: int = listener.socket.getsockname()[1]

    async def accept(readers: trio.Nursery) -> None:
        async with trio.open_nursery() as listening:
            serve = partial(trio.serve_listeners, handler_nursery=readers)
            listening.start_soon(serve, pipeline.read, [listener])
            async with trio.open_nursery() as clients:
                for number in range(CLIENTS):
                    clients.start_soon(call, port, number, heard)
            listening.cancel_scope.cancel()  # it listens forever

    with trio.fail_after(30):
        await pipeline.run(accept)
    whole = {tuple(f"CLIENT {who} LINE {at}" for at in range(LINES)) for who in range(CLIENTS)}
    if {tuple(sorted(one)) for one in heard} == whole:
        print(f"{CLIENTS} clients had {CLIENTS * LINES} answers, each its own")
    print(f"never more than {pipeline.most_clients} clients at a time")
    if pipeline.most_lines <= ROOM and pipeline.largest_batch <= ROOM:
        print(f"never more than {ROOM} lines between two stages, or {ROOM} answers in a batch")
    left = pipeline.lines.statistics().items + pipeline.answers.statistics().items
    print(f"every stage has ended, and {left or 'no'} item is left")


class Client(trio.abc.Stream):
    """One for the exploration, that sends a line, and goes at once or when it has its answer."""

    def __init__(self, *, waits: bool) -> None:
        self.to_send = [b"line\n"]
        self.answered = trio.Event()
        self.waits = waits
        self.is_closed = False

    async def receive_some(self, max_bytes: int | None = None) -> bytes:
        if self.to_send:
            await trio.lowlevel.checkpoint()
            return self.to_send.pop()
        if self.waits:
            await self.answered.wait()
        return b""

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        await trio.lowlevel.checkpoint()
        if self.is_closed:
            raise trio.ClosedResourceError
        assert bytes(data) == b"LINE\n"
        self.answered.set()

    async def wait_send_all_might_not_block(self) -> None:
        await trio.lowlevel.checkpoint()

    async def aclose(self) -> None:
        self.is_closed = True
        await trio.lowlevel.checkpoint()


# In trio's own order: any order says the same, and takes 20 s instead of 1.
@explore(exhaustive=True, search="states", order="trio", cancels=0)
async def test_every_stage_ends_also_where_a_client_does_not_wait(x: ExploredRun) -> None:
    pipeline = Pipeline(seats=2, workers=1, room=1)
    clients = Client(waits=True), Client(waits=False)

    async def accept(readers: trio.Nursery) -> None:
        for client in clients:
            readers.start_soon(pipeline.read, client)

    await pipeline.run(accept)
    assert clients[0].answered.is_set()
    assert all(client.is_closed for client in clients)
    assert pipeline.seats.value == 2


if __name__ == "__main__":
    trio.run(main)

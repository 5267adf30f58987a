"""A pipeline of three stages on real sockets: lines come in, workers answer them, answers go out.

A buffer between two stages holds a few items. While it is full the stage before it waits, and with it the
clients: no memory fills up. The last stage writes its answers in batches: what is there after 10 ms,
or 4 answers. When the clients have gone, each stage says to the next that nothing more will come.

Prints::

    3 clients had 30 answers, each its own
    never more than 4 lines between two stages, or 4 answers in a batch
    every stage has ended, and no item is left
"""

import trio

import structsync

CLIENTS, LINES, WORKERS, ROOM = 3, 10, 2, 4


class Pipeline:
    """The stages, and what they have seen."""

    def __init__(self) -> None:
        self.lines = structsync.Buffer[tuple[trio.SocketStream, bytes]](ROOM, name="lines")
        self.answers = structsync.Buffer[tuple[trio.SocketStream, bytes]](ROOM, name="answers")
        self.most_lines = self.largest_batch = self.gone = 0

    async def read(self, stream: trio.SocketStream) -> None:
        """First stage, once for each client: take its lines apart."""
        rest = b""
        async for chunk in stream:
            *whole, rest = (rest + chunk).split(b"\n")
            for line in whole:
                await self.lines.put((stream, line))
                self.most_lines = max(self.most_lines, self.lines.statistics().items)
        self.gone += 1
        if self.gone == CLIENTS:
            self.lines.complete()

    async def work(self) -> None:
        """Second stage, one worker: the lines of all clients, one by one."""
        async for stream, line in self.lines:
            await trio.lowlevel.checkpoint()
            await self.answers.put((stream, line.upper()))

    async def work_all(self) -> None:
        async with trio.open_nursery() as nursery:
            for _ in range(WORKERS):
                nursery.start_soon(self.work)
        self.answers.complete()

    async def write(self) -> None:
        """Third stage: the answers of a moment, each client's in one piece."""
        while True:
            try:
                batch = await self.answers.get_batch(ROOM, max_wait=0.01)
            except trio.EndOfChannel:
                return
            self.largest_batch = max(self.largest_batch, len(batch))
            for client in dict.fromkeys(stream for stream, _ in batch):
                mine = [line + b"\n" for stream, line in batch if stream is client]
                await client.send_all(b"".join(mine))


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
    pipeline, heard = Pipeline(), list[list[str]]()
    async with trio.open_nursery() as nursery:
        (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
        port = listener.socket.getsockname()[1]
        async with trio.open_nursery() as stages:
            stages.start_soon(pipeline.work_all)
            stages.start_soon(pipeline.write)
            nursery.start_soon(trio.serve_listeners, pipeline.read, [listener])
            for number in range(CLIENTS):
                stages.start_soon(call, port, number, heard)
        nursery.cancel_scope.cancel()  # the server listens forever
    whole = {tuple(f"CLIENT {who} LINE {at}" for at in range(LINES)) for who in range(CLIENTS)}
    if {tuple(sorted(one)) for one in heard} == whole:
        print(f"{CLIENTS} clients had {CLIENTS * LINES} answers, each its own")
    if pipeline.most_lines <= ROOM and pipeline.largest_batch <= ROOM:
        print(f"never more than {ROOM} lines between two stages, or {ROOM} answers in a batch")
    left = pipeline.lines.statistics().items + pipeline.answers.statistics().items
    print(f"every stage has ended, and {left or 'no'} item is left")


trio.run(main)

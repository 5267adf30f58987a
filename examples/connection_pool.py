"""A pool of connections to a real server: each is lent to one task at a time, and checked before it is lent again.

Six requests share two connections. Then the server closes one of them, and the check notices before the next
request does. Then a request gives up half-way: its answer, which is still to come, must not be taken for that
of the next request, so its connection is not kept.

Prints::

    6 answers over 2 connections
    the server has hung up on one: HELLO AGAIN over the other
    a request has given up: HELLO AT LAST over connection 3
    every connection is closed
"""

import trio

import structsync

Pool = structsync.ResourcePool[trio.SocketStream]


class Server:
    """Answers each line in capital letters, but has no answer to some, and hangs up after others."""

    def __init__(self) -> None:
        self.accepted = 0
        self.open = structsync.Value(0)

    async def serve(self, stream: trio.SocketStream) -> None:
        self.accepted += 1
        self.open.value += 1
        async with stream:
            async for line in stream:
                if line != b"riddle":
                    await stream.send_all(line.upper())
                if line == b"bye":
                    break
        self.open.value -= 1


async def is_alive(stream: trio.SocketStream) -> bool:
    """Say whether an idle connection can be used: nothing comes from a server that was asked nothing."""
    return not stream.socket.is_readable()


async def ask(pool: Pool, question: str) -> str:
    async with pool.item() as stream:
        await stream.send_all(question.encode())
        return (await stream.receive_some()).decode()


async def ask_six(pool: Pool) -> int:
    answers: list[str] = []

    async def ask_one(number: int) -> None:
        answers.append(await ask(pool, f"hello {number}"))

    async with trio.open_nursery() as nursery:
        for number in range(6):
            nursery.start_soon(ask_one, number)
    return len(set(answers))


async def main() -> None:
    server = Server()
    listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
    port = listeners[0].socket.getsockname()[1]

    async def connect() -> trio.SocketStream:
        return await trio.open_tcp_stream("127.0.0.1", port)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(trio.serve_listeners, server.serve, listeners)
        close = trio.SocketStream.aclose
        async with Pool(connect, 2, check=is_alive, close=close, name="server") as pool:
            print(f"{await ask_six(pool)} answers over {server.accepted} connections")

            await ask(pool, "bye")
            await server.open.wait_for(lambda number: number == 1)
            answer = await ask(pool, "hello again")
            print(f"the server has hung up on one: {answer} over the other")

            with trio.move_on_after(0.1):
                await ask(pool, "riddle")
            answer = await ask(pool, "hello at last")
            print(f"a request has given up: {answer} over connection {server.accepted}")
        await server.open.wait_for(lambda number: number == 0)
        print("every connection is closed")
        nursery.cancel_scope.cancel()


trio.run(main)

"""A server on real sockets that serves two clients at a time, first come first served.

Every connection waits for a seat inside trio's event loop, so a client in the queue costs a parked task
and blocks nothing. ``serve_tcp`` alone serves all clients at once; trio.Semaphore would do for the
limit, but would not tell which clients sit, close with the server, or report a seat that was not released.

Prints::

    2 seated, 3 queued
    HELLO 1, HELLO 2, HELLO 3, HELLO 4, HELLO 5
    at most 2 seated at once
    the queue kept its order
"""

import trio

import structsync

SEATS = 2
CLIENTS = 5


class Greeter:
    """Answers one line per connection, in capital letters."""

    def __init__(self, seats: structsync.Semaphore) -> None:
        self.seats = seats
        self.taken: list[int] = []  # seats in use after each grant
        self.asked: list[object] = []
        self.seated: list[object] = []
        self.queue_is_long = trio.Event()

    def note(self, event: structsync.PrimitiveEvent) -> None:
        if event.kind == "requested":
            self.asked.append(event.task)
        elif event.kind == "granted":
            self.seated.append(event.task)
            self.taken.append(SEATS - self.seats.value)
        if self.seats.statistics().tasks_waiting == CLIENTS - SEATS:
            self.queue_is_long.set()

    async def serve(self, stream: trio.SocketStream) -> None:
        async with stream, self.seats:
            await self.queue_is_long.wait()  # so that the output is the same each time
            await stream.send_all((await stream.receive_some()).upper())


async def client(number: int, port: int, answers: list[str]) -> None:
    async with await trio.open_tcp_stream("127.0.0.1", port) as stream:
        await stream.send_all(b"hello %d" % number)
        answers.append((await stream.receive_some()).decode())


async def main() -> None:
    answers: list[str] = []
    async with structsync.open_scope() as scope:
        greeter = Greeter(scope.own(structsync.Semaphore(SEATS, max_value=SEATS)))
        listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
        port = listeners[0].socket.getsockname()[1]
        scope.start_soon(trio.serve_listeners, greeter.serve, listeners)
        with structsync.observe(greeter.note), trio.fail_after(30):
            async with trio.open_nursery() as clients:
                for number in range(1, CLIENTS + 1):
                    clients.start_soon(client, number, port, answers)
                await greeter.queue_is_long.wait()
                waiting = greeter.seats.statistics().tasks_waiting
                print(f"{greeter.taken[-1]} seated, {waiting} queued")
        scope.cancel_scope.cancel()
    print(", ".join(sorted(answers)))
    print(f"at most {max(greeter.taken)} seated at once")
    print("the queue kept its order" if greeter.seated == greeter.asked else "a client overtook")


trio.run(main)

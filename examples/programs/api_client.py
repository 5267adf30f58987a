"""A client of a service that limits calls per second and calls at a time; refused calls are repeated.

The wait for the rate is outside: a task that waits there has no connection that another could use. A second try is a
call like any other, so it waits for the rate, too.

Prints::

    6 answers by 7 calls in 4.5 s
    never more than 2 in a second, and 3 at a time
"""

from collections.abc import Awaitable, Callable

import trio
from trio.testing import MockClock

from structsync import RateLimiter, Semaphore
from structsync.testing import ExploredRun, explore


class TooManyRequests(Exception):
    """The service has refused a call."""


class Client:
    """Calls a service as often as it allows."""

    def __init__(
        self, send: Callable[[int], Awaitable[str]], rate: RateLimiter, connections: Semaphore
    ) -> None:
        self.send, self.rate, self.connections = send, rate, connections

    async def call(self, number: int) -> str:
        while True:
            await self.rate.acquire()
            async with self.connections:
                try:
                    return await self.send(number)
                except TooManyRequests:
                    pass


class Service:
    """Refuses the first call of all, and notes the others."""

    def __init__(self, takes: float) -> None:
        self.takes = takes
        self.times: list[float] = []
        self.now = self.most = 0

    async def answer(self, number: int) -> str:
        is_refused = not self.times
        self.times.append(trio.current_time())
        self.now += 1
        self.most = max(self.most, self.now)
        try:
            await trio.sleep(self.takes)
            if is_refused:
                raise TooManyRequests
            return f"answer {number}"
        finally:
            self.now -= 1

    def calls_of_a_second(self) -> int:
        """Return how many calls came within one second at most."""
        return max(sum(0 <= other - one < 1 for other in self.times) for one in self.times)


async def main() -> None:
    service = Service(takes=1.5)
    client = Client(service.answer, RateLimiter(2, burst=1), Semaphore(3, max_value=3))
    answers: list[str] = []
    began = trio.current_time()

    async def ask(number: int) -> None:
        answers.append(await client.call(number))

    async with trio.open_nursery() as nursery:
        for number in range(6):
            nursery.start_soon(ask, number)
            await trio.lowlevel.checkpoint()
    seconds = trio.current_time() - began
    print(f"{len(answers)} answers by {len(service.times)} calls in {seconds:.1f} s")
    print(
        f"never more than {service.calls_of_a_second()} in a second, and {service.most} at a time"
    )


@explore(exhaustive=True)
async def test_the_service_is_never_asked_too_often(x: ExploredRun) -> None:
    service = Service(takes=0.5)
    client = Client(service.answer, RateLimiter(1, burst=1), Semaphore(1, max_value=1))

    async def ask(number: int) -> None:
        with trio.CancelScope():
            assert await client.call(number) == f"answer {number}"

    async with trio.open_nursery() as nursery:
        nursery.start_soon(ask, 1)
        nursery.start_soon(ask, 2)
    assert service.most <= 1
    assert not service.times or service.calls_of_a_second() == 1


if __name__ == "__main__":
    trio.run(main, clock=MockClock(autojump_threshold=0))

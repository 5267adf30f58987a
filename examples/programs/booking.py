"""Seats in a theatre: adjacent seats are booked together or not at all, and other bookings do not wait.

A lock for each seat, there as long as a task needs it. Two that want the same seats in another order do not
wait for each other forever, because all locks of a booking are taken in one step.

Prints::

    anna has row 1: 4, 5
    ben is too late for row 1: 5, 6
    carl has row 2: 1
    0 locks are left
"""

from collections.abc import Awaitable, Callable

import trio

from structsync import LockMap, acquire_all
from structsync.testing import ExploredRun, explore

Seat = tuple[int, int]


class Theatre:
    """Which guest has which seat."""

    def __init__(self, pay: Callable[[], Awaitable[None]]) -> None:
        self.pay = pay
        self.booked: dict[Seat, str] = {}
        self.locks = LockMap[Seat](name="seats")

    async def book(self, name: str, *seats: Seat) -> bool:
        """Book all of these seats, if they are free; return whether it was possible."""
        async with acquire_all(*map(self.locks.claim, seats)):
            if any(seat in self.booked for seat in seats):
                return False
            await self.pay()
            self.booked |= dict.fromkeys(seats, name)
            return True


async def main() -> None:
    theatre = Theatre(trio.lowlevel.checkpoint)
    lines: list[str] = []

    async def visit(name: str, row: int, *numbers: int) -> None:
        has = await theatre.book(name, *[(row, number) for number in numbers])
        seats = f"row {row}: {', '.join(map(str, numbers))}"
        lines.append(f"{name} {'has' if has else 'is too late for'} {seats}")

    async with trio.open_nursery() as nursery:
        for name, row, numbers in (("anna", 1, (4, 5)), ("ben", 1, (5, 6)), ("carl", 2, (1,))):
            nursery.start_soon(visit, name, row, *numbers)
            await trio.lowlevel.checkpoint()
    print(*sorted(lines), sep="\n")
    print(f"{len(theatre.locks)} locks are left")


@explore(exhaustive=True)
async def test_a_seat_is_sold_once_and_no_task_waits_forever(x: ExploredRun) -> None:
    theatre = Theatre(trio.lowlevel.checkpoint)
    left, right = (1, 1), (1, 2)
    sold: list[str] = []

    async def visit(name: str, *seats: Seat) -> None:
        with trio.CancelScope():
            if await theatre.book(name, *seats):
                sold.append(name)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(visit, "anna", left, right)
        nursery.start_soon(visit, "ben", right, left)
    assert len(sold) <= 1
    assert len(theatre.locks) == 0


if __name__ == "__main__":
    trio.run(main)

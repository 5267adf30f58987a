"""An elevator: a monitor says when a passenger may enter, may leave, and when the elevator may move.

Each of the three is a method with its guard, and no method knows of the others. The elevator goes to the nearest
floor where it has something to do. A passenger who gives up is forgotten, or it would stop there forever, for no
passenger.

Prints::

    floor 0: anna gets in
    floor 0: ben gets in
    floor 2: ben gets out
    floor 3: anna gets out
    floor 3: carl gets in
    floor 0: carl gets out
"""

from collections.abc import Callable

import trio
from trio.testing import wait_all_tasks_blocked

from structsync import Monitor, entry
from structsync.testing import ExploredRun, explore


class Elevator(Monitor):
    """One cabin with room for some."""

    def __init__(self, room: int, tell: Callable[[str], None]) -> None:
        super().__init__()
        self.room, self.tell = room, tell
        self.floor = 0
        self.waiting: dict[str, int] = {}  # at which floor
        self.aboard: dict[str, int] = {}  # to which floor

    def has_to_stop(self, floor: int) -> bool:
        gets_in = floor in self.waiting.values() and len(self.aboard) < self.room
        return gets_in or floor in self.aboard.values()

    @entry
    def call(self, who: str, start: int) -> None:
        self.waiting[who] = start

    @entry
    def step_in(self, who: str, end: int) -> None:
        del self.waiting[who]
        self.aboard[who] = end
        self.tell(f"floor {self.floor}: {who} gets in")

    @step_in.when
    def step_in_when(self, who: str, end: int) -> bool:
        return self.waiting[who] == self.floor and len(self.aboard) < self.room

    @entry
    def step_out(self, who: str) -> None:
        del self.aboard[who]
        self.tell(f"floor {self.floor}: {who} gets out")

    @step_out.when
    def step_out_when(self, who: str) -> bool:
        return self.aboard[who] == self.floor

    @entry
    def move(self) -> None:
        stops = filter(self.has_to_stop, {*self.waiting.values(), *self.aboard.values()})
        self.floor = min(stops, key=lambda floor: abs(floor - self.floor))

    @move.when
    def move_when(self) -> bool:
        wanted = {*self.waiting.values(), *self.aboard.values()}
        return any(map(self.has_to_stop, wanted)) and not self.has_to_stop(self.floor)

    @entry
    def forget(self, who: str) -> None:
        self.waiting.pop(who, None)
        self.aboard.pop(who, None)

    async def ride(self, who: str, start: int, end: int) -> None:
        try:
            await self.call(who, start)
            await self.step_in(who, end)
            await self.step_out(who)
        finally:
            with trio.CancelScope(shield=True):
                await self.forget(who)

    async def run(self) -> None:
        while True:
            await self.move()


async def main() -> None:
    elevator = Elevator(2, print)
    async with trio.open_nursery() as nursery:
        async with trio.open_nursery() as passengers:
            for who, start, end in (("anna", 0, 3), ("ben", 0, 2), ("carl", 3, 0)):
                passengers.start_soon(elevator.ride, who, start, end)
                await wait_all_tasks_blocked()
            nursery.start_soon(elevator.run)
        nursery.cancel_scope.cancel()


@explore(exhaustive=True, order="trio")  # any order says the same, and takes 4 s instead of 1
async def test_all_passengers_arrive_even_if_one_gives_up(x: ExploredRun) -> None:
    elevator = Elevator(1, tell=lambda text: None)
    x.always(lambda: len(elevator.aboard) <= elevator.room, "the cabin is never too full")

    async def run() -> None:
        with x.not_cancelled():
            await elevator.run()

    async def anna() -> None:
        with trio.CancelScope():
            await elevator.ride("anna", 0, 1)

    async def ben() -> None:
        with x.not_cancelled():
            await elevator.ride("ben", 1, 0)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(run)
        async with trio.open_nursery() as passengers:
            passengers.start_soon(anna)
            passengers.start_soon(ben)
        nursery.cancel_scope.cancel()


if __name__ == "__main__":
    trio.run(main)

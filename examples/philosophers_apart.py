"""Five philosophers in five processes: each takes both forks in one step, or none, so they do not deadlock.

A fork is an object like any other, and each philosopher hosts one: it can be taken while it is on the table, by the
philosopher on either side. That these two calls start together is a rule of another process, the table. A philosopher
whose neighbour eats holds nothing meanwhile.

Prints::

    5 philosophers have eaten 3 times each
    no more than 2 have eaten at a time, and no fork was in two hands
"""

import sys
import tempfile
from pathlib import Path

import trio

from structsync import Monitor, entry
from structsync.distributed import open_session

SEATS, MEALS = 5, 3


class Fork(Monitor):
    def __init__(self) -> None:
        super().__init__()
        self.is_taken = False

    @entry(when=lambda self: not self.is_taken)
    async def take_to_the_left(self) -> None:
        self.is_taken = True

    @entry(when=lambda self: not self.is_taken)
    async def take_to_the_right(self) -> None:
        self.is_taken = True

    @entry
    async def put_back(self) -> None:
        self.is_taken = False


def fork(seat: int) -> str:
    return f"fork/{seat % SEATS}"


async def philosopher(url: str, seat: int) -> None:
    async with (
        open_session(url, namespace="example") as session,
        session.host(fork(seat), Fork(), ruled_by="table"),
    ):
        left, right = session.connect(fork(seat), Fork), session.connect(fork(seat + 1), Fork)
        for _ in range(MEALS):
            async with trio.open_nursery() as both:
                both.start_soon(left.take_to_the_left)
                both.start_soon(right.take_to_the_right)
            await trio.sleep(0.01)
            await left.put_back()
            await right.put_back()
        fed = session.latch("fed", SEATS)
        await fed.count_down()
        await fed.wait()


async def table(url: str) -> None:
    meals = [0] * SEATS
    hands: dict[str, int] = {}  # the holder of each fork that is taken
    most = 0

    def taken(name: str, seat: int) -> None:
        nonlocal most
        assert name not in hands, "a fork was in two hands"
        hands[name] = seat
        meals[seat] += name == fork(seat)
        holders = [*hands.values()]
        most = max(most, [holders.count(one) for one in range(SEATS)].count(2))

    async with open_session(url, namespace="example") as session:
        async with session.synchronizer("table") as ruled, trio.open_nursery() as nursery:
            forks = [ruled.stand_in(fork(seat), Fork) for seat in range(SEATS)]
            for seat, one in enumerate(forks):
                name, before = fork(seat), (seat - 1) % SEATS
                ruled.rules.atomic(
                    one.take_to_the_left, forks[(seat + 1) % SEATS].take_to_the_right
                )
                ruled.rules.trigger(one.take_to_the_left, lambda n=name, s=seat: taken(n, s))
                ruled.rules.trigger(one.take_to_the_right, lambda n=name, s=before: taken(n, s))
                ruled.rules.trigger(one.put_back, lambda n=name: hands.pop(n))
                nursery.start_soon(trio.run_process, [sys.executable, __file__, url, str(seat)])
    assert meals == [MEALS] * SEATS
    print(f"{SEATS} philosophers have eaten {MEALS} times each")
    assert most <= SEATS // 2
    print(f"no more than {SEATS // 2} have eaten at a time, and no fork was in two hands")


if len(sys.argv) > 1:
    trio.run(philosopher, sys.argv[1], int(sys.argv[2]))
elif sys.platform != "linux":
    sys.exit("sqlite:// needs Linux")
else:
    with tempfile.TemporaryDirectory() as folder:
        trio.run(table, f"sqlite://{Path(folder).resolve()}/table.db")

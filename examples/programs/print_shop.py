"""A print shop: a job takes all the machines that it needs at once, and releases each when it is done with it.

In whatever order jobs name their machines, they do not wait for each other in a circle. The printer is free again
while its first job is still being cut.

Prints::

    0 s: the flyer has printer and cutter
    1 s: the poster has the printer
    2 s: the flyer is cut
    2 s: the poster is printed
"""

from collections.abc import Awaitable, Callable

import trio
from trio.testing import MockClock

from structsync import Lock, acquire_all
from structsync.testing import ExploredRun, explore

Step = Callable[[], Awaitable[object]]


class PrintShop:
    """Two machines."""

    def __init__(self) -> None:
        self.printer, self.cutter = Lock(name="printer"), Lock(name="cutter")

    async def print_only(self, run: Step) -> None:
        async with self.printer:
            await run()

    async def print_and_cut(self, run: Step, cut: Step) -> None:
        printer = self.printer.claim()
        async with acquire_all(printer, self.cutter.claim()) as machines:
            await run()
            machines.release(printer)
            await cut()

    async def cut_and_print(self, cut: Step, run: Step) -> None:
        cutter = self.cutter.claim()
        async with acquire_all(cutter, self.printer.claim()) as machines:
            await cut()
            machines.release(cutter)
            await run()


async def main() -> None:
    shop, began = PrintShop(), trio.current_time()
    lines: list[str] = []

    def tell(text: str) -> None:
        lines.append(f"{trio.current_time() - began:.0f} s: {text}")

    async def print_flyer() -> None:
        tell("the flyer has printer and cutter")
        await trio.sleep(1)

    async def cut_flyer() -> None:
        await trio.sleep(1)
        tell("the flyer is cut")

    async def print_poster() -> None:
        tell("the poster has the printer")
        await trio.sleep(1)
        tell("the poster is printed")

    async with trio.open_nursery() as nursery:
        nursery.start_soon(shop.print_and_cut, print_flyer, cut_flyer)
        await trio.lowlevel.checkpoint()
        nursery.start_soon(shop.print_only, print_poster)
    print(*sorted(lines), sep="\n")


@explore(exhaustive=True)
async def test_a_machine_has_one_job_and_no_job_waits_forever(x: ExploredRun) -> None:
    shop = PrintShop()

    async def printing() -> None:
        with x.exclusive("the printer"):
            await trio.lowlevel.checkpoint()

    async def cutting() -> None:
        with x.exclusive("the cutter"):
            await trio.lowlevel.checkpoint()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(shop.print_and_cut, printing, cutting)
        nursery.start_soon(shop.cut_and_print, cutting, printing)


if __name__ == "__main__":
    trio.run(main, clock=MockClock(autojump_threshold=0))

"""trio_util.AsyncValue.wait_value(held_for=): not the most recent value is returned."""

import trio
from trio.testing import MockClock
from trio_util import AsyncValue


async def main() -> int:
    value = AsyncValue(1)
    found: list[int] = []

    async def waits() -> None:
        found.append(await value.wait_value(lambda number: number > 0, held_for=2))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(waits)
        await trio.sleep(1)
        value.value = 2
    return found[0]


if (found := trio.run(main, clock=MockClock(autojump_threshold=0))) != 2:
    raise SystemExit(f"shown: it is 2 for a second, and {found} is returned")

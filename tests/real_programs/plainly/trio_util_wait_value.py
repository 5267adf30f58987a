"""trio_util.AsyncValue.wait_value: not the value that triggered the wakeup is returned."""

import trio
from trio.testing import wait_all_tasks_blocked
from trio_util import AsyncValue


async def main() -> int:
    value = AsyncValue(0)
    found: list[int] = []

    async def waits() -> None:
        found.append(await value.wait_value(lambda number: number > 0))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(waits)
        await wait_all_tasks_blocked()
        value.value = 1
        value.value = 2
    return found[0]


if (found := trio.run(main)) != 1:
    raise SystemExit(f"shown: woken by 1, told {found}")

"""trio_util.AsyncValue.eventual_values(held_for=): a value comes that was not held."""

import trio
from trio.testing import MockClock, wait_all_tasks_blocked
from trio_util import AsyncValue


async def main() -> list[int]:
    value = AsyncValue(0)
    found: list[int] = []

    async def looks() -> None:
        async for number in value.eventual_values(lambda number: number > 0, held_for=1):
            found.append(number)  # noqa: PERF401 - each counts at once

    async with trio.open_nursery() as nursery:
        nursery.start_soon(looks)
        await wait_all_tasks_blocked()
        value.value = 1
        value.value = 0
        await trio.sleep(3)
        nursery.cancel_scope.cancel()
    return found


if found := trio.run(main, clock=MockClock(autojump_threshold=0)):
    raise SystemExit(f"shown: {found} came, and was held for no time at all")

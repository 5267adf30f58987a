"""Tasks that wait until a service has some state, and one that follows each change of it.

The service is ready only for a moment, and no task misses it: a wait returns the value that matched, even if
it has changed since. (With a flag and an ``Event`` the waiters find the next state.)

Prints::

    changed to connecting
    waited for ready, and it was ready; now it is busy
    changed to ready
    changed to busy
"""

import trio
from trio.testing import wait_all_tasks_blocked

import structsync


async def follow(changes: structsync.Changes[str]) -> None:
    async for state in changes:
        print(f"changed to {state}")
        if state == "busy":
            return


async def main() -> None:
    state = structsync.Value("starting")

    async def use() -> None:
        found = await state.wait_for(lambda name: name in ("ready", "failed"))
        print(f"waited for ready, and it was {found}; now it is {state.value}")

    async with trio.open_nursery() as nursery:
        changes = state.changes()
        nursery.start_soon(use)
        await wait_all_tasks_blocked()
        state.value = "connecting"
        print(f"changed to {await anext(changes)}")
        state.value = "ready"
        state.value = "busy"
        await wait_all_tasks_blocked()
        nursery.start_soon(follow, changes)


trio.run(main)

"""anyio.Condition: a cancelled waiter passes a notify_all() on to a task that began to wait only afterwards.

trio runs the tasks of a batch in any order, so it is tried often.
"""

import anyio
import trio
from trio.testing import wait_all_tasks_blocked

TIMES = 100


async def main() -> bool:
    condition = anyio.Condition()
    first = anyio.CancelScope()
    woken: list[str] = []

    async def is_cancelled() -> None:
        with first:
            async with condition:
                await condition.wait()

    async def waits_afterwards() -> None:
        async with condition:
            await condition.wait()
            woken.append("by no task")

    async with trio.open_nursery() as nursery:
        nursery.start_soon(is_cancelled)
        await wait_all_tasks_blocked()
        await condition.acquire()
        nursery.start_soon(waits_afterwards)
        await wait_all_tasks_blocked()  # for the lock: it does not wait for a notification yet
        first.cancel()
        condition.notify_all()
        condition.release()
        await wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()
    return bool(woken)


others = sum(trio.run(main) for _ in range(TIMES))
if others:
    raise SystemExit(
        f"shown: in {others} of {TIMES} runs a notify_all() woke who waited only afterwards"
    )

"""A notification that survives the cancellation of the task that got it.

``notify()`` moves the first waiter into the lock's queue, and there it is cancelled. With trio the
notification dies with it, and the second waiter sleeps although it was told that it may go (N1).
Ours passes it on in the same step.

Prints::

    trio: woken []
    structsync: woken ['second']
"""

import trio
from trio.testing import wait_all_tasks_blocked

import structsync


async def wait(
    name: str,
    condition: trio.Condition | structsync.Condition,
    scope: trio.CancelScope,
    woken: list[str],
) -> None:
    with scope:
        async with condition:
            await condition.wait()
            woken.append(name)


async def notify_and_cancel(condition: trio.Condition | structsync.Condition) -> list[str]:
    scopes = {"first": trio.CancelScope(), "second": trio.CancelScope()}
    woken: list[str] = []
    async with trio.open_nursery() as nursery:
        for name, scope in scopes.items():
            nursery.start_soon(wait, name, condition, scope, woken)
            await wait_all_tasks_blocked()  # "first" is first in the queue
        async with condition:
            condition.notify()
            scopes["first"].cancel()
        await wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()
    return woken


async def main() -> None:
    print("trio: woken", await notify_and_cancel(trio.Condition()))
    print("structsync: woken", await notify_and_cancel(structsync.Condition()))


trio.run(main)

"""trio.Condition: a waiter that is cancelled when it was notified takes the notification along."""

import trio
from trio.testing import wait_all_tasks_blocked


async def main() -> bool:
    condition = trio.Condition()
    items: list[str] = []

    async def take() -> None:
        async with condition:
            while not items:
                await condition.wait()
            items.pop()

    async def first(scope: trio.CancelScope) -> None:
        with scope:
            await take()

    with trio.move_on_after(1) as patience:
        async with trio.open_nursery() as nursery:
            scope = trio.CancelScope()
            nursery.start_soon(first, scope)
            await wait_all_tasks_blocked()
            nursery.start_soon(take)
            await wait_all_tasks_blocked()
            async with condition:
                items.append("an item")
                condition.notify()
                scope.cancel()
    return patience.cancelled_caught


if trio.run(main):
    raise SystemExit("shown: an item is there, and the second waiter sleeps")

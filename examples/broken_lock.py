"""Several conditions on one lock, whose owner exits without releasing it.

A queue has one lock and two conditions, "not full" and "not empty". A task that ends while it owns
the lock breaks it. trio tells the tasks that wait for the lock, and lets those that wait for its
conditions sleep until they are cancelled (here after a minute); then ``async with`` complains
about the lock that they do not own. Ours tells all of them at once.

Prints::

    trio: the lock: BrokenResourceError after 0 s
    trio: not full: RuntimeError after 60 s
    trio: not empty: RuntimeError after 60 s
    structsync: the lock: BrokenResourceError after 0 s
    structsync: not full: BrokenResourceError after 0 s
    structsync: not empty: BrokenResourceError after 0 s
"""

from collections.abc import Awaitable, Callable

import trio
from trio.testing import MockClock, wait_all_tasks_blocked

import structsync


async def wait_on(condition: trio.Condition | structsync.Condition) -> None:
    async with condition:
        await condition.wait()


async def show_which_hear(
    title: str,
    lock: trio.Lock | structsync.Lock,
    conditions: dict[str, trio.Condition | structsync.Condition],
) -> None:
    heard: dict[str, str] = {}
    started = trio.current_time()

    async def listen(name: str, wait: Callable[[], Awaitable[object]]) -> None:
        try:
            await wait()
        except (trio.BrokenResourceError, RuntimeError) as error:
            waited = trio.current_time() - started
            heard[name] = f"{type(error).__name__} after {waited:.0f} s"

    with trio.move_on_after(60):
        async with trio.open_nursery() as nursery:
            for name, condition in conditions.items():
                nursery.start_soon(listen, name, lambda on=condition: wait_on(on))
            await wait_all_tasks_blocked()
            nursery.start_soon(lock.acquire)  # a task that ends as the owner
            await wait_all_tasks_blocked()
            nursery.start_soon(listen, "the lock", lock.acquire)
    for name in ("the lock", *conditions):
        print(f"{title}: {name}: {heard[name]}")


async def main() -> None:
    theirs = trio.Lock()
    await show_which_hear(
        "trio", theirs, {name: trio.Condition(theirs) for name in ("not full", "not empty")}
    )
    ours = structsync.Lock()
    await show_which_hear(
        "structsync",
        ours,
        {name: structsync.Condition(ours) for name in ("not full", "not empty")},
    )


trio.run(main, clock=MockClock(autojump_threshold=0))

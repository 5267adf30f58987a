"""Which tasks hold a semaphore, which wait, and what happened in which order.

A trio.Semaphore knows how many tasks wait, but not which tasks hold its permits. structsync reports each step
to observers: a dozen lines record what a whole program holds.

Prints::

    trio: 1 waiting
    structsync: 1 waiting; held by left, right
    right     requested
    right     granted
    left      requested
    left      granted
    patient   requested
    left      released
    patient   granted
    right     released
    patient   released
"""

import trio
from trio.testing import wait_all_tasks_blocked

import structsync


async def hold(semaphore: trio.Semaphore | structsync.Semaphore, done: trio.Event) -> None:
    async with semaphore:
        await done.wait()


async def three_tasks(semaphore: trio.Semaphore | structsync.Semaphore, title: str) -> None:
    held: set[str] = set()
    steps: list[str] = []

    def note(event: structsync.PrimitiveEvent) -> None:
        name = event.task.name if event.task else "no task"
        steps.append(f"{name:<9} {event.kind}")
        if event.kind == "granted":
            held.add(name)
        elif event.kind == "released":
            held.discard(name)

    with structsync.observe(note):
        async with trio.open_nursery() as nursery:
            dones = {name: trio.Event() for name in ("right", "left", "patient")}
            for name, done in dones.items():
                nursery.start_soon(hold, semaphore, done, name=name)
                await wait_all_tasks_blocked()
            holders = f"; held by {', '.join(sorted(held))}" if held else ""
            print(f"{title}: {semaphore.statistics().tasks_waiting} waiting{holders}")
            for name in ("left", "right", "patient"):
                dones[name].set()
                await wait_all_tasks_blocked()
    for step in steps:
        print(step)


async def main() -> None:
    await three_tasks(trio.Semaphore(2), "trio")
    await three_tasks(structsync.Semaphore(2), "structsync")


trio.run(main)

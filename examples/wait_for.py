"""Waiting for a predicate instead of writing the loop.

A condition of trio (and ours) is of the Mesa kind: between ``notify()`` and the end of ``wait()``
another task may own the lock, so the predicate has to be tested in a loop, in every program again.
``wait_for()`` is that loop, and returns what the predicate found.

Prints::

    trio: tested 3 times, got 'letter'
    structsync: got 'letter'
"""

import trio
from trio.testing import wait_all_tasks_blocked

import structsync


async def deliver(condition: trio.Condition | structsync.Condition, mailbox: list[str]) -> None:
    for item in (None, "letter"):  # the first notification comes with an empty mailbox
        await wait_all_tasks_blocked()
        async with condition:
            mailbox += [item] if item else []
            condition.notify()


async def with_trio() -> None:
    condition, mailbox, tests = trio.Condition(), list[str](), 1
    async with trio.open_nursery() as nursery:
        nursery.start_soon(deliver, condition, mailbox)
        async with condition:
            while not mailbox:  # forget the loop, and an empty mailbox is read
                await condition.wait()
                tests += 1
            print(f"trio: tested {tests} times, got {mailbox.pop()!r}")


async def with_structsync() -> None:
    condition, mailbox = structsync.Condition(), list[str]()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(deliver, condition, mailbox)
        async with condition:
            letter = await condition.wait_for(lambda: mailbox and mailbox[0])
            print(f"structsync: got {letter!r}")


async def main() -> None:
    await with_trio()
    await with_structsync()


trio.run(main)

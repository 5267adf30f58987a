"""Two transfers lock two accounts in opposite orders; the guard names the cycle instead of hanging.

Each transfer locks the account that the money leaves, then the other one. Two that go in opposite directions
at the same time wait for each other, and trio's locks would hang there forever. Under ``deadlock_guard()``
the second one gets an error that says which task waits for which, and then the first one is carried out.

Prints::

    this wait would never end, because each of these waits for the next:
      back waits for Lock, which forth holds
      forth waits for Lock, which back holds
    Acquire in the same order everywhere, or together by acquire_all().
    forth: done
"""

import re

import trio
import trio.testing

import structsync


async def transfer(name: str, source: structsync.Lock, target: structsync.Lock) -> None:
    try:
        async with source:
            await trio.testing.wait_all_tasks_blocked(0.01 if name == "back" else 0)
            async with target:
                print(f"{name}: done")
    except structsync.DeadlockError as deadlock:
        # The lines of the program and the addresses are left out, so that this always prints the same.
        print(re.sub(r" \(.*?\)| at 0x[0-9a-f]+| since .*", "", str(deadlock)))


async def main() -> None:
    ours, theirs = structsync.Lock(), structsync.Lock()
    with structsync.deadlock_guard():
        async with trio.open_nursery() as nursery:
            nursery.start_soon(transfer, "forth", ours, theirs, name="forth")
            nursery.start_soon(transfer, "back", theirs, ours, name="back")


trio.run(main)

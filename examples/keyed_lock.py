"""A lock for each key, written only with public names of structsync.

A claim is a key and a task. A task that waits for another key is passed over: that is the policy
"eligible". A task that ends with a lock breaks all of them here; ``owner_exit="releases"`` would
release it. In programs use ``structsync.LockMap``; this shows how such a lock is made.

Prints::

    a reader of apples
    a reader of pears
    another reader of apples
    nothing is locked: True
"""

from contextlib import AbstractAsyncContextManager
from typing import NamedTuple

import trio
import trio.testing
from trio.lowlevel import Task, current_task

from structsync import lowlevel


class Key(NamedTuple):
    """What is claimed: a key names its task, so no two tasks make the same claim."""

    name: str
    task: Task


class KeyedLockCore(lowlevel.OwnedArbiter[Key]):
    """Which task has locked which name."""

    locked: frozenset[Key]

    def __init__(self) -> None:
        super().__init__(policy="eligible")
        self.locked = frozenset()

    def admits(self, claim: Key) -> bool:
        return all(key.name != claim.name for key in self.locked)

    def admit(self, claim: Key) -> None:
        self.locked |= {claim}

    def discharge(self, claim: Key) -> None:
        if claim not in self.locked:
            raise RuntimeError(f"this task has not locked {claim.name!r}")
        self.locked -= {claim}

    def refuse_impossible(self, claim: Key) -> None:
        if claim in self.locked:
            raise RuntimeError(f"this task has locked {claim.name!r} already; release it first")

    def holds(self, claim: Key) -> bool:
        return claim in self.locked


class KeyedLock(lowlevel.OwnedPrimitive[Key]):
    """``async with locks.lock("apples"): ...``."""

    def __init__(self) -> None:
        self.core = KeyedLockCore()
        super().__init__(self.core, owner_exit="breaks")

    def lock(self, name: str) -> AbstractAsyncContextManager[None]:
        return lowlevel.held(self, Key(name, current_task()))


async def read(locks: KeyedLock, who: str, name: str) -> None:
    async with locks.lock(name):
        print(f"{who} reader of {name}")
        await trio.testing.wait_all_tasks_blocked()


async def main() -> None:
    locks = KeyedLock()
    async with trio.open_nursery() as nursery:
        for who, name in (("a", "apples"), ("another", "apples"), ("a", "pears")):
            nursery.start_soon(read, locks, who, name)
            await trio.lowlevel.checkpoint()
    print("nothing is locked:", not locks.core.locked)


if __name__ == "__main__":
    trio.run(main)

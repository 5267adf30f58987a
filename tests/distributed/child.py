"""A process that takes part in what the tests of processes do; it says in lines what happens to it.

``hold URL``: asks for the lock, holds it, and gives it back when something is written to it.
``storm URL COUNT``: takes one of two permits again and again.

With ``DIE_BEFORE_HINT`` in its environment it is killed when its operation is in the log, and before it
tells anybody.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any

import trio

from structsync.distributed import open_session
from structsync.distributed.sqlite import SQLiteEngine


def say(*words: object) -> None:
    print(*words, flush=True)  # noqa: T201 - its report


def die(*_: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


async def hold(url: str) -> None:
    async with open_session(url, namespace="test") as session:
        say("asks")
        async with session.lock("lock") as grant:
            say("holds", grant.token)
            await trio.lowlevel.wait_readable(sys.stdin)
            if "DIE_BEFORE_HINT" in os.environ:
                setattr(SQLiteEngine, "hint", die)  # noqa: B010 - to a type checker it is a constant
        say("gave back")


async def storm(url: str, count: str) -> None:
    async with open_session(url, namespace="test") as session:
        semaphore = session.semaphore("db", 2)
        for _ in range(int(count)):
            async with semaphore as grant:
                start = time.monotonic_ns()
                await trio.sleep(0.001)
                say("held", grant.token, start, time.monotonic_ns())


if __name__ == "__main__":
    programs: dict[str, Callable[..., Awaitable[None]]] = {"hold": hold, "storm": storm}
    trio.run(programs[sys.argv[1]], *sys.argv[2:])

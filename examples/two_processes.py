"""Two processes take turns: one lock in a file, which both of them open.

The child is started while the parent holds the lock, and gets it when the parent releases it.

Prints::

    parent: holds the lock, and starts the child
    parent: releases it
    child: holds the lock
"""

import sys
import tempfile
from pathlib import Path

import trio

from structsync.distributed import open_session


async def child(url: str) -> None:
    async with open_session(url, namespace="example") as session:
        async with session.lock("stock"):
            print("child: holds the lock", flush=True)


async def parent(url: str) -> None:
    async with open_session(url, namespace="example") as session, trio.open_nursery() as nursery:
        lock = session.lock("stock")
        async with lock:
            print("parent: holds the lock, and starts the child", flush=True)
            command = [sys.executable, __file__, url]
            process: trio.Process = await nursery.start(trio.run_process, command)
            while (await lock.statistics()).tasks_waiting == 0:  # noqa: ASYNC110 - the child cannot say so
                await trio.sleep(0.01)
            print("parent: releases it", flush=True)
        assert await process.wait() == 0


if len(sys.argv) > 1:
    trio.run(child, sys.argv[1])
elif sys.platform != "linux":
    sys.exit("sqlite:// needs Linux")
else:
    with tempfile.TemporaryDirectory() as folder:
        trio.run(parent, f"sqlite://{Path(folder).resolve()}/locks.db")

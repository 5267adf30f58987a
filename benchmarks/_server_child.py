"""Takes a lock again and again, until it is told to end: URL TTL."""

from __future__ import annotations

import sys

import trio

from structsync.distributed import open_session


async def main(url: str, ttl: float) -> None:
    async with open_session(url, namespace="benchmark", ttl=ttl) as session:
        lock = session.lock("lock")
        while True:
            async with lock:
                pass


if __name__ == "__main__":
    trio.run(main, sys.argv[1], float(sys.argv[2]))

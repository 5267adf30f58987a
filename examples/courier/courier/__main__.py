"""python -m courier HOST PORT: delivers each line of its input."""

from __future__ import annotations

import sys

import trio

from . import open_courier
from .wire import over_tcp


async def main(host: str, port: int) -> None:
    async with open_courier(over_tcp(host, port)) as courier:
        async for line in trio.wrap_file(sys.stdin):
            await courier.post(line.rstrip("\n"))
    print(len(courier.delivered), "delivered")
    for name, letters in (("refused", courier.refused), ("unsent", courier.unsent)):
        for letter in letters:
            print(f"{name}: {letter}")


trio.run(main, sys.argv[1], int(sys.argv[2]))

"""A program that its user can look into from another terminal, through a socket.

``structsync top PATH`` asks once a second and shows the answer. This program asks itself, as ``structsync top --once``
would, so that there is something to print.

Prints::

    Lock 'ledger': held by clerk, 1 waiting
"""

import json
import tempfile
from pathlib import Path

import trio
import trio.testing

import structsync


async def book(ledger: structsync.Lock) -> None:
    async with ledger:
        await trio.sleep_forever()


async def main(path: Path) -> None:
    ledger = structsync.Lock(name="ledger")
    async with structsync.serve_inspector(path), trio.open_nursery() as nursery:
        for name in ("clerk", "auditor"):
            nursery.start_soon(book, ledger, name=name)
            await trio.testing.wait_all_tasks_blocked()
        await look(path)
        nursery.cancel_scope.cancel()


async def look(path: Path) -> None:
    async with await trio.open_unix_socket(path) as stream:
        await stream.send_all(b'{"ask": "state"}\n')
        answer = b""
        while not answer.endswith(b"\n"):
            answer += await stream.receive_some()
    for one in json.loads(answer)["primitives"]:
        holders = " and ".join(each["name"] for each in one["holders"])
        print(f"{one['title']}: held by {holders}, {one['waiting']} waiting")


with tempfile.TemporaryDirectory() as folder:
    trio.run(main, Path(folder) / "shop.sock")

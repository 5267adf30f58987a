"""A holder that sleeps past the end of its lease writes nothing: its token is refused, and it gets an error.

Two processes share a lock on a server, as two machines would. Run it with the URL of one, such as
redis://localhost; without, it starts a server of its own (redis-server or valkey-server).

Prints::

    slow: holds the lock, and sleeps past the end of its lease
    quick: holds the lock, and writes
    slow: the store refuses its token
    slow: its lease is lost
"""

import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import trio

from structsync.distributed import LeaseLost, open_session

TTL = 1.5  # seconds; in use take more: a busy machine is slow sometimes, and is not dead


class Store:
    """What the lock protects: it remembers the largest token, and refuses smaller ones."""

    def __init__(self, path: str) -> None:
        self.path = Path(path)

    def write(self, text: str, token: int) -> None:
        if self.path.exists() and token < int(self.path.read_text().split()[0]):
            raise PermissionError("a holder of a newer grant was here")
        self.path.write_text(f"{token} {text}")


def say(line: str) -> None:
    print(line, flush=True)


async def slow(url: str, store: Store) -> None:
    async with open_session(url, namespace="example", ttl=TTL) as session:
        try:
            async with session.lock("stock") as held:
                say("slow: holds the lock, and sleeps past the end of its lease")
                time.sleep(2.5 * TTL)  # noqa: ASYNC251 - as a machine that swaps, or was suspended
                try:
                    store.write("slow", held.token)
                except PermissionError:
                    say("slow: the store refuses its token")
        except LeaseLost:
            say("slow: its lease is lost")


async def quick(url: str, store: Store) -> None:
    async with open_session(url, namespace="example", ttl=TTL) as session:
        lock = session.lock("stock")
        async with trio.open_nursery() as nursery:
            nursery.start_soon(trio.run_process, [sys.executable, __file__, url, str(store.path)])
            while (await lock.statistics()).holders == 0:  # noqa: ASYNC110 - the other one cannot say so
                await trio.sleep(0.01)
            async with lock as held:
                say("quick: holds the lock, and writes")
                store.write("quick", held.token)


def start(folder: str) -> tuple[str, subprocess.Popen[bytes]]:
    program = shutil.which("redis-server") or shutil.which("valkey-server")
    if program is None:
        sys.exit(
            "neither redis-server nor valkey-server was found; on Debian: apt-get install redis-server"
        )
    options = [
        "--port",
        "0",
        "--unixsocket",
        f"{folder}/server",
        "--save",
        "",
        "--logfile",
        f"{folder}/log",
    ]
    process = subprocess.Popen([program, *options])
    while not Path(folder, "server").exists():
        time.sleep(0.01)
    return f"unix://{folder}/server", process


if len(sys.argv) > 2:
    trio.run(slow, sys.argv[1], Store(sys.argv[2]))
else:
    with tempfile.TemporaryDirectory() as folder:
        url, process = (sys.argv[1], None) if len(sys.argv) > 1 else start(folder)
        try:
            trio.run(quick, url, Store(f"{folder}/store"))
        finally:
            if process is not None:
                process.kill()
                process.wait()

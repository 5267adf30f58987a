"""Servers that tests start, kill and start again; on Debian: apt-get install redis-server."""

from __future__ import annotations

import importlib.util
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trio

from structsync.distributed import Session, open_session

PROGRAMS = ("redis-server", "valkey-server")
#: In seconds, the leases of sessions in tests: no busy machine stops a process for so long.
LASTS = 30.0
#: Where a test waits for the end of a lease: short, and yet it outlasts that one of its processes is stopped for 1.5 s,
#: even just before it renews, with two thirds left, of which a tenth is left to others.
ENDS = 3.0
#: Not how long anything takes, but when a server that does not start is given up.
PATIENCE = 30


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def program() -> str:
    """Return the path of a server's program; skip the test if there is none, where a skip is accepted."""
    wanted = os.environ.get("STRUCTSYNC_SERVER")  # to test with a certain one
    found = next(filter(None, map(shutil.which, [wanted] if wanted else PROGRAMS)), None)
    if found is None or importlib.util.find_spec("hiredis") is None:
        message = (
            "no redis-server or valkey-server found (apt-get install redis-server), or no hiredis"
        )
        if os.environ.get("CI") == "true":
            pytest.fail(f"{message} (no skip accepted where CI=true)", pytrace=False)
        pytest.skip(message)
    return found


class Server:
    """A server with a folder of its own, on a socket in it or on a port."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.program = program()
        self.folder = folder
        self.socket = folder / "server"
        self.options = options
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"unix://{self.socket}"

    def start(self) -> None:
        """Start it, and return when it answers."""
        command = [
            self.program,
            *("--port", "0", "--unixsocket", str(self.socket), "--dir", str(self.folder)),
            *("--save", "", "--appendonly", "no", "--logfile", str(self.folder / "log")),
            *self.options,
        ]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        give_up = time.monotonic() + PATIENCE
        while not self._answers():
            assert self.process.poll() is None, (self.folder / "log").read_text()
            assert time.monotonic() < give_up, f"{self.program} does not answer"
            time.sleep(0.01)

    def _answers(self) -> bool:
        try:
            return self.ask("PING") in (b"+PONG", b"-NOAUTH Authentication required.")
        except OSError:
            return False

    def ask(self, *words: str) -> bytes:
        """Return the first line of what it says to a command."""
        return self.ask_all(*words).partition(b"\r\n")[0]

    def ask_all(self, *words: str) -> bytes:
        """Return what it says to a command."""
        return self._ask([words])[0]

    def ask_as(self, password: str, *words: str, user: str = "default") -> bytes:
        """The same, as a user with a password."""
        return self._ask([("AUTH", user, password), words])[1].partition(b"\r\n")[0]

    def is_no_news(self, namespace: str, *first: tuple[str, ...]) -> None:
        """Have a namespace know the server, so that it does not wait because that was started just now."""
        said = self._ask([*first, ("INFO", "server")])[-1]
        run = said.partition(b"run_id:")[2].partition(b"\r")[0].decode()
        self._ask([*first, ("HSET", base(namespace), "run", run)])

    def open_port(self) -> int:
        """Listen on a port of this machine, too."""
        port = free_port()
        self.ask("CONFIG", "SET", "port", str(port))
        return port

    def _ask(self, commands: list[tuple[str, ...]]) -> list[bytes]:
        with socket.socket(socket.AF_UNIX) as one:
            one.connect(str(self.socket))
            answers = []
            for words in commands:
                lines = [b"$%d\r\n%s\r\n" % (len(word.encode()), word.encode()) for word in words]
                one.sendall(b"*%d\r\n" % len(words) + b"".join(lines))
                answers.append(one.recv(65536))  # what tests ask for is short enough for one piece
        return answers

    def kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def restart(self) -> None:
        self.kill()
        self.start()


def base(namespace: str) -> str:
    """Return what the keys of a namespace begin with."""
    return f"{{structsync:{namespace}}}"


def opens(
    where: Server, namespace: str = "test", **options: Any
) -> AbstractAsyncContextManager[Session]:
    """Open a session on a server, whose lease lasts."""
    return open_session(where.url, namespace=namespace, **{"ttl": LASTS, **options})


def opens_briefly(where: Server, namespace: str = "test") -> AbstractAsyncContextManager[Session]:
    """Open a session on a server, with a lease whose end a test can wait for."""
    return opens(where, namespace, ttl=ENDS)


@contextmanager
def server(*options: str) -> Iterator[Server]:
    """Start a server; it is killed at the end."""
    # not below pytest's folder: the path of a socket must be short
    with tempfile.TemporaryDirectory(prefix="structsync-") as folder:
        one = Server(Path(folder), *options)
        one.start()
        try:
            yield one
        finally:
            one.kill()


@contextmanager
def silent() -> Iterator[str]:
    """Yield the URL of what takes connections, and says nothing."""
    with (
        tempfile.TemporaryDirectory(prefix="structsync-") as folder,
        socket.socket(socket.AF_UNIX) as one,
    ):
        one.bind(f"{folder}/silent")
        one.listen()
        yield f"unix://{folder}/silent"


@asynccontextmanager
async def hosting(says: bytes) -> AsyncIterator[str]:
    """Listen on a port of this machine, and say this to who says something, and nothing more; yield its URL."""

    async def answer(stream: trio.SocketStream) -> None:
        await stream.receive_some()
        if says:
            await stream.send_all(says)
        await stream.aclose()

    async with trio.open_nursery() as nursery:
        serve = partial(trio.serve_tcp, host="127.0.0.1")
        (listener,) = await nursery.start(serve, answer, 0)
        yield f"redis://127.0.0.1:{listener.socket.getsockname()[1]}"
        nursery.cancel_scope.cancel()

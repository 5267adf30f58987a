"""Silvestre 2009, tables 3.1 and 3.2: what a rule adds to a remote call.

The server of the objects, the process with the rules and the clients are processes of this machine, and talk as
sessions of ``sqlite://`` do, which needs no server: no network is measured. The document's own machines were apart, with
100 Mb/s between them.
"""

from __future__ import annotations

import atexit
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter

import trio

from structsync.distributed import open_session

from ._measure import Case, Effort, ratio
from ._party_child import LOCAL, MONITOR, PARALLEL, PLAIN, QUEUE, REMOTE, SERIAL, Party

CHILD = Path(__file__).with_name("_party_child.py")


def can_run() -> bool:
    """Return whether sessions of two processes can call each other here."""
    return bool(find_spec("msgspec")) and hasattr(socket, "SO_PEERCRED")


def mechanism_cases(effort: Effort) -> Iterator[Case]:
    """Table 3.1: a call by one client, under each mechanism."""
    if not can_run():
        return
    times = effort.of(200, 10)
    for name in (MONITOR, QUEUE, LOCAL, REMOTE):
        subject, reference = (partial(calls, one, times) for one in (name, PLAIN))
        yield Case(f"{name.partition('/')[2]} / RPC", partial(ratio, subject, reference))


def overlap_cases(effort: Effort) -> Iterator[Case]:
    """Table 3.2: a server that goes on while the synchronizer decides, against one that waits."""
    if not can_run():
        return
    times = effort.of(200, 10)
    for name, other in (("get", "set"), ("set", "get")):
        parallel, serial = (partial(calls, one, times, name, other) for one in (PARALLEL, SERIAL))
        yield Case(f"{name}, parallel / serial", partial(ratio, parallel, serial))


@cache
def parties() -> str:
    """Start the processes, once, and return the URL of where they meet."""
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    url = f"sqlite://{os.path.realpath(folder.name)}/parties.db"
    for role in ("server", "rules"):
        command = [sys.executable, str(CHILD), role, url]
        process = subprocess.Popen(command, stdout=subprocess.PIPE)
        atexit.register(process.wait)
        atexit.register(process.kill)
        assert process.stdout is not None
        with process.stdout as printed:
            assert printed.readline() == b"ready\n"
    return url


def calls(name: str, times: int, measured: str = "set", other: str | None = None) -> float:
    """Return the seconds of that many calls, in sequence, with another client beside it or none."""
    return trio.run(call_in_sequence, name, times, measured, other)


async def call_in_sequence(name: str, times: int, measured: str, other: str | None) -> float:
    async def client(method: str) -> None:
        async with open_session(parties(), namespace="parties") as session:
            call = getattr(session.connect(name, Party), method)
            while True:
                await call()

    async with open_session(parties(), namespace="parties") as session:
        call = getattr(session.connect(name, Party), measured)
        async with trio.open_nursery() as nursery:
            if other:
                nursery.start_soon(client, other)
            await call()
            began = perf_counter()
            for _ in range(times):
                await call()
            spent = perf_counter() - began
            nursery.cancel_scope.cancel()
    return spent

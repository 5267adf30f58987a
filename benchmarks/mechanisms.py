"""Silvestre and others 2010, tables 3.1 and 3.2: what a rule adds to a remote call.

Server, synchronizer and clients are processes of this machine, and messages are one byte long, so no
network is measured. The document's own machines were apart, with 100 Mb/s between them.
"""

from __future__ import annotations

import atexit
import subprocess
import sys
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path
from time import perf_counter

import trio

from ._measure import Case, Effort, ratio

CHILD = Path(__file__).with_name("_party_child.py")
GET, SET = b"g", b"s"


def mechanism_cases(effort: Effort) -> Iterator[Case]:
    """Table 3.1: a call by one client, under each mechanism."""
    times = effort.of(200, 10)
    for name in ("monitor", "queue", "local rule", "remote rule"):
        subject, reference = (partial(calls, one, "parallel", times) for one in (name, "RPC"))
        yield Case(f"{name} / RPC", partial(ratio, subject, reference))


def overlap_cases(effort: Effort) -> Iterator[Case]:
    """Table 3.2: a server that goes on while the synchronizer is asked, against one that waits."""
    times = effort.of(200, 10)
    for name, measured, other in (("get", GET, SET), ("set", SET, GET)):
        parallel, serial = (
            partial(calls, "remote rule", turns, times, measured, other)
            for turns in ("parallel", "serial")
        )
        yield Case(f"{name}, parallel / serial", partial(ratio, parallel, serial))


@cache
def port_of(*words: str) -> int:
    """Start a process, once, and return where it listens."""
    process = subprocess.Popen([sys.executable, str(CHILD), *words], stdout=subprocess.PIPE)
    atexit.register(process.wait)
    atexit.register(process.kill)
    assert process.stdout is not None
    with process.stdout as printed:
        return int(printed.readline())


def calls(
    mechanism: str, turns: str, times: int, measured: bytes = SET, other: bytes | None = None
) -> float:
    """Return the seconds of that many calls, in sequence, with another client beside it or none."""
    ports = [str(port_of("synchronizer"))] if mechanism == "remote rule" else []
    port = port_of(mechanism, turns, *ports)
    return trio.run(call_in_sequence, port, times, measured, other)


async def call_in_sequence(port: int, times: int, measured: bytes, other: bytes | None) -> float:
    async def client(request: bytes) -> None:
        async with await trio.open_tcp_stream("127.0.0.1", port) as stream:
            while True:
                await one_call(stream, request)

    async with trio.open_nursery() as nursery:
        if other:
            nursery.start_soon(client, other)
        async with await trio.open_tcp_stream("127.0.0.1", port) as stream:
            await one_call(stream, measured)
            began = perf_counter()
            for _ in range(times):
                await one_call(stream, measured)
            spent = perf_counter() - began
        nursery.cancel_scope.cancel()
    return spent


async def one_call(stream: trio.SocketStream, request: bytes) -> None:
    await stream.send_all(request)
    await stream.receive_some(1)

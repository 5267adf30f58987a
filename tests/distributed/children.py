"""Processes of ``child.py``, and what they say."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import trio

#: In seconds; a child that is silent for longer fails its own test, and not those that come after it.
PATIENCE = 60

CHILD = str(Path(__file__).with_name("child.py"))


class Child:
    """A process of ``child.py``, and what it says."""

    def __init__(self, process: trio.Process) -> None:
        self.process = process
        self.rest = b""

    async def says(self) -> list[str]:
        """Return the words of its next line; none when it has ended."""
        assert self.process.stdout is not None
        with trio.fail_after(PATIENCE):
            while b"\n" not in self.rest:
                data = await self.process.stdout.receive_some()
                if not data:
                    return []
                self.rest += data
        line, _, self.rest = self.rest.partition(b"\n")
        return line.decode().split()

    async def release(self) -> None:
        assert self.process.stdin is not None
        await self.process.stdin.send_all(b"\n")

    async def kill(self) -> None:
        self.process.kill()
        await self.process.wait()


@asynccontextmanager
async def child(*arguments: str, env: Mapping[str, str] | None = None) -> AsyncIterator[Child]:
    process = await trio.lowlevel.open_process(
        [sys.executable, CHILD, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, **(env or {})},
    )
    try:
        yield Child(process)
    finally:
        process.kill()
        with trio.CancelScope(shield=True):
            await process.wait()
        for stream in (process.stdin, process.stdout):
            assert stream is not None
            await trio.aclose_forcefully(stream)

"""Processes that take permits again and again, and are killed."""

from __future__ import annotations

import random
import time

import trio

from tests.distributed.children import child
from tests.distributed.history import Held


async def endure(
    url: str, history: list[Held], seconds: float, longest: float = 0.05, **env: str
) -> None:
    """Run a process that takes one of two permits for so long; kill it now and then, and start another one."""
    end = trio.current_time() + seconds
    while trio.current_time() < end:
        inside: dict[int, tuple[int, int]] = {}

        def note(words: list[str], inside: dict[int, tuple[int, int]] = inside) -> None:
            token, when = int(words[1]), int(words[2])
            if words[0] == "in":
                inside[token] = (when, int(words[3]))
            else:
                start, asked = inside.pop(token)
                history.append(Held(token, start, when, 1, asked))

        async with child("endure", url, "test", "1.5", str(longest), env=env) as process:
            with trio.move_on_at(end):  # until it begins, which takes long on a busy machine
                note(await process.says())
            with trio.move_on_at(
                min(end, trio.current_time() + random.uniform(0.5, 3) + 2 * longest)
            ):
                while words := await process.says():
                    note(words)
            await process.kill()
            killed = time.monotonic_ns()
            while words := await process.says():
                note(words)
            history.extend(
                Held(token, start, killed, 1, asked) for token, (start, asked) in inside.items()
            )

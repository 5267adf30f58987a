"""Blocks that the collector leaves, wherever a test lets it run."""

from __future__ import annotations

import gc
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager
from typing import Any

import trio
import trio.testing

from structsync._runtime.transitions import of_this_thread

from .striking import Striker


class Abandoned:
    """Blocks that no task can reach any more but the collector."""

    def __init__(self) -> None:
        self.cycles = 0

    def add(self, request: AbstractContextManager[Any]) -> None:
        def block() -> Generator[None, None, None]:
            with request:
                yield

        generator = block()
        next(generator)
        cycle: list[object] = [generator]
        cycle.append(cycle)
        self.cycles += 1

    def collect(self) -> None:
        if self.cycles:
            self.cycles = 0
            gc.collect(0)


def struck(program: Callable[[Striker, Abandoned], Any], k: int) -> tuple[bool, Any]:
    """Return whether the program was struck at instruction k, and how it ended."""
    abandoned = Abandoned()
    striker = Striker(k, abandoned.collect)
    gc.disable()
    try:
        clock = trio.testing.MockClock(autojump_threshold=0)
        ended = trio.run(program, striker, abandoned, clock=clock)
    finally:
        gc.enable()
    transitions = of_this_thread()
    assert not transitions.running
    assert not transitions.later
    return bool(striker.struck), ended

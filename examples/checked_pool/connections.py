"""A pool of connections for async code: a task that finds none waits, first come, first served."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import trio


def no_listener(step: str, pool: Pool) -> None:
    """Do nothing: no listener is there."""


class Pool:
    """Connections that are borrowed and put back; `tell` is called after each step."""

    def __init__(self, size: int, tell: Callable[[str, Pool], object] = no_listener) -> None:
        self.free = size
        self.waiting: deque[trio.Event] = deque()
        self.tell = tell

    async def borrow(self) -> None:
        await trio.lowlevel.checkpoint_if_cancelled()
        if self.free:
            self.free -= 1
            self.tell("borrow", self)
            await trio.lowlevel.cancel_shielded_checkpoint()
            return
        turn = trio.Event()
        self.waiting.append(turn)
        self.tell("borrow", self)
        try:
            await turn.wait()
        except trio.Cancelled:
            self.give_up(turn)
            raise

    def give_up(self, turn: trio.Event) -> None:
        if turn in self.waiting:
            self.waiting.remove(turn)
            self.tell("give_up", self)
        else:  # a connection was on its way: another task gets it
            self.put_back()

    def put_back(self) -> None:
        if self.waiting:
            self.waiting.popleft().set()
        else:
            self.free += 1
        self.tell("put_back", self)


class ForgetfulPool(Pool):
    """What many pools do: a task that gives up stays in the queue, and is served eventually."""

    def give_up(self, turn: trio.Event) -> None:
        self.tell("give_up", self)

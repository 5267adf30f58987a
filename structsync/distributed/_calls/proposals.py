"""The calls that wait for a ruler, and the hosts that have proposed them."""

from __future__ import annotations

import trio
from trio.lowlevel import Task

from .rulings import Origin


class Proposal:
    """A call that waits."""

    origin: Origin
    number: int
    scope: trio.CancelScope
    task: Task | None  # once it waits in the stand-in
    has_started: bool
    error: Exception | None
    is_let_go: bool  # since its object was reserved
    changed: trio.Event  # when that is so, or it has ended
    ended: trio.Event

    def __init__(self, origin: Origin, number: int) -> None:
        self.origin = origin
        self.number = number
        self.scope = trio.CancelScope()
        self.task = None
        self.has_started = self.is_let_go = False
        self.error = None
        self.changed = trio.Event()
        self.ended = trio.Event()


class Host:
    """A host that listens for what an object is to do, under one grant of its name."""

    token: int
    proposals: dict[int, Proposal]
    asked: dict[int, None]
    told: trio.Event

    def __init__(self, token: int) -> None:
        self.token = token
        self.proposals = {}
        self.asked = {}
        self.told = trio.Event()

    def ask(self, number: int) -> None:
        self.asked[number] = None
        self.told.set()

    def end(self) -> None:
        """Take its calls back."""
        for one in self.proposals.values():
            one.scope.cancel()

"""A call that has not ended."""

from __future__ import annotations

import trio


class Running:
    """What of a call can be ended: all of it, or its wait alone."""

    scope: trio.CancelScope
    waiting: trio.CancelScope  # until it has begun
    is_begun: bool  # it has its permit; of an entry, it is inside its monitor

    def __init__(self, *, is_apart: bool) -> None:
        self.scope = trio.CancelScope()
        # What starts although its wait was ended may have started with others, and is not to be cancelled by that.
        self.waiting = trio.CancelScope() if is_apart else self.scope
        self.is_begun = False

    def begin(self) -> None:
        self.is_begun = True

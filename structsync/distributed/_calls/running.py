"""A call that has not ended."""

from __future__ import annotations

import trio


class Running:
    """What of a call can be ended: all of it, or its wait alone."""

    scope: trio.CancelScope
    waiting: trio.CancelScope  # until it has begun
    is_begun: bool  # it has its permit; of one that is ruled over, it has started

    def __init__(self, *, is_ruled: bool) -> None:
        self.scope = trio.CancelScope()
        # What starts although its wait was ended has started with others, and is not to be cancelled by that.
        self.waiting = trio.CancelScope() if is_ruled else self.scope
        self.is_begun = False

    def begin(self) -> None:
        self.is_begun = True

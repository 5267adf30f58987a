"""One task that takes, and how that ended."""

from __future__ import annotations

from typing import Any

import trio

from .kinds import Kind


class Attempt:
    """Takes in a cancel scope of its own, gives back at once, and tells how it ended."""

    def __init__(self, kind: Kind, primitive: Any) -> None:
        self.kind = kind
        self.primitive = primitive
        self.scope = trio.CancelScope()
        self.outcome: str = "waiting"
        self.error: BaseException | None = None

    async def run(self) -> None:
        with self.scope:
            try:
                await self.kind.take(self.primitive)
            except trio.Cancelled as error:
                self.outcome, self.error = "cancelled", error
                raise
            except Exception as error:  # noqa: BLE001 - which one is for the test to say
                self.outcome, self.error = "failed", error
                return
            self.outcome = "granted"
            self.kind.give(self.primitive)


async def waiting(kind: Kind, primitive: Any, nursery: trio.Nursery) -> Attempt:
    """Start an attempt that waits in the queue by the time this returns."""
    attempt = Attempt(kind, primitive)
    nursery.start_soon(attempt.run)
    await trio.testing.wait_all_tasks_blocked()
    assert attempt.outcome == "waiting"
    return attempt

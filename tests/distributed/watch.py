"""Who held a lock in this process while a server failed; and faults to plant, which it has to complain about."""

from __future__ import annotations

from typing import Any

import pytest
import trio

from structsync.distributed import LeaseLost, Session
from tests.distributed.history import Held, complaints

# What is in the script, and the fault that takes its place.
MISSES_NOTHING = (
    "return not its.read or stamp_before(log, its, position) ~= seen",
    "return false",
)
HAS_NO_GRACE = ("if now < grace then", "if false then")
NEVER_BURIES = ("if verb ~= 'append' and now >= grace then", "if false then")
LOOKS_AT_NO_CLOCK = ("if now < before or now - before > ttl / 2 then", "if false then")
BRINGS_NOTHING_BACK = ("local goes_further = tonumber(seen) > ", "local goes_further = false and ")


class Watch:
    """Blocks of two sessions, and what is wrong with them."""

    def __init__(self) -> None:
        self.history: list[Held] = []

    async def hold(self, session: Session, task_status: Any = trio.TASK_STATUS_IGNORED) -> None:
        """Hold the lock until the lease is lost."""
        start = token = 0.0
        try:
            async with session.lock("lock") as grant:
                start, token = trio.current_time(), grant.token
                task_status.started()
                await trio.sleep_forever()
        except LeaseLost:
            pass
        finally:
            self.add(token, start)

    async def take(self, session: Session) -> None:
        async with session.lock("lock") as grant:
            self.add(grant.token, trio.current_time())

    def add(self, token: float, start: float) -> None:
        ns = 1e9
        self.history.append(Held(int(token), int(start * ns), int(trio.current_time() * ns)))

    def complaints(self) -> list[str]:
        assert len(self.history) == 2
        return complaints(self.history, 1)


def planted(monkeypatch: pytest.MonkeyPatch, right: str, wrong: str) -> None:
    """Put a fault into the script."""
    from structsync.distributed.redis import engine as redis_engine  # it needs hiredis

    script = redis_engine.SCRIPT
    assert script.count(right) == 1
    monkeypatch.setattr(redis_engine, "SCRIPT", script.replace(right, wrong))

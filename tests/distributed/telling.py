"""The memory engine, as a server does it: what is appended is answered later, and brings news to other sessions.

Each answer and each hint is carried by a task of its own, so the explorer delays and reorders them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any

import trio
from trio.lowlevel import Task, checkpoint, current_task

from structsync.distributed.engine import Appended, Hinted, Received, Tail
from structsync.distributed.errors import DeliveryFailed, SessionEnded
from structsync.distributed.memory import MemoryEngine


class TellingEngine(MemoryEngine):
    """One session of a hub that hints others in the step that lets them in."""

    forgets = True
    tells = True
    listening: Task

    async def listen(
        self, hinted: Hinted, received: Received, task_status: trio.TaskStatus[None]
    ) -> None:
        self.listening = current_task()
        await super().listen(hinted, received, task_status)

    def _carry(self, deliver: Callable[[], Awaitable[object]]) -> None:
        # The explorer would cancel a nursery of ours.
        nursery = self.listening.parent_nursery
        assert nursery is not None, "it is that of the session"
        nursery.start_soon(deliver)

    def append_soon(
        self,
        log: str,
        operations: Sequence[bytes],
        after: int,
        done: Appended,
        told: Mapping[str, Tail],
    ) -> bool:
        def carry_out() -> Tail:
            tail = self.hub.append(self.session, log, operations, after)
            self._tell({session: self._continued(log, news) for session, news in told.items()}, log)
            return tail

        async def deliver() -> None:
            try:
                tail = await self._deliver(carry_out)
            except (DeliveryFailed, SessionEnded):
                done(None)
            else:
                done(tail)

        self._carry(deliver)
        return True

    def _continued(self, log: str, news: Tail) -> Tail | None:
        """Return the news with what has been appended since; None where the entries are about to be dropped."""
        its = self.hub.logs[log]
        if its.offered is not None or news.start < its.start:
            return None
        entries = its.after(news.start).entries
        return Tail(news.start, entries, None, [news.start + 1 + n for n in range(len(entries))])

    def hint(self, sessions: Mapping[str, Tail | None], log: str) -> None:  # type: ignore[override]  # the engine that ships looks at the names alone
        self._tell(sessions, log)

    def _tell(self, sessions: Mapping[str, Tail | None], log: str) -> None:
        for session, news in sessions.items():
            fate = self._fate("hint")
            say = partial(self._say, session, log, news)
            if fate == "late":
                self.hub.late.append(say)
            for _ in range({"in time": 1, "twice": 2}.get(fate, 0)):
                self._carry(partial(_later, say))

    def _say(self, session: str, log: str, news: Tail | None) -> None:
        member = self.hub.members.get(session)
        if member is not None and member.hinted is not None:
            member.hinted(log, news)


async def _later(act: Callable[[], Any]) -> None:
    await checkpoint()
    act()

"""What the adapters of this folder have in common: tasks that ask, hold, and go on when they are told to.

What is compared is the same for all: who waits and who holds, and what the primitive itself tells.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import trio

from structsync import CoreRequest, Request
from structsync.checking import Adapter, start
from structsync.specs.common import QueueSpec

OUT_OF_SERVICE = (trio.ClosedResourceError, trio.BrokenResourceError)

#: Who asks by a request of its own, which it keeps or drops; all others wait where they ask.
BY_REQUEST = ("c", "e", "f")


class Users(Adapter):
    """Each name is a task."""

    told_by: tuple[type[Exception], ...] = OUT_OF_SERVICE
    """The errors that tell who waits that it waits no more."""

    def __init__(self) -> None:
        self.waiting: list[str] = []
        self.holding: list[str] = []
        self.passed = 0
        self.requests: dict[str, Request[Any]] = {}
        self._orders: dict[str, trio.Event] = {}
        self._how: dict[str, str] = {}

    # ==== For the tasks ====

    async def passes(self, who: str, wait: Awaitable[object]) -> bool:
        """Wait, and return whether that was granted; not if it is out of service."""
        self.waiting.append(who)
        try:
            await wait
        except self.told_by:
            return False
        finally:
            self.waiting.remove(who)
        self.passed += 1
        return True

    async def order(self, who: str) -> str:
        """Wait until a task says how to go on, and return that."""
        event = self._orders[who] = trio.Event()
        await event.wait()
        return self._how[who]

    async def holds(self, who: str) -> str:
        """Hold what was granted until a task says how to go on, and return that."""
        self.holding.append(who)
        how = await self.order(who)
        self.holding.remove(who)
        return how

    async def asks(self, who: str, make: Callable[[], Request[Any]]) -> None:
        """Ask by a request, and end with it still there, if told so."""
        request = self.requests[who] = make()
        how = await self.order(who)
        del self.requests[who]
        if how != "disappear":
            request.close()

    # ==== For the steps ====

    def tell(self, who: str, how: str = "release") -> None:
        """Say how a task goes on."""
        self._how[who] = how
        self._orders[who].set()

    def give_up(self, action: str, who: str) -> None:
        """End a task's wait, by cancelling it or by its request."""
        if who in self.requests:
            self.tell(who, "withdraw")
        else:
            self.cancel(action, who=who)

    def close(self) -> None:
        self.primitive.close()

    # ==== What is seen ====

    primitive: Any

    def waits(self) -> tuple[str, ...]:
        pending = [who for who, one in self.requests.items() if one.status == "pending"]
        return tuple(sorted((*self.waiting, *pending)))

    def holds_it(self) -> tuple[str, ...]:
        granted = [who for who, one in self.requests.items() if one.status == "granted"]
        return tuple(sorted((*self.holding, *granted)))

    def state(self) -> Mapping[str, object]:
        return {
            "waiting": self.waits(),
            "queue": self.primitive.statistics().tasks_waiting,
            "out of service": self.primitive.closed or self.primitive.broken,
            **self.told(),
        }

    def told(self) -> Mapping[str, object]:
        """Return what else is seen of this primitive."""
        return {"holding": self.holds_it()}


class Seen:
    """The same of a specification of one queue: a mixin before the spec."""

    core: Any
    in_queue: Callable[[], list[str]]

    def observed(self) -> Mapping[str, object]:
        return {
            "waiting": tuple(sorted(self.in_queue())),
            "queue": len(self.core.queue),
            "out of service": self.core.cause is not None,
            **self.told(),
        }

    def told(self) -> Mapping[str, object]:
        """Return what else is said of this primitive."""
        raise NotImplementedError


class Counts(QueueSpec):
    """Where a grant holds nothing: how many there were, since nothing else tells it from an end."""

    abstract = True
    passed: int = start(int)

    def got(self, request: CoreRequest[Any]) -> None:
        super().got(request)
        self.passed += 1


def no_task(spec: object) -> tuple[()]:
    """The domain of an action that this primitive does not have."""
    return ()

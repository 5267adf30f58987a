"""Tasks that wait on conditions, by name."""

import trio
import trio.testing

from structsync import Condition


async def settle() -> None:
    """Let every other task run until it waits."""
    await trio.testing.wait_all_tasks_blocked()


class Waits:
    """Starts waits in tasks with a cancel scope each, and keeps how they ended."""

    def __init__(self, nursery: trio.Nursery) -> None:
        self.nursery = nursery
        self.ended: dict[str, str] = {}
        self.scopes: dict[str, trio.CancelScope] = {}

    async def start(self, name: str, condition: Condition) -> None:
        self.nursery.start_soon(self._wait, name, condition, name=name)
        await settle()

    async def _wait(self, name: str, condition: Condition) -> None:
        self.scopes[name] = trio.CancelScope()
        try:
            with self.scopes[name]:
                async with condition:
                    await condition.wait()
                    self.ended[name] = "notified"
        except (trio.ClosedResourceError, trio.BrokenResourceError) as error:
            self.ended[name] = type(error).__name__
        if self.scopes[name].cancelled_caught:
            self.ended[name] = "cancelled"

"""What the algorithms of asyncio wait for, with its rule that a cancellation beats a result.

In trio a task that was woken cannot be cancelled any more at that wait. In asyncio it can, as long
as it has not run; several known bugs are about just that moment.
"""

from __future__ import annotations

import trio
from trio.lowlevel import Abort, RaiseCancelT, Task


class Future:
    """One task waits for it; it is pending, or done: set or cancelled."""

    def __init__(self) -> None:
        self.is_set = False
        self.is_cancelled = False
        self.task: Task | None = None

    @property
    def done(self) -> bool:
        return self.is_set or self.is_cancelled

    def set(self) -> None:
        self.is_set = True
        assert self.task is not None
        trio.lowlevel.reschedule(self.task)

    async def wait(self) -> None:
        self.task = trio.lowlevel.current_task()

        def abort(_: RaiseCancelT) -> Abort:
            self.is_cancelled = True
            return Abort.SUCCEEDED

        await trio.lowlevel.wait_task_rescheduled(abort)
        await trio.lowlevel.checkpoint_if_cancelled()

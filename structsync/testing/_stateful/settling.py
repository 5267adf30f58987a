"""The wait of ``teardown`` until every rule has ended."""

from __future__ import annotations

import outcome
from trio.lowlevel import Abort, Task, current_task, reschedule, wait_task_rescheduled


class Settling:
    """Parks the task of ``teardown`` until its wait is ended."""

    def __init__(self) -> None:
        self.waits = False
        self._task: Task

    async def wait(self) -> None:
        """Wait, in the task of ``teardown``."""
        self.waits, self._task = True, current_task()
        await wait_task_rescheduled(self._abort)

    def _abort(self, _: object) -> Abort:
        self.waits = False
        return Abort.SUCCEEDED

    def end(self, error: Exception | None = None) -> None:
        """End the wait, with an error if there is one."""
        self.waits = False
        reschedule(self._task, outcome.Value(None) if error is None else outcome.Error(error))

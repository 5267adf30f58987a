"""What takes the place of trio's sockets in a run that has none."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

import trio
from trio.lowlevel import Task

from structsync.testing._errors import NondeterminismError


class NoSockets:
    """Stands in for the manager of trio's input and output."""

    def statistics(self) -> object:
        return None

    def __getattr__(self, name: str) -> NoReturn:
        raise NondeterminismError(
            f"the test waits for input or output ({name}), and when that comes no schedule can "
            "decide; use trio.testing.memory_stream_pair() or a memory channel instead"
        )


class Wakeup:
    """Stands in for the socket that wakes the task behind ``run_sync_soon``."""

    def __init__(self, start_task: Callable[[], bool]) -> None:
        self._start_task = start_task
        self._task: Task | None = None
        self._started = False

    def wakeup_thread_and_signal_safe(self) -> None:
        if self._task is not None:
            task, self._task = self._task, None
            trio.lowlevel.reschedule(task)
        elif not self._started:
            self._started = self._start_task()

    async def wait_woken(self) -> None:
        self._task = trio.lowlevel.current_task()

        def abort(_: object) -> trio.lowlevel.Abort:
            self._task = None
            return trio.lowlevel.Abort.SUCCEEDED

        await trio.lowlevel.wait_task_rescheduled(abort)

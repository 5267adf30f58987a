"""What takes the place of trio's sockets in a run that has none."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import NoReturn

import trio
from trio.lowlevel import Task

from structsync.testing._errors import NondeterminismError

from . import reaching


class NoSockets:
    """Stands in for the manager of trio's input and output."""

    def statistics(self) -> object:
        return None

    def __getattr__(self, name: str) -> NoReturn:
        raise NondeterminismError(reaching.text("input or output", sys._getframe(1)))


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

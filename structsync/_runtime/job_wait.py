"""A task that sleeps until a job has ended, as those see it who look for deadlocks."""

from __future__ import annotations

from typing import Any

import outcome
from trio.lowlevel import Task

from structsync._core.queue.request import GRANTED, PENDING, Status

from .job import Job, has_ended
from .live import Live
from .runs import running_task
from .transitions import of_this_thread
from .waking import wake_task


class JobWait:
    """A wait for the end of a job. It is in no queue, but otherwise like a request that is parked for.

    Args:
      pool: whose job it is.
      job: the job.
      waiter: the task.
      is_caller: whether the job is of no use to anybody but the task, and is cancelled with the wait.
    """

    __slots__ = ("error", "group", "is_caller", "job", "primitive", "waiter")
    primitive: Live[Any]
    job: Job[Any]
    waiter: Task
    is_caller: bool
    group: None
    error: BaseException | None  # to be raised instead of sleeping

    def __init__(self, pool: Live[Any], job: Job[Any], waiter: Task, *, is_caller: bool) -> None:
        self.primitive = pool
        self.job = job
        self.waiter = waiter
        self.is_caller = is_caller
        self.group = None
        self.error = None

    @property
    def parked(self) -> bool:
        """Whether the task sleeps, and was not cancelled."""
        return not has_ended(self.job) and self.job._waiters.get(self.waiter, self) is None

    @property
    def status(self) -> Status:
        """As of a request: ``granted`` once the task goes on, for whatever reason."""
        return PENDING if self.parked else GRANTED

    def end(self, error: BaseException) -> None:
        """Raise an error where the task waits, or is about to."""
        del self.job._waiters[self.waiter]
        if self.waiter is running_task():
            self.error = error
        else:
            transitions = of_this_thread()
            with transitions:
                wake_task(transitions, self.waiter, outcome.Error(error))
        if self.is_caller:
            self.job.cancel()

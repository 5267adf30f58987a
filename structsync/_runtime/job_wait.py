"""A task that sleeps until a job has ended, as the guard against deadlocks sees it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import outcome
import trio
from trio.lowlevel import Task

from structsync._core.queue.request import GRANTED, PENDING, Status

from .job import Job, has_ended
from .live import Live
from .runs import running_task
from .transitions import of_this_thread
from .waking import wake_task


class JobsWait(ABC):
    """A wait for the end of one of some jobs. It is in no queue, but otherwise like a request that is parked for.

    Args:
      pool: whose jobs they are.
      jobs: the jobs.
      waiter: the task.
    """

    __slots__ = ("error", "group", "jobs", "primitive", "waiter")
    primitive: Live[Any]
    jobs: Sequence[Job[Any]]
    waiter: Task
    group: None
    error: BaseException | None  # to be raised instead of sleeping

    def __init__(self, pool: Live[Any], jobs: Sequence[Job[Any]], waiter: Task) -> None:
        self.primitive = pool
        self.jobs = jobs
        self.waiter = waiter
        self.group = None
        self.error = None

    @property
    @abstractmethod
    def parked(self) -> bool:
        """Whether the task sleeps, and was not cancelled."""

    @property
    def status(self) -> Status:
        """As of a request: ``granted`` once the task continues, for whatever reason."""
        return PENDING if self.parked else GRANTED

    @abstractmethod
    def end(self, error: BaseException) -> None:
        """Raise an error where the task waits, or is about to."""


class JobWait(JobsWait):
    """A wait for the end of one job.

    Args:
      is_caller: whether the job is of use to this task alone, and is cancelled with the wait.
    """

    __slots__ = ("is_caller",)
    is_caller: bool

    def __init__(self, pool: Live[Any], job: Job[Any], waiter: Task, *, is_caller: bool) -> None:
        super().__init__(pool, (job,), waiter)
        self.is_caller = is_caller

    @property
    def parked(self) -> bool:
        (job,) = self.jobs
        return not has_ended(job) and job._waiters.get(self.waiter, self) is None

    def end(self, error: BaseException) -> None:
        (job,) = self.jobs
        del job._waiters[self.waiter]
        if self.waiter is running_task():
            self.error = error
        else:
            transitions = of_this_thread()
            with transitions:
                wake_task(transitions, self.waiter, outcome.Error(error))
        if self.is_caller:
            job.cancel()


class ResultsWait(JobsWait):
    """A wait of a loop for the next result of ``map``.

    Args:
      news: set once one of the jobs has ended.
    """

    __slots__ = ("news",)
    news: trio.Event

    def __init__(
        self, pool: Live[Any], jobs: Sequence[Job[Any]], waiter: Task, news: trio.Event
    ) -> None:
        super().__init__(pool, jobs, waiter)
        self.news = news

    @property
    def parked(self) -> bool:
        if self.news.is_set():
            return False
        return self.waiter is running_task() or self.news.statistics().tasks_waiting > 0

    def end(self, error: BaseException) -> None:
        self.error = error
        self.news.set()

"""Which task works on which job, and which would wait for itself."""

from __future__ import annotations

from collections.abc import Iterator
from contextvars import Context
from typing import Any

from trio import CancelScope
from trio.lowlevel import Task

from .job import Job
from .live import Live


class Worker:
    """A task that does one job after another."""

    __slots__ = ("job", "own_context", "parks", "pool", "scope", "task")

    pool: Live[Job[Any]]
    task: Task
    own_context: Context  # in which it waits for a job
    job: Job[Any] | None
    scope: CancelScope  # around the job, and perhaps around later ones
    parks: bool  # whether it has decided to sleep until it has a job, and has not slept yet

    def __init__(self, pool: Live[Job[Any]], task: Task, job: Job[Any]) -> None:
        assert job._scope is not None
        self.pool = pool
        self.task = task
        self.own_context = task.context
        self.job = job
        self.scope = job._scope
        self.parks = False


_by_task: dict[Task, Worker] = {}
_acts_for: dict[Task, Task] = {}


def enlist(worker: Worker) -> None:
    """Note a worker that begins."""
    _by_task[worker.task] = worker


def dismiss(worker: Worker) -> None:
    """Forget a worker that ends."""
    del _by_task[worker.task]


def busy_for(pool: Live[Job[Any]]) -> list[Task]:
    """Return the tasks that work on a job of the pool now."""
    return [one.task for one in _by_task.values() if one.pool is pool and one.job is not None]


def worker_of(job: Job[Any]) -> Task | None:
    """Return the task that works on a job; None if there is none yet."""
    return next((one.task for one in _by_task.values() if one.job is job), None)


def is_busy(task: Task) -> bool:
    """Return whether a task works on a job of some pool."""
    worker = _by_task.get(task)
    return worker is not None and worker.job is not None


def acts_for(task: Task, host: Task | None) -> None:
    """Note that a task does what the thread asks for that the host has started and waits for."""
    if host is None:
        _acts_for.pop(task, None)
    else:
        _acts_for[task] = host


def works_for(task: Task, pool: Live[Job[Any]]) -> bool:
    """Return whether a job of the pool cannot end before the task has gone on.

    So it is for the worker itself, for the tasks in a job's nurseries and those that act for its thread,
    and for whatever a job waits for in another pool, in a loop too.
    """
    return any(worker.pool is pool for worker in _waited_for_by(task))


def _waited_for_by(task: Task) -> Iterator[Worker]:
    seen = {task}
    to_visit = [task]
    while to_visit:
        one = to_visit.pop()
        worker = _by_task.get(one)
        behind = [] if one.parent_nursery is None else [one.parent_nursery.parent_task]
        if one in _acts_for:
            behind.append(_acts_for[one])
        if worker is not None and worker.job is not None:  # an idle one waits for no task
            yield worker
            behind += _tasks_that_wait_for(worker.job)
        new = [other for other in behind if other not in seen]
        seen.update(new)
        to_visit += new


def _tasks_that_wait_for(job: Job[Any]) -> list[Task]:
    loop = job._loop
    return [*job._waiters] if loop is None or loop.waiter is None else [*job._waiters, loop.waiter]

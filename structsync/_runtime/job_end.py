"""Where a task sleeps until a job has ended.

A cancellation ends the wait; or, where the job is of use to this task alone, it cancels the job, and the wait ends with
that.
"""

from __future__ import annotations

from typing import Any

import outcome
from trio.lowlevel import Task, cancel_shielded_checkpoint

from .cancelling import RaiseCancel, StopWaiting
from .job import CANCELLED, Job, MakesJobs, has_ended
from .job_wait import JobWait
from .parking import park_in_no_queue
from .transitions import Transitions
from .waking import wake_task
from .watching import inform_of_park, watchers
from .woken import WOKEN


def about_to_sleep(
    transitions: Transitions, pool: Any, job: Job[Any], task: Task, *, is_caller: bool
) -> JobWait | None:
    """Note, inside a transition, that the task is going to sleep until the job has ended."""
    job._waiters[task] = None
    transitions.parking = task
    if not watchers:
        return None
    wait = JobWait(pool, job, task, is_caller=is_caller)
    inform_of_park(wait)
    return wait


async def sleep_until_end(
    transitions: Transitions, wait: JobWait | None, stop: StopWaiting, task: Task
) -> None:
    """Sleep until the job has ended; a cancellation stops the wait by ``stop``."""
    if wait is not None and wait.error is not None:  # it would never end
        transitions.parking = None
        await cancel_shielded_checkpoint()
        raise wait.error
    await park_in_no_queue(stop, task)


def stop_waiting(job: Job[Any], task: Task, raise_cancel: RaiseCancel) -> bool:
    """End the wait of a task; the job goes on."""
    return job._waiters.pop(task, raise_cancel) is None


def cancel_and_wait(pool: MakesJobs, job: Job[Any], task: Task, raise_cancel: RaiseCancel) -> bool:
    """Cancel the job of a task; return whether it ended by that."""
    if not stop_waiting(job, task, raise_cancel):  # if it ends right here, trio wakes the task
        return False
    pool._cancel(job)
    if has_ended(job):
        return True
    job._waiters[task] = raise_cancel
    return False


def wake_waiters(transitions: Transitions, job: Job[Any]) -> None:
    """Make the tasks runnable that wait until a job has ended, which it has now."""
    for task, raise_cancel in job._waiters.items():
        result: outcome.Outcome[Any] = WOKEN
        if raise_cancel is not None and job._status is CANCELLED:
            result = outcome.capture(raise_cancel)
        wake_task(transitions, task, result)
    job._waiters.clear()

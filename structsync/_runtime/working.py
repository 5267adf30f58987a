"""What a worker of a pool does: one job after another."""

from __future__ import annotations

from typing import Any, Protocol

import trio
from trio.lowlevel import (
    Task,
    checkpoint,
    checkpoint_if_cancelled,
    current_task,
    disable_ki_protection,
    enable_ki_protection,
)

from . import ownership
from .cancelling import RaiseCancel
from .errors import PermitLeakError
from .job import CANCELLED, DONE, FAILED, Job, JobStatus
from .live import Live
from .parking import park_in_no_queue
from .workers import Worker, dismiss, enlist


class HandsOutJobs(Protocol):
    """A queue of jobs, as its workers see it."""

    _idle: dict[Worker, None]

    def _finish(
        self,
        worker: Worker,
        status: JobStatus,
        value: Any,
        error: BaseException | None,
        *,
        fatal: bool,
    ) -> bool: ...
    def _cancel_all(self) -> None: ...


@enable_ki_protection
async def work(pool: Any, first: list[Job[Any]]) -> None:
    """Do the first job and then what the pool gives, each in the context of the task that submitted it.

    The first one is taken out of its list: this frame lives as long as the pool, a job keeps what it returned, and
    trio 0.27 keeps a copy of the arguments.
    """
    worker = Worker(pool, current_task(), first.pop())
    enlist(worker)
    try:
        while await work_in_one_scope(pool, worker):
            pass
    finally:
        dismiss(worker)


async def work_in_one_scope(pool: HandsOutJobs, worker: Worker) -> bool:
    """Do jobs until one is cancelled or raises; return whether to go on.

    One cancel scope after the other, each as long as it has not been cancelled: a scope for each job
    costs a sixth of a short one.

    Raises:
      BaseException: what ends the pool.
    """
    scope, value, error, status = worker.scope, None, None, DONE
    broken: list[Live[Any]] = []
    left_open = False
    try:
        with scope:
            while not broken:
                job = await next_job(pool, worker)
                if job is None:
                    return False
                value = await call(job)
                broken = ownership.left_by(worker.task)
                job._scope = None  # a cancellation comes too late now: it would end the next job
                left_open = not is_innermost(scope, worker.task)
                if left_open or scope.cancel_called:
                    break
                if not broken:
                    if not pool._finish(worker, DONE, value, None, fatal=False):
                        return False
                    job = value = None  # while it waits for the next
        if scope.cancelled_caught:
            status = CANCELLED
    except BaseException as raised:
        if worker.job is None:  # the pool was cancelled while this worker slept
            raise
        error = with_open_scope(worker.job, raised) if left_open else raised
        status = CANCELLED if has_cancelled(raised) else FAILED
    worker.scope = trio.CancelScope()
    try:
        return end_job(pool, worker, status, value, error, broken)
    finally:
        del error  # its traceback holds this frame


async def next_job(pool: HandsOutJobs, worker: Worker) -> Job[Any] | None:
    """Return the worker's job, once it has one and another task has had its turn; None to end."""
    if worker.parks:  # though a finalizer may have submitted a job for it since it decided so
        worker.parks = False
        await wait_for_job(pool, worker)
        if worker.job is not None:
            await checkpoint_if_cancelled()
    else:
        assert worker.job is not None
        # takes effect when the task runs next, which is after the checkpoint
        worker.task.context = worker.job._context
        await checkpoint()
    return worker.job


def end_job(
    pool: HandsOutJobs,
    worker: Worker,
    status: JobStatus,
    value: Any,
    error: BaseException | None,
    broken: list[Live[Any]],
) -> bool:
    """End a job that was cancelled, has raised, or has left something behind."""
    job = worker.job
    assert job is not None
    broken = broken or ownership.left_by(worker.task)
    ends_pool = status is CANCELLED and error is not None
    if broken and not ends_pool:
        status = FAILED
        error = with_leak(error, broken)
    fatal = ends_pool or (error is not None and not job._keeps_error)
    # A Cancelled is of scopes around the workers: a task that waits for the job need not be inside them.
    goes_on = pool._finish(worker, status, value, None if ends_pool else error, fatal=fatal)
    try:
        if fatal and error is not None:
            raise error
        return goes_on
    finally:
        del error  # it holds this frame by its traceback


@disable_ki_protection  # the user's own code may be interrupted
async def call(job: Job[Any]) -> Any:
    """Call the function of a job."""
    return await job._queue._call(job)


async def wait_for_job(pool: HandsOutJobs, worker: Worker) -> None:
    """Sleep until the worker has a job, or is to end; its decision to park is made already."""

    def stop(raise_cancel: RaiseCancel) -> bool:
        return pool._idle.pop(worker, worker) is None

    try:
        await park_in_no_queue(stop, worker.task)
    except BaseException:
        pool._cancel_all()
        raise


def has_cancelled(error: BaseException) -> bool:
    """Return whether a ``Cancelled`` is on its way to a scope further out."""
    if isinstance(error, BaseExceptionGroup):
        return error.split(trio.Cancelled)[0] is not None
    return isinstance(error, trio.Cancelled)


def is_innermost(scope: trio.CancelScope, task: Task) -> bool:
    """Return whether the task is in no scope that it entered after this one.

    Always true of a trio that has its scopes elsewhere: what a job left open then fails a later one.
    """
    return getattr(task, "_cancel_status", None) is getattr(scope, "_cancel_status", None)


def with_open_scope(job: Job[Any], raised: BaseException) -> BaseException:
    """Return the error of a job that has returned inside of what it had entered, which trio noticed."""
    error = RuntimeError(
        f"{job!r} left a cancel scope or a nursery open; use `with` or `async with` inside the job"
    )
    error.__cause__ = raised
    return error


def with_leak(error: BaseException | None, broken: list[Live[Any]]) -> BaseException:
    """Return the error of a job that ended and still owned something."""
    names = ", ".join(map(repr, broken))
    leak = PermitLeakError(
        f"a job ended while it owned {names}, which no task can release now; hold it in an "
        "`async with` block inside the job"
    )
    if error is None:
        return leak
    return BaseExceptionGroup("a job failed, and ended with a leak", [error, leak])

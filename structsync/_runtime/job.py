"""A job: a call that a pool makes, as an object to wait for, to cancel and to ask for its result."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextvars import Context
from enum import StrEnum
from typing import Any, Generic, NoReturn, Protocol, TypeVar, cast, final

import trio
from trio.lowlevel import Task, enable_ki_protection

from structsync._core.queue.request import Request

from .errors import JobCancelled, JobFailed

T_co = TypeVar("T_co", covariant=True)
RaiseCancel = Callable[[], Any]


class JobStatus(StrEnum):
    """The status of a job: ``queued``, perhaps ``running``, then exactly one of the other three."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


# Module constants, because looking a member up in an enum class costs as much as a transition.
QUEUED, RUNNING, DONE, FAILED, CANCELLED = JobStatus


class MakesJobs(Protocol):
    """A pool, as its jobs see it."""

    async def _wait_for(self, job: Job[Any]) -> None: ...
    def _cancel(self, job: Job[Any]) -> None: ...
    def _call(self, job: Job[Any]) -> Awaitable[Any]: ...


class LoopOverJobs(Protocol):
    """A loop over the results of several jobs, as each of them sees it."""

    waiter: Task | None  # the task that waits for the next result

    def ended(self, job: Job[Any]) -> None:
        """Called in the step in which a job ends."""
        ...


@final
class Job(Generic[T_co]):
    """A call that a pool makes; made by ``submit`` and ``submit_nowait`` of a pool.

    It runs whether or not a task waits for it. The error of a submitted job ends the pool, as a child's
    error ends a nursery.
    """

    __slots__ = (
        "__weakref__",
        "_args",
        "_context",
        "_error",
        "_fn",
        "_keeps_error",
        "_loop",
        "_queue",
        "_request",
        "_scope",
        "_status",
        "_value",
        "_waiters",
    )
    _queue: MakesJobs
    _request: Request[Any] | None  # while it is queued
    _fn: Callable[..., Any]
    _args: tuple[Any, ...]
    _context: Context
    _status: JobStatus
    _scope: trio.CancelScope | None  # while it runs
    _value: Any
    _error: BaseException | None
    _keeps_error: bool  # its error goes to the tasks that wait for it, and not to the pool
    _loop: LoopOverJobs | None  # which its result is for
    _waiters: dict[Task, RaiseCancel | None]  # that sleep until it ends; if cancelled, with that

    def __init__(
        self,
        queue: MakesJobs,
        fn: Callable[..., Any],
        args: tuple[Any, ...],
        context: Context,
        *,
        keeps_error: bool = False,
    ) -> None:
        self._queue = queue
        self._fn = fn
        self._args = args
        self._context = context
        self._keeps_error = keeps_error
        self._status = QUEUED
        self._request = self._scope = self._value = self._error = self._loop = None
        self._waiters = {}

    @property
    def status(self) -> JobStatus:
        """``"queued"``, ``"running"``, ``"done"``, ``"failed"`` or ``"cancelled"``."""
        return self._status

    @enable_ki_protection
    async def wait(self) -> T_co:
        """Wait until the job has ended; return what it returned.

        Any number of tasks may wait. Cancellation: the job continues.

        Raises:
          JobFailed: if the job failed; the cause is its error.
          JobCancelled: if it was cancelled, or its pool was.
          RuntimeError: if a job of the same pool would wait here, because it may occupy the worker that
              this job needs.
        """
        await self._queue._wait_for(self)
        return self.result()

    @enable_ki_protection
    def cancel(self) -> None:
        """Cancel the job: it is not run, or is cancelled as by a cancel scope around it.

        Returns at once; a running job may take its time, and may still end in another way. Idempotent; does
        nothing if the job has ended.

        Raises:
          RuntimeError: from another run or another thread.
        """
        self._queue._cancel(self)

    def result(self) -> T_co:
        """Return what the job returned.

        Raises:
          RuntimeError: if it has not ended yet; ``await job.wait()`` first.
          JobFailed, JobCancelled: as :meth:`wait`.
        """
        if self._status is DONE:
            return cast(T_co, self._value)
        if self._status is FAILED:
            raise JobFailed(f"{self!r} failed") from self._error
        if self._status is CANCELLED:
            raise JobCancelled(f"{self!r} was cancelled")
        raise RuntimeError(f"{self!r} has not ended; await its wait() first")

    def __init_subclass__(cls) -> NoReturn:
        raise TypeError("Job is final; only pools make jobs")

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("a Job cannot be copied or pickled: it is one call in one pool")

    def __repr__(self) -> str:
        return f"<Job at {id(self):#x}: {self._name()}, {self._status}>"

    def _name(self) -> str:
        """Return what its function is called."""
        return getattr(self._fn, "__qualname__", None) or repr(self._fn)


def begin(job: Job[Any], scope: trio.CancelScope) -> None:
    """Note that a worker has the job now; from here on it is cancelled by its worker's scope."""
    job._status = RUNNING
    job._request = None
    job._scope = scope


def has_ended(job: Job[Any]) -> bool:
    """Return whether the job is done, has failed or was cancelled."""
    return job._status is not QUEUED and job._status is not RUNNING

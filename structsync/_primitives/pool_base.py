"""What every pool has, whatever its jobs run in."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextvars import copy_context
from functools import partial
from types import TracebackType
from typing import Any, Generic, TypeVar, cast

import trio
from trio.lowlevel import enable_ki_protection

from structsync._core.primitives.job_queue import JobQueueCore
from structsync._core.queue.policy import PolicyName
from structsync._runtime.arguments import check_count, check_name, check_priority
from structsync._runtime.job import CANCELLED, DONE, FAILED, Job
from structsync._runtime.job_queue import JobQueue

from .pool_statistics import PoolStatistics

T = TypeVar("T")
PoolT = TypeVar("PoolT", bound="Pool")


class Pool(JobQueue):
    """Workers of a nursery, and a queue of jobs for them."""

    __slots__ = ("__dict__",)

    @property
    def cancel_scope(self) -> trio.CancelScope:
        """The cancel scope around the body and the workers, as of a nursery."""
        return self._nursery.cancel_scope

    @enable_ki_protection
    def close(self) -> None:
        """Take no more jobs; those that are accepted run.

        Tasks that wait for room, or submit later, get :exc:`trio.ClosedResourceError`. Leaving the
        block does the same once all jobs have ended. Idempotent.

        Raises:
          RuntimeError: from another run or another thread.
        """
        self._close()

    def statistics(self) -> PoolStatistics:
        """Return the state of this pool, for debugging and for progress."""
        core = self._core
        return PoolStatistics(
            tasks_waiting=len(core.queue),
            held_back=len(core.held_back),
            running=core.busy,
            workers=core.workers,
            done=self._ended_as[DONE],
            failed=self._ended_as[FAILED],
            cancelled=self._ended_as[CANCELLED],
        )

    def _describe(self) -> str:
        return f"{self._core.busy}/{self._core.workers} busy"

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if not cls.__module__.startswith("structsync."):
            raise TypeError(
                f"{cls.__mro__[1].__name__} is final; keep a pool inside your class instead"
            )

    def _check(self, fn: Callable[..., Any]) -> None:
        """Raise TypeError unless this may be the function of a job."""
        if not callable(fn):
            raise TypeError(f"a job is a function and its arguments, not {fn!r}")

    def _job(
        self,
        fn: Callable[..., Any],
        args: tuple[Any, ...],
        priority: int,
        *,
        keeps_error: bool = False,
    ) -> Job[Any]:
        check_priority(priority, self._core)
        self._check(fn)
        return Job(self, fn, args, copy_context(), keeps_error=keeps_error)

    def _jobs_for(self, fn: Callable[..., Any], priority: int) -> Callable[[Any], Job[Any]]:
        """Return what submits the job of an item; the arguments are checked now."""
        self._job(fn, (), priority)

        def submit(item: object) -> Job[Any]:
            job = self._job(fn, (item,), priority, keeps_error=True)
            self._submit_unbounded(job, priority)
            return job

        return submit

    async def _result_of(self, job: Job[Any], priority: int) -> Any:
        """Run a job; return its value or raise its error."""
        await self._run(job, priority)
        return outcome_of(job)


def outcome_of(job: Job[T]) -> T:
    """Return the value of a job that keeps its error, or raise the error; once."""
    error, job._error = job._error, None
    if error is None:
        return job.result()
    try:
        raise error
    finally:
        del error  # its traceback holds this frame


class PoolManager(Generic[PoolT]):
    """The block of a pool: trio's nursery manager, and the end of the jobs."""

    def __init__(
        self,
        kind: type[PoolT],
        workers: int,
        max_queued: float | None,
        policy: PolicyName,
        ageing: int | None,
        name: str | None,
    ) -> None:
        check_count(workers, "workers")
        if max_queued is None:
            max_queued = workers
        elif max_queued != math.inf:
            check_count(max_queued, "max_queued", least=0)
        if policy not in ("fifo", "priority"):
            raise ValueError(f"policy must be 'fifo' or 'priority', not {policy!r}")
        self._kind = kind
        self._name = check_name(name)
        self.prepare: Callable[[PoolT], object] = bool
        self._new_core = partial(JobQueueCore, workers, max_queued, policy=policy, ageing=ageing)
        self._new_core()  # refuses what it does not take
        self._pool: PoolT | None = None

    @enable_ki_protection
    async def __aenter__(self) -> PoolT:
        if self._pool is not None:
            raise RuntimeError("this block was entered already; open a pool for each block")
        self._nursery_manager = trio.open_nursery()  # here: a manager may be made outside a run
        nursery = await self._nursery_manager.__aenter__()
        self._pool = pool = self._kind(self._new_core(), nursery, self._name)
        self.prepare(pool)
        return pool

    @enable_ki_protection
    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool | None:
        pool = cast(PoolT, self._pool)
        if error is None:
            pool._leave()
        try:
            return await self._nursery_manager.__aexit__(kind, error, traceback)
        finally:
            pool._cancel_all()  # nothing is left but after an error
            self._pool = None

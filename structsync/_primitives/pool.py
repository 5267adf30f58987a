"""A pool of tasks that are used again and again."""

from __future__ import annotations

from collections.abc import AsyncIterable, Awaitable, Callable, Iterable
from contextlib import AbstractAsyncContextManager
from typing import TypeVar, TypeVarTuple, cast, final

from trio.lowlevel import enable_ki_protection

from structsync._core.queue.policy import PolicyName
from structsync._runtime.job import Job

from .pool_base import Pool, PoolManager
from .pool_results import Results

A = TypeVar("A")
T = TypeVar("T")
Ts = TypeVarTuple("Ts")


def open_pool(
    workers: int,
    *,
    max_queued: float | None = None,
    policy: PolicyName = "fifo",
    ageing: int | None = 100,
    name: str | None = None,
) -> AbstractAsyncContextManager[TaskPool]:
    """Open a nursery with a number of tasks that do one job after another::

        async with structsync.open_pool(10) as pool:
            for url in urls:
                await pool.submit(fetch, url)   # waits while the queue is full

    Leaving the block waits for all jobs, including those that other jobs submit meanwhile. A job that was
    submitted and fails cancels the pool, as a child that fails cancels a nursery.

    Args:
      workers: how many jobs run at a time, an int >= 1. Their tasks are started as they are needed.
      max_queued: how many accepted jobs may wait for a worker: an int >= 0, or ``math.inf``. None: as many
          as there are workers, so that each has its next job at hand, and submitters are slowed down to the
          pace of the workers instead of filling the memory.
      policy: ``"fifo"``, or ``"priority"``: smaller number first, first come first served among
          equals. A running job is not interrupted for a more urgent one.
      ageing: with ``"priority"``, a job is ranked by its arrival + ``ageing`` x priority, so that
          fewer than ``ageing`` later ones per level may overtake; None for strict levels.
      name: its name in ``repr``, errors and reports.

    Raises:
      TypeError, ValueError: if an argument is not as described.

    Source: Moura 2004 (a pool of reusable tasks); ``concurrent.futures.Executor``.
    """
    return PoolManager(TaskPool, workers, max_queued, policy, ageing, name)


@final
class TaskPool(Pool):
    """A pool of tasks for async functions; made by :func:`open_pool`.

    A job runs in a copy of the context (:mod:`contextvars`) of the task that submitted it, and must release
    what it acquires. A job that ends while it owns a :class:`Lock` or an :class:`RWLock` breaks it, and
    fails with :exc:`PermitLeakError`. One that leaves a cancel scope open fails with a :exc:`RuntimeError`.

    Fairness: a job has its position from the call that submits it; beyond ``max_queued`` it is the
    caller that waits, not the job. Cancellation: a cancelled ``submit`` has submitted nothing.
    """

    __slots__ = ()

    @enable_ki_protection
    async def submit(
        self, async_fn: Callable[[*Ts], Awaitable[T]], *args: *Ts, priority: int = 0
    ) -> Job[T]:
        """Submit a job, waiting while the queue is full; if it fails, the pool is cancelled.

        Args:
          priority: with ``policy="priority"``, an int; smaller is sooner.

        Raises:
          TypeError: if ``async_fn`` is not callable or ``priority`` not an int.
          ValueError: if ``priority`` is not 0 and the policy has none.
          RuntimeError: if it would have to wait, and is called by a job of this pool, which would wait for
              itself.
          trio.ClosedResourceError: if the pool is closed or cancelled, before or meanwhile.
        """
        job = self._job(async_fn, args, priority)
        await self._submit(job, priority)
        return cast("Job[T]", job)

    @enable_ki_protection
    def submit_nowait(
        self, async_fn: Callable[[*Ts], Awaitable[T]], *args: *Ts, priority: int = 0
    ) -> Job[T]:
        """Submit a job if that need not wait; if it fails, the pool is cancelled.

        Raises:
          trio.WouldBlock: if the queue is full.
          TypeError, ValueError, trio.ClosedResourceError: as :meth:`submit`.
          RuntimeError: from another run or another thread.
        """
        job = self._job(async_fn, args, priority)
        self._submit_nowait(job, priority)
        return cast("Job[T]", job)

    @enable_ki_protection
    async def run(
        self, async_fn: Callable[[*Ts], Awaitable[T]], *args: *Ts, priority: int = 0
    ) -> T:
        """Run a job and return what it returns; its error is raised here, and only here.

        Cancellation: the job is cancelled, and this returns when it has ended.

        Raises:
          BaseException: what the job raises.
          JobCancelled: if the pool is cancelled meanwhile.
          RuntimeError: if it is called by a job of this pool, which would wait for itself.
          TypeError, ValueError, trio.ClosedResourceError: as :meth:`submit`.
        """
        job = self._job(async_fn, args, priority, keeps_error=True)
        return cast(T, await self._result_of(job, priority))

    def map(
        self,
        async_fn: Callable[[A], Awaitable[T]],
        items: Iterable[A] | AsyncIterable[A],
        *,
        ordered: bool = True,
        ahead: int | None = None,
        priority: int = 0,
    ) -> Results[T]:
        """Run a job for each item; return their results, to be iterated over as they come.

        ``async for result in pool.map(fetch, urls)``. Lazy: an item is taken, and its job submitted,
        only when fewer than ``ahead`` results are ahead of the loop. An error, of a job or of
        ``items``, is raised by the loop where its result would be; the jobs that are left are
        cancelled then, as they are when the loop is left early. What interrupts ``items``, as Ctrl-C
        does, is raised at once; by an async iterable, in its task, which cancels the pool.

        Args:
          items: an iterable, or an async iterable, which is waited for in one task of the pool from the
              first item to the last, so that it may hold a lock in between. An async generator is also
              closed there, once the loop is left or the pool closed.
          ordered: whether the results come in the order of the items, or as they are ready.
          ahead: how many items are taken ahead of the loop, an int >= 1. None: two for each worker.
          priority: as in :meth:`submit`.

        Raises:
          TypeError, ValueError: if an argument is not as described.
        """
        return Results(self, self._jobs_for(async_fn, priority), items, ordered, ahead)

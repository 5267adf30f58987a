"""Pools for sync functions, in threads or in processes."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from typing import Any, TypeVar, TypeVarTuple, cast, final

import trio
from trio.lowlevel import enable_ki_protection

from structsync._core.queue.policy import PolicyName
from structsync._runtime.job import Job

from . import in_process
from .pool_base import Pool, PoolManager
from .pool_results import Results

A = TypeVar("A")
T = TypeVar("T")
Ts = TypeVarTuple("Ts")


def open_thread_pool(
    workers: int,
    *,
    max_queued: float | None = None,
    policy: PolicyName = "fifo",
    ageing: int | None = 100,
    name: str | None = None,
) -> AbstractAsyncContextManager[SyncPool]:
    """Open a pool as :func:`open_pool` does, for sync functions that block, each in a thread of trio's.

    A job sees a copy of the context of the task that submitted it. Cancellation: a running job is not
    interrupted; the function may call :func:`trio.from_thread.check_cancelled`, and the pool waits until it
    returns.

    Args:
      workers: how many jobs run at a time; trio's default limiter for threads does not count them.
      max_queued, policy, ageing, name: as in :func:`open_pool`.

    Raises:
      TypeError, ValueError: as :func:`open_pool`.
    """
    manager = PoolManager(SyncPool, workers, max_queued, policy, ageing, name)
    limiter = trio.CapacityLimiter(workers)
    manager.prepare = lambda pool: pool._run_by(partial(trio.to_thread.run_sync, limiter=limiter))
    return manager


def open_process_pool(
    workers: int,
    *,
    max_queued: float | None = None,
    policy: PolicyName = "fifo",
    ageing: int | None = 100,
    name: str | None = None,
) -> AbstractAsyncContextManager[SyncPool]:
    """Open a pool as :func:`open_pool` does, for sync functions that compute, each in a process.

    The function, its arguments and its result are pickled: use module-level functions, and protect the main
    module by ``if __name__ == "__main__"``. The processes are started when they are needed, reused, and
    ended with the block. A job does not see the context of the task that submits it.

    Cancellation: the process of a cancelled job is killed. An error has its traceback in the process as its
    cause. If the process itself dies, the job fails with ``trio_parallel.BrokenWorkerError``, and another
    process takes its place. A process that does not end within 30 s of the end of the block, such as one in which a
    job has left a thread that is not a daemon, is killed, and the block raises that error.

    Needs ``pip install 'structsync[processes]'``, that is trio-parallel.

    Args:
      workers: how many run at a time.
      max_queued, policy, ageing, name: as in :func:`open_pool`.

    Raises:
      TypeError, ValueError: as :func:`open_pool`.
      ImportError: if trio-parallel is not installed.
    """
    try:
        import trio_parallel
    except ImportError as error:
        raise ImportError(
            "open_process_pool() needs trio-parallel: pip install 'structsync[processes]'"
        ) from error
    manager = PoolManager(SyncPool, workers, max_queued, policy, ageing, name)
    return _Blocks(partial(_with_processes, manager, workers, trio_parallel.open_worker_context))


class _Blocks:
    """A manager that opens a block each time: one that is made of a generator is used up by the first."""

    def __init__(self, open_block: Callable[[], AbstractAsyncContextManager[SyncPool]]) -> None:
        self._open_block = open_block

    @enable_ki_protection
    async def __aenter__(self) -> SyncPool:
        block = self._open_block()
        pool = await block.__aenter__()
        self._block = block  # not before: the pool's own manager may refuse to be entered
        return pool

    @enable_ki_protection
    async def __aexit__(self, *exc_info: Any) -> bool | None:
        return await self._block.__aexit__(*exc_info)


@asynccontextmanager
async def _with_processes(
    manager: PoolManager[SyncPool], workers: int, open_context: Callable[[], Any]
) -> AsyncIterator[SyncPool]:
    limiter = trio.CapacityLimiter(workers)
    async with open_context() as processes:
        run_sync = partial(processes.run_sync, kill_on_cancel=True, limiter=limiter)
        manager.prepare = lambda pool: pool._run_by(partial(in_process.run, run_sync))
        async with manager as pool:
            yield pool


@final
class SyncPool(Pool):
    """A pool for sync functions; made by :func:`open_thread_pool` and :func:`open_process_pool`.

    Everything else is as in a :class:`TaskPool`: which calls wait, where errors go, and what leaving waits
    for.
    """

    __slots__ = ("_run_sync",)
    _run_sync: Callable[..., Awaitable[Any]]

    def _run_by(self, run_sync: Callable[..., Awaitable[Any]]) -> None:
        self._run_sync = run_sync

    def _call(self, job: Job[Any]) -> Awaitable[Any]:
        return self._run_sync(job._fn, *job._args)

    def _check(self, fn: Callable[..., Any]) -> None:
        super()._check(fn)
        if inspect.iscoroutinefunction(fn):
            raise TypeError(
                f"this pool runs sync functions, and {fn!r} is async; open_pool() runs those"
            )

    @enable_ki_protection
    async def submit(self, fn: Callable[[*Ts], T], *args: *Ts, priority: int = 0) -> Job[T]:
        """Submit a job, waiting while the queue is full; if it fails, the pool is cancelled.

        Raises:
          TypeError, ValueError, RuntimeError, trio.ClosedResourceError: as :meth:`TaskPool.submit`;
              TypeError also if ``fn`` is an async function.
        """
        job = self._job(fn, args, priority)
        await self._submit(job, priority)
        return cast("Job[T]", job)

    @enable_ki_protection
    def submit_nowait(self, fn: Callable[[*Ts], T], *args: *Ts, priority: int = 0) -> Job[T]:
        """Submit a job if that need not wait; if it fails, the pool is cancelled.

        Raises:
          trio.WouldBlock: if the queue is full.
          TypeError, ValueError, RuntimeError, trio.ClosedResourceError: as :meth:`submit`.
        """
        job = self._job(fn, args, priority)
        self._submit_nowait(job, priority)
        return cast("Job[T]", job)

    @enable_ki_protection
    async def run(self, fn: Callable[[*Ts], T], *args: *Ts, priority: int = 0) -> T:
        """Run a job and return what it returns; its error is raised here, and only here.

        Raises:
          BaseException: what the job raises.
          JobCancelled, TypeError, ValueError, RuntimeError, trio.ClosedResourceError: as
              :meth:`TaskPool.run`.
        """
        job = self._job(fn, args, priority, keeps_error=True)
        return cast(T, await self._result_of(job, priority))

    def map(
        self,
        fn: Callable[[A], T],
        items: Iterable[A] | AsyncIterable[A],
        *,
        ordered: bool = True,
        ahead: int | None = None,
        priority: int = 0,
    ) -> Results[T]:
        """Run a job for each item; return their results, to be iterated over; see :meth:`TaskPool.map`.

        Raises:
          TypeError, ValueError: if an argument is not as described.
        """
        return Results(self, self._jobs_for(fn, priority), items, ordered, ahead)

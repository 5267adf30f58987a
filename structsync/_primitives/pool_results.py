"""The results of a pool's ``map``: taken ahead of the loop over them, and no further."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import OrderedDict, deque
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar, cast, final

import trio
from trio.lowlevel import checkpoint, current_task, disable_ki_protection, enable_ki_protection

from structsync._runtime.arguments import check_count
from structsync._runtime.causes import error_of
from structsync._runtime.errors import JobCancelled
from structsync._runtime.job import Job, has_ended
from structsync._runtime.job_wait import ResultsWait
from structsync._runtime.runs import transitions_of
from structsync._runtime.watching import inform_of_park, watchers

from .pool_base import Pool, outcome_of

if TYPE_CHECKING:
    from typing import Self

T = TypeVar("T")
Submit = Callable[[Any], Job[Any]]


@final
class Results(Generic[T]):
    """The results of the jobs of ``map``, one after the other; made by ``map`` of a pool.

    An async iterator for one task. Leaving the loop early cancels the remaining jobs, at once if nothing
    else refers to this object; ``await results.aclose()``, or :func:`contextlib.aclosing`, does so in any
    case.
    """

    __slots__ = ("__weakref__", "_stream")

    def __init__(
        self,
        pool: Pool,
        submit: Submit,
        items: Iterable[Any] | AsyncIterable[Any],
        ordered: bool,
        ahead: int | None,
    ) -> None:
        if ahead is None:
            ahead = 2 * pool._core.workers
        check_count(ahead, "ahead")
        if isinstance(items, AsyncIterable):
            self._stream: _Stream = _AsyncStream(pool, submit, ordered, ahead, aiter(items))
        else:
            self._stream = _SyncStream(pool, submit, ordered, ahead, iter(items))

    def __aiter__(self) -> Self:
        return self

    @enable_ki_protection
    async def __anext__(self) -> T:
        """Return the next result.

        Cancellation: nothing is lost, the next call returns it.

        Raises:
          BaseException: what a job or the source of the items raises; instead of a ``StopAsyncIteration``
              of one of these, a RuntimeError.
          JobCancelled: if the pool is cancelled.
          StopAsyncIteration: if there is none left, or this was closed.
          trio.BusyResourceError: if another task waits for the next result.
          RuntimeError: if a job of this pool calls: it would wait for itself.
        """
        return cast(T, await self._stream.next())

    @enable_ki_protection
    async def aclose(self) -> None:
        """Cancel the remaining jobs, and take no more items. Idempotent."""
        self._stream.close()
        await checkpoint()

    @enable_ki_protection
    def __del__(self) -> None:
        # In another thread, or after the run: then the jobs have ended, or go on.
        with suppress(RuntimeError, AttributeError):
            self._stream.close()

    def __init_subclass__(cls) -> NoReturn:
        raise TypeError("Results is final; a pool's map() makes them, and no other kind of them")

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("Results cannot be copied or pickled: their jobs belong to one pool")


def not_an_end(who: str) -> RuntimeError:
    """Return what to raise for a ``StopAsyncIteration``, which would end the loop silently (PEP 479)."""
    return RuntimeError(f"{who} raised StopAsyncIteration")


class _Stream(ABC):
    """Jobs whose results are to come; knows nothing of the object that iterates."""

    def __init__(self, pool: Pool, submit: Submit, ordered: bool, ahead: int) -> None:
        self.pool = pool
        self.submit = submit
        self.ahead = ahead
        self.ordered = ordered
        # All that are to come, in the order of the items. Not a dict: see JobQueueCore.held_back.
        self.pending: OrderedDict[Job[Any], None] = OrderedDict()
        self.ready: deque[Job[Any]] = deque()  # if not ordered: those of them that have ended
        self.exhausted = self.busy = self.pulling = False
        self.error: BaseException | None = None  # of the source: raised after the results
        self.news = trio.Event()

    @abstractmethod
    def refill(self) -> None:
        """Take items while there is room for them; what interrupts that is raised at once."""

    def add(self, item: object) -> None:
        job = self.submit(item)
        self.pending[job] = None
        job._on_end = self.ended

    def ended(self, job: Job[Any]) -> None:
        """Called in the step in which a job ends."""
        if not self.ordered:
            self.ready.append(job)
        self.news.set()

    def next_ready(self) -> Job[Any] | None:
        """Return the job whose result is next, if it has ended."""
        if self.ordered:
            job = next(iter(self.pending), None)
            return job if job is not None and has_ended(job) else None
        return self.ready[0] if self.ready else None

    async def next(self) -> Any:
        if self.busy:
            raise trio.BusyResourceError("another task already waits for the next result")
        self.pool._refuse_own_job(current_task(), "a loop over map()")
        self.busy = True
        try:
            job = await self.wait_for_next()
        finally:
            self.busy = False
        if not self.ordered:
            self.ready.popleft()
        del self.pending[job]
        try:
            return outcome_of(job)
        except StopAsyncIteration as error:
            self.close()
            raise not_an_end(repr(job)) from error
        except BaseException:
            self.close()
            raise
        finally:
            del job

    async def wait_for_next(self) -> Job[Any]:
        """Return the next job once it has ended; a checkpoint in any case."""
        self.refill()
        if self.next_ready() is not None:
            await checkpoint()
        while (job := self.next_ready()) is None:
            if self.exhausted and not self.pending:
                await checkpoint()
                error, self.error = self.error, None
                if isinstance(error, StopAsyncIteration):
                    raise not_an_end("the items of map()") from error
                raise error or StopAsyncIteration
            self.news = trio.Event()
            wait = self.about_to_sleep() if watchers and self.pending else None
            try:
                await self.news.wait()
            finally:
                self.news.set()  # a late one sees that no task sleeps here
            if wait is not None and wait.error is not None:  # none of them would ever end
                self.close()
                raise wait.error
            self.refill()
        return job

    def about_to_sleep(self) -> ResultsWait | None:
        """Tell those who look for deadlocks which jobs the loop waits for, if it waits for nothing else."""
        jobs: list[Job[Any]] = [*self.pending]
        if self.ordered:
            jobs = jobs[:1]
        elif self.pulling:
            return None
        wait = ResultsWait(self.pool, jobs, current_task(), self.news)
        with transitions_of(self.pool):
            inform_of_park(wait)
        return wait

    def close(self) -> None:
        self.exhausted = True
        pending, self.pending = self.pending, OrderedDict()
        self.ready.clear()
        for job in pending:
            job._on_end = None
            if not has_ended(job):
                job.cancel()
        self.news.set()  # another task may wait for the next result


class _SyncStream(_Stream):
    def __init__(
        self, pool: Pool, submit: Submit, ordered: bool, ahead: int, items: Iterator[Any]
    ) -> None:
        super().__init__(pool, submit, ordered, ahead)
        self.items = items

    def refill(self) -> None:
        while not self.exhausted and len(self.pending) < self.ahead:
            try:
                self.add(self.take())
            except StopIteration:
                self.exhausted = True
            except Exception as error:  # noqa: BLE001 - raised after the results before it
                self.exhausted = True
                self.error = error
            except BaseException:
                self.close()
                raise

    @disable_ki_protection  # the user's own code may be interrupted
    def take(self) -> object:
        return next(self.items)


class _AsyncStream(_Stream):
    """Items that are waited for in a task of the pool, so that results need not wait for them."""

    def __init__(
        self, pool: Pool, submit: Submit, ordered: bool, ahead: int, items: AsyncIterator[Any]
    ) -> None:
        super().__init__(pool, submit, ordered, ahead)
        self.items = items
        self.scope = trio.CancelScope()

    def refill(self) -> None:
        if self.pulling or self.exhausted or len(self.pending) >= self.ahead:
            return
        if self.pool._core.cause is not None:
            self.exhausted = True
            self.error = error_of(self.pool._core.cause)
            return
        self.pulling = True
        self.pool._nursery.start_soon(self.pull, name="the items of map()")

    async def pull(self) -> None:
        """Take items until there is enough of them, or no more."""
        self.scope = trio.CancelScope()
        try:
            with self.scope:
                while not self.exhausted and len(self.pending) < self.ahead:
                    self.add(await anext(self.items))
                    if watchers and len(self.pending) == 1:
                        self.news.set()  # the loop waits for this job now, and says so
        except StopAsyncIteration:
            self.exhausted = True
        except Exception as error:  # noqa: BLE001 - raised after the results before it
            self.exhausted = True
            self.error = error
        except BaseException:  # the pool is cancelled, or this cancels it
            self.exhausted = True
            self.error = JobCancelled("the pool was cancelled while map() waited for an item")
            raise
        finally:
            self.pulling = False
            self.news.set()

    def close(self) -> None:
        super().close()
        self.scope.cancel()
